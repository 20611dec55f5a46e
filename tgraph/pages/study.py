"""A graph under study, with results shared by several sections of a report, computed once."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import torch
from torch import Tensor

import tgraph as tg
from tgraph.markup.labels import Markup, label

FAST_ENOUGH = 20_000_000  # arcs, beyond which slow measurements are left out or replaced
ROUGHLY = 1e-3  # the change of all ranks by the last pass over a graph that is read from a file
DETAILED = 5_000_000  # arcs, up to which communities are found by the best method


class Study:
    """A graph, and the `seed` of random draws."""

    graph: tg.Graph
    seed: int

    def __init__(self, graph: tg.Graph, seed: int = 0):
        self.graph, self.seed = graph, seed

    @property
    def streams(self) -> bool:
        """True if the arcs are read block by block, within a budget of memory."""
        return self.graph.storage.streams

    @property
    def is_large(self) -> bool:
        """True if slow measurements are sampled."""
        return self.graph.num_arcs > FAST_ENOUGH

    @cached_property
    def simple(self) -> tg.Graph:
        """The graph without directions, parallel edges and self-loops."""
        return self.graph.decoded().to_undirected().without_self_loops()

    @cached_property
    def component(self) -> Tensor:
        """The component of each vertex, int64 [n]."""
        return tg.algorithms.wcc(self.graph)

    @cached_property
    def core(self) -> Tensor:
        """The core number of each vertex, int64 [n]."""
        return tg.algorithms.core_number(self.graph)

    @cached_property
    def community(self) -> Tensor:
        """The community of each vertex, int64 [n]: by Leiden, for a large graph by label propagation."""
        if self.graph.num_arcs > DETAILED:
            return tg.algorithms.cdlp(self.graph)
        return tg.algorithms.leiden(self.graph, seed=self.seed)

    @cached_property
    def rank(self) -> Tensor:
        """The PageRank of each vertex, [n], converged or not; of a streamed graph to within ROUGHLY, by few passes."""
        try:
            return tg.algorithms.pagerank(self.graph, **({"tol": ROUGHLY} if self.streams else {}))
        except tg.errors.NotConvergedError as stopped:
            return stopped.run.values

    def drawn(self, count: int) -> Tensor:
        """`count` distinct random vertices, ascending, or all if fewer, int64 [k]."""
        n = self.graph.num_vertices
        if count >= n:
            return torch.arange(n)
        generator = torch.Generator().manual_seed(self.seed)
        found = torch.randint(n, (2 * count,), generator=generator).unique()
        while len(found) < count:
            found = torch.cat((found, torch.randint(n, (count,), generator=generator))).unique()
        return found[torch.randperm(len(found), generator=generator)[:count]].sort().values

    def name(self, vertex: int) -> Markup:
        """The original id of a vertex, as HTML."""
        return label(self.graph.ids(vertex))

    def top(self, values: Tensor, count: int = 10) -> list[tuple[Any, Any]]:
        """The vertices of largest value above 0, as (original id as HTML, value)."""
        return [(label(name), value) for name, value in self.graph.top(values, count) if value > 0]
