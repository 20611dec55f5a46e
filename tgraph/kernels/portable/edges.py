"""Operations on edges in torch operators: numbers of edges from those at their ends, sums of them, their softmax."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from tgraph.kernels.autograd.segments import reduce_segments, segment_of
from tgraph.kernels.reductions import REDUCTIONS

OPERATIONS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "div": torch.div,
}
MOST_AT_ONCE = 1 << 22  # numbers of edges that a product summed over columns holds at a time


class Sides(NamedTuple):
    """The arcs by one of their ends, and by the other where a gradient is recorded.

    offset, neighbors : int64 [rows + 1] and [E], a CSR structure. number : int64 [E], the edge behind each arc, or
        None where that is the arc's own.
    back_offset, back_neighbors, back_number : the same by the other end.
    """

    offset: Tensor
    neighbors: Tensor
    number: Tensor | None = None
    back_offset: Tensor | None = None
    back_neighbors: Tensor | None = None
    back_number: Tensor | None = None

    def opposite(self) -> Sides:
        """The arcs by their other end."""
        assert self.back_offset is not None and self.back_neighbors is not None
        return Sides(self.back_offset, self.back_neighbors, self.back_number, *self[:3])

    def row_of_edge(self) -> Tensor:
        """The row that each edge belongs to, int64 [E]."""
        return self.of_edges(segment_of(self.offset, self.neighbors.shape[0]))

    def of_edges(self, of_arcs: Tensor) -> Tensor:
        """Data [E, ...] of the arcs in the order of the edges."""
        return of_arcs if self.number is None else torch.empty_like(of_arcs).index_copy(0, self.number, of_arcs)

    def of_arcs(self, of_edges: Tensor) -> Tensor:
        """The inverse."""
        return of_edges if self.number is None else of_edges.index_select(0, self.number)


def apply_at_ends(source: Tensor, target: Tensor, sides: Sides, operation: str, heads: int) -> Tensor:
    """The operation on source[neighbour] and target[row] for each edge.

    source : [n, columns]. target : [rows, columns]. operation : "add", "sub", "mul" or "div", by columns, or "dot",
    summed over the columns of each of `heads` heads. Returns [E, columns], of "dot" [E, heads].
    """
    row = segment_of(sides.offset, len(sides.neighbors))
    if operation != "dot":
        taken = source.index_select(0, sides.neighbors), target.index_select(0, row)
        return sides.of_edges(OPERATIONS[operation](*taken))
    wide, span = _wide(source.dtype), source.shape[1] // max(heads, 1)
    step = max(MOST_AT_ONCE // max(source.shape[1], 1), 1)
    found = []
    for begin in range(0, max(len(row), 1), step):
        arcs = slice(begin, begin + step)
        product = source.index_select(0, sides.neighbors[arcs]).to(wide) * target.index_select(0, row[arcs]).to(wide)
        found.append(product.reshape(len(product), heads, span).sum(2))
    result = torch.cat(found) if len(found) > 1 else found[0]
    return sides.of_edges(result if result.dtype != wide else result.to(source.dtype))


def sum_edges(weight: Tensor, data: Tensor | None, sides: Sides) -> Tensor:
    """For each row the sum over its edges of weight * data[neighbour], or of the weights where data is None.

    weight : [E, heads]. data : [n, columns], each weight for columns / heads adjacent ones. Returns [rows, columns].
    """
    messages = sides.of_arcs(weight).to(_wide(weight.dtype))
    if data is not None:
        heads = weight.shape[1]
        span = data.shape[1] // max(heads, 1)
        sent = data.index_select(0, sides.neighbors).to(messages.dtype)
        messages = (sent.reshape(len(sent), heads, span) * messages[:, :, None]).flatten(1)
    return reduce_segments(messages, sides.offset, REDUCTIONS["sum"]).to(weight.dtype)


def edge_softmax(score: Tensor, sides: Sides) -> Tensor:
    """The softmax over the edges of each row, [E, heads]."""
    stored, offset = sides.of_arcs(score).to(_wide(score.dtype)), sides.offset
    row = segment_of(offset, len(stored))
    best = reduce_segments(stored, offset, REDUCTIONS["max"], lambda: row)
    power = (stored - torch.where(best == -torch.inf, 0, best).index_select(0, row)).exp()
    total = reduce_segments(power, offset, REDUCTIONS["sum"], lambda: row)
    return sides.of_edges((power / total.index_select(0, row)).to(score.dtype))


def edge_softmax_gradient(grad: Tensor, alpha: Tensor, sides: Sides) -> Tensor:
    """alpha * (grad - the sum of alpha * grad over the edges of the row), [E, heads]."""
    dtype, wide = alpha.dtype, _wide(alpha.dtype)
    grad, alpha = sides.of_arcs(grad).to(wide), sides.of_arcs(alpha).to(wide)
    row = segment_of(sides.offset, len(alpha))
    total = reduce_segments(alpha * grad, sides.offset, REDUCTIONS["sum"], lambda: row)
    return sides.of_edges((alpha * (grad - total.index_select(0, row))).to(dtype))


def _wide(dtype: torch.dtype) -> torch.dtype:
    return torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype
