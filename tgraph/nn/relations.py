"""The edges of each relation of an adjacency whose edges have types."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.nn.adjacency import Adjacency
from tgraph.nn.normalisation import kept_while_equal


class Relations:
    """An adjacency of the edges of each of `count` relations, in `parts`. Edges of other types are left out."""

    def __init__(self, adjacency: Adjacency, edge_type: Tensor, count: int):
        source, target = adjacency.source, adjacency.target
        sizes = adjacency.num_sources, adjacency.num_targets
        self.parts = []
        for relation in range(count):
            number = (edge_type == relation).nonzero().flatten()
            ends = source.index_select(0, number), target.index_select(0, number)
            self.parts.append(Adjacency(*ends, *sizes))

    @property
    def nbytes(self) -> int:
        """Bytes of the edges and of everything cached with them."""
        return sum(part.source.nbytes + part.target.nbytes + part.nbytes for part in self.parts)


def relations_of(adjacency: Adjacency, edge_type: Tensor, count: int) -> Relations:
    """The edges of each of `count` relations, by edge_type [E]; on the CPU cached with the adjacency and a copy of the
    types, for as long as they are equal to it."""
    if torch.compiler.is_compiling() or edge_type.device.type != "cpu":
        return Relations(adjacency, edge_type, count)
    return kept_while_equal(adjacency, ("relations", count), edge_type, lambda: Relations(adjacency, edge_type, count))
