"""Pushes along rows that are read block by block."""

from __future__ import annotations

from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.dispatch import operator
from tgraph.formats.uncompressed import send_arcs
from tgraph.kernels.reductions import Reduction


@operator
def send_rows(
    offset: Tensor,
    neighbors: Tensor,
    weights: Tensor | None,
    data: Tensor,
    reduction: Reduction,
    edge: str,
    result: Tensor,
) -> None:
    """Reduce the messages of ascending rows of a CSR to their neighbours into `result` [n, F], in arc order.

    offset, neighbors : [r + 1] and [e]. weights : [e], of the dtype of the data [r, F]. `result` may be wider.
    """
    if result.dtype.itemsize > data.dtype.itemsize:
        data, weights = data.to(result.dtype), None if weights is None else weights.to(result.dtype)
    rows = sorting.expand_rows(offset)
    send_arcs(neighbors, rows, weights, data, reduction, edge, result)
