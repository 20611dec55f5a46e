"""The part of a rank of another graph of the same edges: undirected, with parallel arcs merged, without self-loops.

The row of a vertex follows from its own row and, for an undirected graph of a directed one, from its row in the
transpose, both of which its owner has: no arc is sent.
"""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.building import inputs
from tgraph.core.building.inputs import Multi, SelfLoops
from tgraph.core.building.sorting import expand_rows
from tgraph.distributed.learning.local_rows import local_rows
from tgraph.distributed.parts.part import Part
from tgraph.distributed.parts.splitting import Rows, part_of


def simplified(rows: Part, back: Part | None = None, *, directed: bool, multi: Multi, self_loops: SelfLoops) -> Part:
    """The part of the arcs of `rows`, and of the reverses of those of `back`; to be called by all ranks, whose rows are
    not cut. multi, self_loops : as of `tgraph.Graph.from_edges`. The offsets of all vertices are made for a moment."""
    held = rows.ownership
    row, neighbor, weights = _arcs(rows)
    if back is not None:  # the order in which one process reads the arcs: by the smaller end of an edge, forth and back
        others, onward = _arcs(back), row <= neighbor
        between = others[0] != others[1]
        row, neighbor = (
            torch.cat((mine[onward], reverse[between], mine[~onward]))
            for mine, reverse in ((row, others[0]), (neighbor, others[1]))
        )
        if weights is not None and others[2] is not None:
            weights = torch.cat((weights[onward], others[2][between], weights[~onward]))
    offset, neighbors, weights = inputs.edges_to_csr(row, neighbor, weights, held.num_rows, True, multi, self_loops)
    made = Rows(held.first, offset[held.first : held.end + 1].clone(), neighbors, weights)
    dtype = None if made.weights is None else made.weights.dtype
    return part_of(held, lambda: [made], made.neighbors.dtype, dtype, directed, None, rows.mirrors.device)


def _arcs(part: Part) -> tuple[Tensor, Tensor, Tensor | None]:
    """(row, neighbor, weights) of the arcs of own rows, by their numbers in the whole graph, in their order there."""
    csr, held = local_rows(part), part.ownership
    own = torch.arange(held.first, held.end, device=part.mirrors.device)
    neighbor = torch.cat((own, part.mirrors)).index_select(0, csr.neighbors)
    weights = None if csr.weights is None else csr.weights.cpu()
    return (expand_rows(csr.offset) + held.first).cpu(), neighbor.cpu(), weights
