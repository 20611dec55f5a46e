"""A clone of the repository as it stands: `algorithms/` lies beside the package, whose part it is once installed."""

from __future__ import annotations

import importlib.util
import sys
from importlib.machinery import PathFinder
from pathlib import Path

CLONE = Path(__file__).parents[3]


def is_clone() -> bool:
    """True where this package was imported from a clone of the repository."""
    return (CLONE / "algorithms" / "__init__.py").is_file()


def find_algorithms() -> None:
    """Make `tgraph.algorithms` importable where this package is imported from a clone that was not installed."""
    name, folder = "tgraph.algorithms", CLONE / "algorithms"
    if importlib.util.find_spec(name) is not None or not is_clone():
        return
    path, within = folder / "__init__.py", [str(folder)]
    spec = importlib.util.spec_from_file_location(name, path, submodule_search_locations=within)
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)


def installed_kernels() -> Path | None:
    """The folder of a tgraph with compiled kernels that would be imported if it were not for this clone."""
    others = [entry for entry in sys.path if Path(entry).resolve() != CLONE]
    spec = PathFinder.find_spec("tgraph", others)
    folder = None if spec is None or spec.origin is None else Path(spec.origin).parent
    return folder if folder is not None and any(folder.glob("_native*")) else None


def how_to_get_kernels() -> str:
    """What to do where this package has no compiled kernels."""
    compiler = "a C++20 compiler (g++ or clang++) and Python's headers"
    if not is_clone():
        return f"install {compiler}, then reinstall tgraph"
    if (folder := installed_kernels()) is None:
        return f"install {compiler}, then reinstall tgraph, imported from the clone {CLONE}: pip install {CLONE}"
    return (
        f"it was imported from the clone {CLONE} and has not those installed in {folder}; start Python from another "
        f"folder, or build them for the clone: pip install --editable {CLONE}"
    )
