"""The adjacency of each relation of typed edges, and the joined adjacency of several relations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from tgraph.errors import ArgumentError
from tgraph.nn import tensor_cache
from tgraph.nn.adjacency import Adjacency
from tgraph.nn.edge_index import adjacency_of
from tgraph.nn.normalisation import cached_while_equal
from tgraph.nn.traced import SunkAdjacency

EdgeType = tuple[str, str, str]


class Relations:
    """An adjacency of the edges of each of `count` relations, in `parts`.

    Raises ArgumentError for an edge of another type; RuntimeError in compiled code.
    """

    def __init__(self, adjacency: Adjacency, edge_type: Tensor, count: int):
        source, target = adjacency.source, adjacency.target
        sizes = adjacency.num_sources, adjacency.num_targets
        self.parts: list[Any] = []
        if torch.compiler.is_compiling():  # sizes of relations are unknown: edges of others lead to a sink
            torch._assert_async(((edge_type >= 0) & (edge_type < count)).all(), _expected(count))
            others = [edge_type != relation for relation in range(count)]
            sunk = [(torch.where(other, adjacency.num_targets, target), *sizes, other) for other in others]
            self.parts += [SunkAdjacency(source, *each) for each in sunk]
            return
        for relation in range(count):
            number = (edge_type == relation).nonzero().flatten()
            ends = source.index_select(0, number), target.index_select(0, number)
            self.parts.append(Adjacency(*ends, *sizes))
        if sum(part.num_edges for part in self.parts) < len(edge_type):
            check_types(edge_type, count)

    @property
    def nbytes(self) -> int:
        """Bytes of the edges and of everything cached with them."""
        return sum(part.source.nbytes + part.target.nbytes + part.nbytes for part in self.parts)


def check_types(edge_type: Tensor, count: int) -> None:
    """Raise ArgumentError for an edge of another type than `count` relations have."""
    others = ((edge_type < 0) | (edge_type >= count)).nonzero()
    if len(others):
        edge = int(others[0])
        raise ArgumentError(f"{_expected(count)}, got {edge_type[edge].item()} at edge {edge}")


def _expected(count: int) -> str:
    return f"edge_type: expected relations from 0 to {count - 1}"


def relations_of(adjacency: Adjacency, edge_type: Tensor, count: int) -> Relations:
    """The edges of each of `count` relations, by edge_type [E]; on the CPU cached with the adjacency, with a copy of
    the types to detect changes. Raises ArgumentError for an edge of another type."""
    if torch.compiler.is_compiling() or edge_type.device.type != "cpu":
        return Relations(adjacency, edge_type, count)
    return cached_while_equal(
        adjacency, ("relations", count), edge_type, lambda: Relations(adjacency, edge_type, count)
    )


def joined_adjacency(edges: Mapping[EdgeType, Any], sizes: Mapping[str, int]) -> Adjacency:
    """The adjacency of all relations, from the sources of each relation in turn, to the vertices of all types.

    edges : {(type of sources, relation, type of targets): edge_index of `adjacency_of`}, not empty. sizes : {type:
    number of vertices}. Cached on the first edge_index until one of them changes.

    Raises ArgumentError for types without a size, and for ends that are out of range.
    """
    first, *others = edges.values()
    if torch.compiler.is_compiling() or not all(map(tensor_cache.is_cacheable, edges.values())):
        return _joined(edges, sizes)
    key = ("joined", tuple(edges), tuple(sizes.items()), tuple((id(each), each._version) for each in others))
    return tensor_cache.cached(first, key, lambda: (_joined(edges, sizes), others))[0]  # others: ids stay theirs


def _joined(edges: Mapping[EdgeType, Any], sizes: Mapping[str, int]) -> Adjacency:
    begin, count = {}, 0
    for kind, size in sizes.items():
        begin[kind], count = count, count + size
    sources, targets, sent = [], [], 0
    for relation, edge_index in edges.items():
        for kind in (relation[0], relation[-1]):
            if kind not in sizes:
                raise ArgumentError(f"x_dict: has no features of {kind!r}, an end of edges {relation}")
        found = adjacency_of(edge_index, (sizes[relation[0]], sizes[relation[-1]]))
        if not torch.compiler.is_compiling():
            found.check_ends()
        source, target = found.edge_index
        sources.append(source + sent)
        targets.append(target + begin[relation[-1]])
        sent += sizes[relation[0]]
    return adjacency_of(torch.stack((torch.cat(sources), torch.cat(targets))), (sent, count))
