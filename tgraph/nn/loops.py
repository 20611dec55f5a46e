"""Adjacencies in which every vertex hears itself, once."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from tgraph.errors import ArgumentError
from tgraph.nn.adjacency import Adjacency, GraphAdjacency
from tgraph.nn.compiled import prepare_loops
from tgraph.nn.traced import SunkAdjacency, sink_loops

FILLS = {"add": "sum", "sum": "sum", "mean": "mean", "min": "amin", "max": "amax", "mul": "prod"}


@dataclass
class Looped:
    """An adjacency with self-loops, and how data of the edges follows.

    adjacency : the edges that are kept, in the user's order, then a self-loop for each of `num_loops` vertices.
    ends : the ends that a self-loop's features are reduced at, [k + num_loops]: those in edge_index[1].
    kept : the user's numbers of the edges kept, int64 [k], or None where these are all.
    loop : for each vertex the last self-loop among the user's edges, or E where there was none, int64 [num_loops]; None
        where there were none at all.
    sunk : which of the user's edges stay although they are replaced, and lead to nowhere, bool [E]; None where these
        are removed.
    """

    adjacency: Adjacency
    num_loops: int
    ends: Tensor
    kept: Tensor | None = None
    loop: Tensor | None = None
    sunk: Tensor | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of the adjacency and what was derived of it, and of the numbers."""
        numbers = (self.ends, self.kept, self.loop, self.sunk)
        return self.adjacency.nbytes + sum(tensor.nbytes for tensor in numbers if tensor is not None)

    def weights(self, edge_weight: Tensor, fill: float) -> Tensor:
        """The edge weights [E] with those of the self-loops: the user's where there was one, `fill` where not."""
        loops = edge_weight.new_full((self.num_loops,), fill)
        if self.loop is not None:
            loops = torch.cat((edge_weight, loops[:1])).index_select(0, self.loop)
        return torch.cat((self._others(edge_weight), loops))

    def features(self, edge_attr: Tensor, fill: float | Tensor | str) -> Tensor:
        """The edge features [E, ...] with those of the self-loops: a number or tensor, or how to reduce those of the
        edges of which it is edge_index[1]."""
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
        """What the edges that reach each vertex give, and 0 (of a product 1) where none does."""
        if fill not in FILLS:
            raise ArgumentError(
                f"fill_value: {fill!r} is not one of {', '.join(map(repr, FILLS))}, a number or a tensor"
            )
        size = max(self.num_loops, self.adjacency.num_targets, self.adjacency.num_sources)
        end = self.ends[: others.shape[0]].to(torch.int64)
        if self.sunk is not None:
            size, end = size + 1, torch.where(self.sunk, size, end)
        start = others.new_full((size, *others.shape[1:]), 1.0 if fill == "mul" else 0.0)
        index = end.reshape(-1, *(1,) * (others.dim() - 1)).expand_as(others)
        reduced = start.scatter_reduce(0, index, others, FILLS[fill], include_self=False)
        return reduced[: self.num_loops]


def with_loops(adjacency: Adjacency, num_loops: int, flow: str = "source_to_target") -> Looped:
    """The adjacency in which the self-loops of the user are replaced by one for each of the first `num_loops` vertices;
    kept with it."""
    if torch.compiler.is_compiling() and isinstance(adjacency, GraphAdjacency):
        prepare_loops(adjacency.graph, adjacency.reverse, flow)
    elif torch.compiler.is_compiling():
        return _with_loops_traced(adjacency, num_loops, flow)
    return find_loops(adjacency, num_loops, flow)


def find_loops(adjacency: Adjacency, num_loops: int, flow: str) -> Looped:
    """As `with_loops`, where torch.compile does not look on."""
    return adjacency.kept(("loops", num_loops), lambda: _with_loops(adjacency, num_loops, flow))


def _with_loops(adjacency: Adjacency, num_loops: int, flow: str) -> Looped:
    source, target = adjacency.source, adjacency.target
    is_loop = source == target
    kept = loop = None
    if bool(is_loop.any()):
        kept = (~is_loop).nonzero().flatten()
        number = is_loop.nonzero().flatten()
        vertex = source.index_select(0, number).to(torch.int64)
        size = max(adjacency.num_sources, num_loops)
        if int(vertex.min()) < 0 or int(vertex.max()) >= size:
            adjacency.check_ends()
        loop = torch.full((size,), -1, dtype=torch.int64, device=source.device)
        loop = loop.scatter_reduce(0, vertex, number, "amax")[:num_loops]
        loop = torch.where(loop < 0, len(source), loop)
        source, target = source.index_select(0, kept), target.index_select(0, kept)
    every = torch.arange(num_loops, dtype=source.dtype, device=source.device)
    source, target = torch.cat((source, every)), torch.cat((target, every))
    over = Adjacency(source, target, adjacency.num_sources, adjacency.num_targets)
    return Looped(over, num_loops, target if flow == "source_to_target" else source, kept, loop)


def _with_loops_traced(adjacency: Adjacency, num_loops: int, flow: str) -> Looped:
    """As `with_loops`, where how many self-loops there are is not known: they stay, but lead to nowhere."""
    sizes = adjacency.num_sources, adjacency.num_targets
    source, target = adjacency.source, adjacency.target
    ends = target if flow == "source_to_target" else source
    target, is_loop, loop = sink_loops(source, target, *sizes, num_loops)
    every = torch.arange(num_loops, dtype=source.dtype, device=source.device)
    sunk = torch.cat((is_loop, torch.zeros_like(every, dtype=torch.bool)))
    over = SunkAdjacency(torch.cat((source, every)), torch.cat((target, every)), *sizes, sunk)
    return Looped(over, num_loops, torch.cat((ends, every)), None, loop, is_loop)


def with_more_loops(adjacency: Adjacency) -> Looped:
    """The adjacency with one more self-loop for each vertex; those of the user stay. Kept with it."""

    def add() -> Looped:
        source, target = adjacency.source, adjacency.target
        every = torch.arange(adjacency.num_targets, dtype=source.dtype, device=source.device)
        source, target = torch.cat((source, every)), torch.cat((target.to(source.dtype), every))
        over = Adjacency(source, target, adjacency.num_sources, adjacency.num_targets)
        return Looped(over, adjacency.num_targets, target)

    return adjacency.kept("more loops", add)
