"""A clone of the repository as it stands: `algorithms/` lies beside the package, and becomes part of it when installed."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path


def find_algorithms() -> None:
    """Make `tgraph.algorithms` importable where this package is imported from a clone that was not installed."""
    name, folder = "tgraph.algorithms", Path(__file__).parents[1] / "algorithms"
    if importlib.util.find_spec(name) is not None or not (folder / "__init__.py").is_file():
        return
    spec = importlib.util.spec_from_file_location(
        name, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
