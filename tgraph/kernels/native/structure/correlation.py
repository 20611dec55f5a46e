"""The correlation of values at both ends of the arcs, by the kernel in `correlation.cpp`."""

from __future__ import annotations

from typing import Any, cast

from torch import Tensor

from tgraph.core.dispatch import Implementation
from tgraph.core.system import native
from tgraph.kernels.native.base.support import refuses_data


def correlate_ends(
    offset: Tensor,
    neighbors: Tensor,
    leaving: Tensor,
    reaching: Tensor,
    first: Tensor,
    second: Tensor,
    is_symmetric: bool,
) -> tuple[float, float, float]:
    """As the portable one, `tgraph.kernels.operators.structure.correlation.correlate_ends`."""
    tensors = (each.contiguous() for each in (offset, neighbors, leaving, reaching, first, second))
    return cast(Any, native.load()).correlate_ends(*tensors, is_symmetric)


OPERATORS = {"correlate_ends": Implementation(correlate_ends, lambda offset, *others: refuses_data(offset))}
