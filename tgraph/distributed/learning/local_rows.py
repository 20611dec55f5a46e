"""The rows of a rank as one bipartite Csr, for operations that need all arcs of a vertex at once."""

from __future__ import annotations

import torch

from tgraph.core.building.sorting import expand_rows
from tgraph.core.csr import Csr
from tgraph.core.graph import Graph
from tgraph.core.rows import offset_of
from tgraph.distributed.parts.part import Part


def local_rows(part: Part) -> Csr:
    """The k rows of own vertices, whose columns are these and then the h mirrors, with the weights of the arcs. The
    arcs of a row are in the order of the whole graph, as in one process, so that results that depend on the order
    agree."""
    held, own = part.ownership, part.num_own
    pieces = [(part.inside, part.inside.neighbors), (part.outside, part.outside.neighbors)]
    row = torch.cat([expand_rows(graph.offset[: own + 1]) for graph, _ in pieces])
    column = torch.cat([neighbors for _, neighbors in pieces])
    vertex = torch.cat((part.inside.neighbors + held.first, part.mirrors[part.outside.neighbors.long() - own]))
    order = (row * held.num_rows + vertex).argsort(stable=True)
    weights = None
    if part.inside.weights is not None and part.outside.weights is not None:
        weights = torch.cat((part.inside.weights, part.outside.weights))[order]
    return Csr.unchecked(offset_of(part.degree), column[order], None, part.num_local, weights)


def local_graph(part: Part) -> Graph:
    """A graph of k + h vertices: own vertices receive along the arcs of this rank, and mirrors only send."""
    rows = local_rows(part)
    beyond = rows.offset[-1:].expand(len(part.mirrors))
    offset = torch.cat((rows.offset, beyond))
    return Graph.of_storage(Csr.unchecked(offset, rows.neighbors, None, part.num_local, rows.weights))
