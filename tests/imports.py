"""The modules of this repository, and what the source of each imports."""

import ast
import functools
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = {"tgraph": ROOT / "tgraph", "tgraph.algorithms": ROOT / "algorithms"}


def modules(tops: dict[str, Path]) -> dict[str, Path]:
    """Every module of packages by the name that it has once installed."""
    found = {}
    for top, folder in tops.items():
        for path in sorted(folder.rglob("*.py")):
            parts = path.relative_to(folder).with_suffix("").parts
            found[".".join((top, *(part for part in parts if part != "__init__")))] = path
    return found


MODULES = modules(PACKAGE)


@functools.cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def imports(name: str) -> tuple[str, ...]:
    """The modules of tgraph that a module imports, wherever it does so."""
    return tuple(_imports(name))


def _imports(name: str) -> Iterator[str]:
    for node in ast.walk(tree(MODULES[name])):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if is_ours(alias.name))
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{name}: write relative imports out in full"
            if is_ours(node.module or ""):
                for alias in node.names:
                    inner = f"{node.module}.{alias.name}"
                    yield inner if inner in MODULES or inner == "tgraph._native" else str(node.module)


def is_ours(name: str) -> bool:
    return name.partition(".")[0] == "tgraph"
