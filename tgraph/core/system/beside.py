"""A clone of the repository as it stands: `algorithms/` lies beside the package, whose part it is once installed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

CLONE = Path(__file__).parents[3]


def is_clone() -> bool:
    """True where this package was imported from a clone of the repository."""
    return (CLONE / "algorithms" / "__init__.py").is_file()


class _Algorithms:
    """Where `tgraph.algorithms` is in a clone; asked after all other finders, so that installed ones come first."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """The package `tgraph.algorithms`, None for all others."""
        if name != "tgraph.algorithms" or not is_clone():
            return None
        folder = CLONE / "algorithms"
        return spec_from_file_location(name, folder / "__init__.py", submodule_search_locations=[str(folder)])


def find_algorithms() -> None:
    """Make `tgraph.algorithms` importable where this package is imported from a clone that was not installed."""
    sys.meta_path.append(_Algorithms)


def installed_kernels() -> Path | None:
    """The folder of a tgraph with compiled kernels that would be imported if it were not for this clone."""
    others = [entry for entry in sys.path if Path(entry).resolve() != CLONE]
    spec = PathFinder.find_spec("tgraph", others)
    folder = None if spec is None or spec.origin is None else Path(spec.origin).parent
    return folder if folder is not None and any(folder.glob("_native*")) else None


def how_to_get_kernels() -> str:
    """The remedy where this package has no compiled kernels."""
    compiler = "a C++20 compiler (g++ or clang++) and Python's headers"
    if not is_clone():
        return f"install {compiler}, then reinstall tgraph"
    if (folder := installed_kernels()) is None:
        return f"install {compiler}, then reinstall tgraph, imported from the clone {CLONE}: pip install {CLONE}"
    return (
        f"it was imported from the clone {CLONE} and has not those installed in {folder}; start Python from another "
        f"folder, or build them for the clone: pip install --editable {CLONE}"
    )
