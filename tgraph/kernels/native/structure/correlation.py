"""The correlation of values at both ends of the arcs, by the kernel in `correlation.cpp`."""

from __future__ import annotations

from torch import Tensor

from tgraph.kernels.native.base.support import compiled, implements, refuses_first
from tgraph.kernels.operators.structure import correlation as declared


@implements(declared.correlate_ends, refuses_first)
def correlate_ends(
    offset: Tensor,
    neighbors: Tensor,
    leaving: Tensor,
    reaching: Tensor,
    first: Tensor,
    second: Tensor,
    is_symmetric: bool,
) -> tuple[float, float, float]:
    tensors = (each for each in (offset, neighbors, leaving, reaching, first, second))
    return compiled().correlate_ends(*tensors, is_symmetric)
