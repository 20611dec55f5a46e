"""How a CUDA kernel is named."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

SOURCES = Path(__file__).parent / "src"


@dataclass(frozen=True)
class Kernel:
    """A function of a source file, with its template arguments: Kernel("aggregation/pull.cu", "pull_rows", ("float",)).

    source : the file, relative to `SOURCES`, or an absolute path.
    name : the function, in the namespace tgraph.
    types : the arguments of its template, as C++ writes them.
    """

    source: str
    name: str
    types: tuple[str, ...] = ()

    @property
    def expression(self) -> str:
        """As C++ names it."""
        return f"tgraph::{self.name}" + (f"<{', '.join(self.types)}>" if self.types else "")
