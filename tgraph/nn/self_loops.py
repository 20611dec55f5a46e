"""Adjacencies with added self-loops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.building.edge_index import sort_by_target
from tgraph.core.derived import computed_once, detached_cache_scope
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.nn.adjacency import Adjacency, GraphAdjacency
from tgraph.nn.compiled import at_trace_time, derive
from tgraph.nn.traced import SunkAdjacency, last_loops, sink_loops

FILLS = {"add": "sum", "sum": "sum", "mean": "mean", "min": "amin", "max": "amax", "mul": "prod"}


class LoopedAdjacency(Adjacency):
    """The edges of `base`, then a self-loop for each of `num_loops` vertices, instead of others if `replaced`."""

    num_sources: int
    num_targets: int

    def __init__(self, base: Adjacency, num_loops: int, replaced: bool):
        self._ends = (base.source, base.target)  # not the base, whose cache holds this object
        self._num_loops, self._replaced = num_loops, replaced
        self.num_sources, self.num_targets, self.values = base.num_sources, base.num_targets, None
        self._cache = {}

    def _sort(self) -> tuple[Tensor, Tensor, Tensor | None]:
        return sort_by_target(*self._ends, self.num_sources, self.num_targets, self._num_loops, self._replaced)

    @property
    def num_edges(self) -> int:
        return self._sorted[1].shape[0]

    @property
    def source(self) -> Tensor:  # type: ignore[override]
        """The sources of the edges and of the self-loops, [E']."""
        return self._with_loops(self._ends[0])

    @property
    def target(self) -> Tensor:  # type: ignore[override]
        """Their targets, of the dtype of the sources, [E']."""
        return self._with_loops(self._ends[1].to(self._ends[0].dtype))

    def _with_loops(self, ends: Tensor) -> Tensor:
        every = torch.arange(self._num_loops, dtype=ends.dtype, device=ends.device)
        return torch.cat((ends if self.kept_edges is None else ends.index_select(0, self.kept_edges), every))

    @property
    def kept_edges(self) -> Tensor | None:
        """The positions in the user's order of the remaining edges, int64 [k], or None for all."""
        return self._split[0]

    @property
    def loop(self) -> Tensor | None:
        """For each vertex the position of its last self-loop in the user's edges, or E without one, int64 [num_loops];
        None if there are none, or they are kept."""
        return self._split[1]

    @computed_once
    def _split(self) -> tuple[Tensor | None, Tensor | None]:
        if not self._replaced:
            return None, None
        with detached_cache_scope():
            source, target = self._ends
            return _split_loops(source, target, max(self.num_sources, self._num_loops), self._num_loops)


def _split_loops(source: Tensor, target: Tensor, size: int, num_loops: int) -> tuple[Tensor | None, Tensor | None]:
    """The positions of the edges that are not self-loops, and of the last self-loop of each of `num_loops` vertices."""
    is_loop = source == target
    if not bool(is_loop.any()):
        return None, None
    return (~is_loop).nonzero().flatten(), last_loops(source, is_loop, size)[:num_loops]


@dataclass
class Looped:
    """An adjacency with self-loops, and its edge data.

    adjacency : the remaining edges, in the user's order, then a self-loop for each of `num_loops` vertices.
    flow : of the layer. The features of a self-loop are reduced over the edges with the same edge_index[1].
    end : edge_index[1] of these edges, [E'], where it differs from the ends of the adjacency.
    sunk : mask of replaced self-loops, redirected to a sink, bool [E]; None where they are removed.
    sunk_loop : for each vertex the last of these, or E without one, int64 [num_loops].
    """

    adjacency: Any
    num_loops: int
    flow: str = "source_to_target"
    end: Tensor | None = None
    sunk: Tensor | None = None
    sunk_loop: Tensor | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of the adjacency and its caches."""
        return self.adjacency.nbytes

    @property
    def ends(self) -> Tensor:
        """The vertex at which the features of each edge are reduced for self-loops, [E']."""
        if self.end is not None:
            return self.end
        return self.adjacency.target if self.flow == "source_to_target" else self.adjacency.source

    @property
    def kept(self) -> Tensor | None:
        """The positions in the user's order of the remaining edges, int64 [k], or None for all."""
        return None if self.sunk is not None else self.adjacency.kept_edges

    @property
    def loop(self) -> Tensor | None:
        """For each vertex the position of its last self-loop in the user's edges, or E without one, int64 [num_loops];
        None if there are none."""
        return self.adjacency.loop if self.sunk is None else self.sunk_loop

    def weights(self, edge_weight: Tensor, fill: float) -> Tensor:
        """The edge weights [E] followed by the weights of self-loops: of the existing self-loop, or `fill`."""
        loops = edge_weight.new_full((self.num_loops,), fill)
        if self.loop is not None:
            loops = torch.cat((edge_weight, loops[:1])).index_select(0, self.loop)
        return torch.cat((self._others(edge_weight), loops))

    def features(self, edge_attr: Tensor, fill: float | Tensor | str) -> Tensor:
        """The edge features [E, ...] followed by the features of self-loops: `fill`, or for the name of a reduction,
        the reduced features of the edges with the vertex as edge_index[1]."""
        others = self._others(edge_attr)
        if isinstance(fill, str):
            loops = self._reduced(others, fill)
        elif isinstance(fill, Tensor):
            loops = fill.to(others).expand(self.num_loops, *others.shape[1:])
        else:
            loops = others.new_full((self.num_loops, *others.shape[1:]), fill)
        return torch.cat((others, loops))

    def _others(self, edge_data: Tensor) -> Tensor:
        if self.sunk is not None:
            return torch.where(self.sunk.reshape(-1, *(1,) * (edge_data.dim() - 1)), 0, edge_data)
        return edge_data if self.kept is None else edge_data.index_select(0, self.kept)

    def _reduced(self, others: Tensor, fill: str) -> Tensor:
        """The reduced features of the edges of each vertex; 0, or for a product 1, without edges."""
        if fill not in FILLS:
            raise ArgumentError(f"fill_value: {fill!r} is not one of {', '.join(map(repr, FILLS))}, a number or tensor")
        size = max(self.num_loops, self.adjacency.num_targets, self.adjacency.num_sources)
        end = self.ends[: others.shape[0]].to(torch.int64)
        if self.sunk is not None:
            size, end = size + 1, torch.where(self.sunk, size, end)
        if fill == "mean" and not others.is_floating_point():
            others = others.to(torch.get_default_dtype())
        start = others.new_full((size, *others.shape[1:]), 1.0 if fill == "mul" else 0.0)
        index = end.reshape(-1, *(1,) * (others.dim() - 1)).expand_as(others)
        reduced = start.scatter_reduce(0, index, others, FILLS[fill], include_self=False)
        return reduced[: self.num_loops]


def with_loops(adjacency: Adjacency, num_loops: int, flow: str = "source_to_target") -> Looped:
    """The adjacency with existing self-loops replaced by one for each of the first `num_loops` vertices; cached."""
    if torch.compiler.is_compiling() and isinstance(adjacency, GraphAdjacency):
        _prepare_loops(adjacency.graph, adjacency.reverse, flow)
    elif torch.compiler.is_compiling():
        return _with_loops_traced(adjacency, num_loops, flow)
    return find_loops(adjacency, num_loops, flow)


@at_trace_time
def _prepare_loops(graph: Graph, reverse: bool, flow: str) -> bool:
    """Compute all derived tensors of a graph with self-loops. The result has no meaning."""
    derive(find_loops(GraphAdjacency(graph, reverse), graph.num_vertices, flow).adjacency)
    return True


def find_loops(adjacency: Adjacency, num_loops: int, flow: str) -> Looped:
    """As `with_loops`, outside of torch.compile tracing."""
    looped = adjacency.cached(("loops", num_loops), lambda: LoopedAdjacency(adjacency, num_loops, True))
    return Looped(looped, num_loops, flow)


def _with_loops_traced(adjacency: Adjacency, num_loops: int, flow: str) -> Looped:
    """As `with_loops`, for a traced edge_index: existing self-loops, unknown in number, lead to a sink."""
    sizes = adjacency.num_sources, adjacency.num_targets
    source, target = adjacency.source, adjacency.target
    ends = target if flow == "source_to_target" else source
    target, is_loop, loop = sink_loops(source, target, *sizes, num_loops)
    every = torch.arange(num_loops, dtype=source.dtype, device=source.device)
    sunk = torch.cat((is_loop, torch.zeros_like(every, dtype=torch.bool)))
    over = SunkAdjacency(torch.cat((source, every)), torch.cat((target, every)), *sizes, sunk)
    return Looped(over, num_loops, flow, torch.cat((ends, every)), is_loop, loop)


def with_more_loops(adjacency: Adjacency) -> Looped:
    """The adjacency with an additional self-loop for each vertex; cached."""
    size = adjacency.num_targets
    return adjacency.cached("more loops", lambda: Looped(LoopedAdjacency(adjacency, size, False), size))


def stored_loops(graph: Graph) -> tuple[Tensor, Tensor, Tensor | None]:
    """(the vertices, the positions among the arcs, int64 [k], the weights [k] or None) of the self-loops of a graph in
    a layout, in the order of its arcs, which are decoded part by part."""
    found: list[tuple[int, Tensor, Tensor, Tensor | None]] = []

    def see(first_arc: int, first_row: int, offset: Tensor, neighbors: Tensor, weights: Tensor | None) -> None:
        row = sorting.expand_rows(offset) + first_row
        loops = (row == neighbors).nonzero()[:, 0]
        found.append((first_arc, row[loops], loops + first_arc, None if weights is None else weights[loops]))

    assert graph.layout is not None
    if graph.num_self_loops:
        graph.layout.scan(see)
    found.sort(key=lambda each: each[0])
    nothing = torch.empty(0, dtype=torch.int64, device=graph.device)
    vertices = torch.cat([nothing, *(each[1] for each in found)])
    positions = torch.cat([nothing, *(each[2] for each in found)])
    weights = [each[3] for each in found if each[3] is not None]
    return vertices, positions, torch.cat(weights) if weights else None
