"""How CUDA kernels are named and launched."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from torch import Tensor

SOURCES = Path(__file__).parent

# int is passed as int64_t, float as double, a tensor as a pointer to its data, None as a null pointer.
Argument = Tensor | int | float | None


@dataclass(frozen=True)
class Kernel:
    """A function of a source file, with the arguments of its template: Kernel("pull.cu", "pull_rows", ("float",))."""

    source: str
    name: str
    types: tuple[str, ...] = ()

    @property
    def expression(self) -> str:
        """As C++ names it."""
        return f"tgraph::{self.name}" + (f"<{', '.join(self.types)}>" if self.types else "")


def launch(kernel: Kernel, grid: int | tuple[int, int], block: int | tuple[int, int], *arguments: Argument) -> None:
    """Run a kernel on the device of its tensors, on torch's current stream."""
    raise NotImplementedError
