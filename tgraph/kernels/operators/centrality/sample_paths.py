"""Random shortest paths in torch operators: whole searches, some samples at a time, and walks back step by step."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core import random
from tgraph.core.building import sorting
from tgraph.core.dispatch import operator
from tgraph.core.graph import Graph
from tgraph.core.rows import gather_rows

MESSAGES = 1 << 22  # sent at once


@operator
def paths_inside(graph: Graph, key: int, first: int, count: int) -> Tensor:
    """See `tgraph.primitives.sample_paths.inside`. The pairs are those of the compiled kernel, the paths are drawn
    otherwise."""
    inside = torch.zeros(graph.num_vertices, dtype=torch.int64, device=graph.device)
    offset, neighbors, _ = sorting.merge_parallel(graph.offset, graph.neighbors, None, "first")
    simple = Graph(offset, neighbors)
    together = max(1, MESSAGES // max(graph.num_arcs, graph.num_vertices, 1))
    for group in torch.arange(first, first + count, device=graph.device).split(together):
        keys = random.words(key, group)
        _walk(simple, keys, inside)
    return inside


def _walk(graph: Graph, keys: Tensor, inside: Tensor) -> None:
    """Count the vertices inside of a path for each stream of numbers."""
    n, row = graph.num_vertices, torch.arange(len(keys), device=keys.device)
    source, other = _draw(keys, 0, n), _draw(keys, 1, n - 1)
    target = other + (other >= source)
    depth, paths = _search(graph, source)
    reverse = graph.transpose()
    at, step = target, 2
    while True:
        going = depth[row, at] > 1
        keys, row, at = keys[going], row[going], at[going]
        if not len(at):
            return
        offset, positions = gather_rows(reverse.offset, at)
        walker = torch.arange(len(at), device=at.device).repeat_interleave(offset.diff())
        before = reverse.neighbors.index_select(0, positions).to(torch.int64)
        nearer = depth[row[walker], before] == depth[row, at][walker] - 1
        share = torch.where(nearer, paths[row[walker], before], 0.0).cumsum(0)
        ahead = torch.nn.functional.pad(share, (1, 0))
        low, high = ahead[offset[:-1]], ahead[offset[1:]]
        wanted = low + _uniform(keys, step) * (high - low)
        chosen = torch.searchsorted(share, wanted, right=True).minimum(offset[1:] - 1)
        at, step = before[chosen], step + 1
        inside.index_add_(0, at, torch.ones_like(at))


def _search(graph: Graph, sources: Tensor) -> tuple[Tensor, Tensor]:
    """Depths and numbers of shortest paths from each source, [k, n]."""
    k, n = len(sources), graph.num_vertices
    row, target = sorting.expand_rows(graph.offset), graph.neighbors.to(torch.int64)
    depth = torch.full((k, n), -1, device=sources.device)
    front = torch.zeros((k, n), dtype=torch.float64, device=sources.device)
    front[torch.arange(k, device=sources.device), sources] = 1
    paths, level = front.clone(), 0
    depth[front > 0] = 0
    while bool(front.any()):
        level += 1
        received = torch.zeros_like(front).index_add_(1, target, front.index_select(1, row))
        front = received.masked_fill_(depth >= 0, 0)
        depth[front > 0] = level
        paths += front
    return depth, paths


def _uniform(keys: Tensor, counter: int) -> Tensor:
    """A number in [0, 1) of each stream."""
    return random.uniform(keys, torch.full_like(keys, counter))


def _draw(keys: Tensor, counter: int, bound: int) -> Tensor:
    """An integer below the bound of each stream."""
    return (_uniform(keys, counter) * bound).to(torch.int64)
