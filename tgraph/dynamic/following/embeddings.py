"""Embeddings that follow the changes of a store: layer by layer, the rows that a change reaches are computed again."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.dynamic.following.declared import Embeddings
from tgraph.dynamic.following.follower import LEAST, SHARE, Follower, FromNothing
from tgraph.dynamic.following.graph import FollowedGraph
from tgraph.dynamic.runs import Run
from tgraph.dynamic.store import Store
from tgraph.dynamic.version import Version
from tgraph.errors import ArgumentError
from tgraph.kernels.following import FollowedRows
from tgraph.kernels.operators.changes import columns_of, rows_of


class FollowedEmbeddings(Follower):
    """The outputs of all layers."""

    def __init__(self, declared: Embeddings, store: Store):
        super().__init__(store)
        self._declared = declared
        self._outputs: list[Tensor] = []  # of each layer [n, ...]

    def _compute(self, version: Version, graph: Graph) -> None:
        self._arcs, self._outputs, self._n = None, outputs(self._declared, graph), graph.num_vertices
        self._arcs = FollowedGraph(version, self._store.directed, weighted=False)

    def _advance(self, version: Version, runs: Sequence[Run]) -> int:
        arcs, n, before = self._arcs, version.num_vertices, self._n
        assert arcs is not None
        arcs.advance(version, runs)
        changes = torch.cat([run.changes for run in runs])
        reached = torch.cat((rows_of(changes), columns_of(changes), torch.arange(before, n))).unique()
        limit, touched, x = max(len(version.base.neighbors) // SHARE, LEAST), 0, _features(self._declared, n)
        for number, layer in enumerate(self._declared.layers):
            # A row reads its in-neighbours, and degrees at both ends of its arcs, which changed at ends of changes.
            reached = torch.cat((reached, arcs.rows.gather(reached)[1])).unique()
            local, sources = _neighborhood(arcs.reversed(), reached, limit)
            rows = torch.searchsorted(sources, reached)
            with torch.no_grad():
                output = layer(local, x.index_select(0, sources)).index_select(0, rows)
            x = self._outputs[number] = _with_rows(self._outputs[number], n, reached, output)
            touched += len(sources)
        self._n = n
        return touched

    def _finished(self) -> Tensor:
        return self._outputs[-1]

    def _nbytes(self) -> int:
        return sum(output.nbytes for output in self._outputs)


def _neighborhood(inward: FollowedRows, vertices: Tensor, limit: int) -> tuple[Graph, Tensor]:
    """The arcs into some vertices and into their in-neighbours, whose degrees are then those of the whole graph, and
    the ends of these arcs, int64, ascending. Raises FromNothing beyond `limit` arcs."""
    if inward.num_arcs(vertices) > limit:
        raise FromNothing("the rows that changes reach are long")
    targets = torch.cat((vertices, inward.gather(vertices)[1])).unique()
    if inward.num_arcs(targets) > limit:
        raise FromNothing("the rows that changes reach are long")
    offset, source = inward.gather(targets)
    members, place = torch.cat((targets, source)).unique(return_inverse=True)
    target = place[: len(targets)].repeat_interleave(offset.diff())
    return Graph.from_edges(place[len(targets) :], target, num_vertices=len(members)), members


def _with_rows(values: Tensor, n: int, vertices: Tensor, rows: Tensor) -> Tensor:
    """Values [k, ...] of n vertices, with other rows at some; written in place where there is no vertex more."""
    if len(values) < n:
        values = torch.cat((values, values.new_zeros((n - len(values), *values.shape[1:]))))
    return values.index_copy_(0, vertices, rows)


def outputs(declared: Embeddings, graph: Graph) -> list[Tensor]:
    """Those of all layers on a graph."""
    found, x = [], _features(declared, graph.num_vertices)
    with torch.no_grad():
        for layer in declared.layers:
            found.append(x := layer(graph, x))
    return found


def _features(declared: Embeddings, n: int) -> Tensor:
    """Those of the first n vertices. Raises ArgumentError where there are fewer."""
    if len(declared.features) < n:
        raise ArgumentError(f"features: {len(declared.features)} rows for {n} vertices; give rows for all to come")
    return declared.features[:n]
