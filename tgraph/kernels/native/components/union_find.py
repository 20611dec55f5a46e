"""`join` and `outside` compiled: lock-free union-find on the stored rows, which are not gathered."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.frontier import Frontier
from tgraph.core.subgraph import Subgraph
from tgraph.kernels.call import Call
from tgraph.kernels.native.base.support import compiled, implements, refuses_call
from tgraph.kernels.operators.components import union_find as declared

# `outside` counts by parts of so many vertices; those without any are not looked at again.
VERTICES_PER_PART = 1 << 14


def refuses(call: Call) -> str | None:
    """Why labels are not supported, None if they are."""
    if not call.data.is_contiguous():
        return "it writes labels that lie side by side, these are a strided view"
    return None


@implements(declared.join, refuses_call(refuses))
def join(sub: Subgraph, label: Tensor) -> bool:
    """See `tgraph.primitives.union_find.join`. False, with nothing done, where the labels are no forest."""
    arcs, kernels = sub.selection, compiled()
    rows = None if arcs.rows is None else arcs.rows.to(torch.int64)
    width = len(arcs.stored_neighbors) if arcs.width is None else arcs.width
    neighbors = arcs.stored_neighbors
    if neighbors.dtype == torch.int64 and label.dtype == torch.int32:  # wider than the vertices need
        neighbors = neighbors.to(torch.int32)
    return kernels.join(arcs.stored_offset, neighbors, rows, width, not sub.graph.directed, label)


@implements(declared.outside, refuses_call(refuses))
def outside(sub: Subgraph, label: Tensor, root: int, width: int) -> Frontier:
    offset, kernels = sub.graph.row_offset(), compiled()
    starts = torch.empty(max(1, len(label) // VERTICES_PER_PART) + 1, dtype=torch.int64, device="cpu")
    num_arcs = kernels.count_outside(offset, label, root, width, starts)
    vertices = torch.empty(int(starts[-1]), dtype=torch.int64, device="cpu")
    kernels.list_outside(offset, label, root, width, starts, vertices)
    return Frontier(sub.graph, ids=vertices, count=(len(vertices), num_arcs))
