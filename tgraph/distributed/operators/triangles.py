"""Triangles over the parts of all ranks: edges are turned towards the end of larger degree, each rank fetches the rows
of the ends that its own arcs lead to, and closes pairs of arcs by a search among its own (Chiba and Nishizeki 1985;
over ranks: Arifuzzaman, Khan and Marathe, CIKM 2013)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.core.rows import gather_rows, offset_of
from tgraph.distributed.operators.arcs import Arcs, on_ranks
from tgraph.distributed.ranks.requests import Requests
from tgraph.kernels.layout.spreading import layout_of
from tgraph.kernels.operators.cohesion import intersect, triangle_edges

Positions = tuple[Tensor, Tensor, Tensor]


@on_ranks(intersect.count_triangles)
def count_triangles(graph: Graph, per_vertex: bool) -> Tensor:
    found = _Triangles(graph)
    if not per_vertex:
        return found.ownership.sum(sum((len(first) for first, _, _ in found.closed()), start=torch.tensor(0)))
    return found.sums(lambda first, second, third: (torch.ones_like(first),) * 3, torch.int64)


@on_ranks(intersect.count_arcs_among)
def count_arcs_among(graph: Graph) -> Tensor:
    found = _Triangles(graph)
    value = found.copies.clamp(max=2)
    far = found.fetched(value)
    return found.sums(lambda first, second, third: (far[third], value[second], value[first]), torch.int64)


@on_ranks(triangle_edges.weighted_triangles)
def weighted_triangles(graph: Graph) -> Tensor:
    found = _Triangles(graph)
    value = found.weights
    far = found.fetched(value)
    return found.sums(lambda first, second, third: (value[first] * value[second] * far[third],) * 3, torch.float64)


class _Triangles:
    """The different arcs u -> v of own vertices u towards larger degree, by ascending u and v, and those of all v.

    source, target : int64 [e], numbers in the whole graph. copies : how often each is stored, int64 [e]. weights : that
    of the first, or 1, float64 [e]. far : int64 [f], the targets of the arcs v -> w that were fetched.
    """

    def __init__(self, graph: Graph):
        arcs = Arcs(graph)
        self._layout = layout = layout_of(graph)
        self.ownership, self._n = arcs.ownership, max(graph.num_vertices, 1)
        degree = arcs.at_both(layout.own_degree)
        ends = degree.index_select(0, arcs.row), degree.index_select(0, arcs.other)
        numbers = arcs.numbers.index_select(0, arcs.row), arcs.numbers.index_select(0, arcs.other)
        upwards = (ends[0] < ends[1]) | ((ends[0] == ends[1]) & (numbers[0] < numbers[1]))
        self._key, self.copies = torch.unique_consecutive(
            (numbers[0] * self._n + numbers[1])[upwards], return_counts=True
        )
        self.source, self.target = self._key // self._n, self._key % self._n
        begin, weights = self.copies.cumsum(0) - self.copies, arcs.weights
        ones = torch.ones_like(self._key, dtype=torch.float64)
        self.weights = ones if weights is None else weights[upwards][begin].to(torch.float64)
        self._wanted, self._place = self.target.unique(return_inverse=True)
        self._requests = Requests(self.ownership, self._wanted)
        offset = offset_of(torch.bincount(self.source - self.ownership.first, minlength=self.ownership.num_own))
        given, self._sent = gather_rows(offset, self._requests.asked)
        lengths, self.far = self._requests.answered_by_lists(given.diff(), self.target[self._sent])
        self._counts, self._offset = given.diff(), offset_of(lengths)

    def fetched(self, value: Tensor) -> Tensor:
        """Of the arcs that were fetched, the values [f], from those of own ones, [e]."""
        return self._requests.answered_by_lists(self._counts, value[self._sent])[1]

    def closed(self) -> Iterator[Positions]:
        """The triangles u, v, w as positions [t] of u -> v and u -> w among own arcs, and of v -> w among those that
        were fetched, some at a time."""
        if not len(self._key):
            return
        pairs = self._offset.diff()[self._place].cumsum(0)
        parts = torch.unique_consecutive(pairs // intersect.PAIRS, return_counts=True)[1].tolist()
        for first in torch.arange(len(pairs), device=pairs.device).split(parts):
            offset, third = gather_rows(self._offset, self._place[first])
            first = first.repeat_interleave(offset.diff(), output_size=len(third))
            wanted = self.source[first] * self._n + self.far[third]
            second = torch.searchsorted(self._key, wanted).clamp(max=len(self._key) - 1)
            hit = self._key[second] == wanted
            yield first[hit], second[hit], third[hit]

    def sums(self, values: Callable[..., Positions], dtype: torch.dtype) -> Tensor:
        """For each vertex the sum of what its triangles give it: `values` of positions [t] are those at u, v and w."""
        vertices, added = self._key[:0], self._key[:0].to(dtype)
        for first, second, third in self.closed():
            corners = self.source[first], self.target[first], self.target[second]
            vertices, place = torch.cat((vertices, *corners)).unique(return_inverse=True)
            given = torch.cat((added, *values(first, second, third)))
            added = given.new_zeros(len(vertices)).index_add_(0, place, given)
        home = Requests(self.ownership, vertices)
        own = added.new_zeros(self.ownership.num_own).index_add_(0, home.asked, home.told(added))
        return self._layout.spread(own)
