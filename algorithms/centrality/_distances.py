"""Distances for centralities: from some vertices, group after group, over the weights or in hops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import Tensor

import tgraph as tg
from tgraph.algorithms.paths.bfs import BFS, hops_from_each
from tgraph.algorithms.paths.sssp import SSSP, lengths_from_each

# Distances that are kept at once.
AT_ONCE = 1 << 22


def with_lengths(graph: tg.Graph, *, positive: bool = False) -> tg.Graph:
    """The graph with its weights as lengths that add as Python's numbers do: integers, or float64.

    Raises ArgumentError where it has none; with `positive` also for the first that is not above zero, since arcs of
    length zero make shortest paths without number.
    """
    if graph.weight_dtype is None:
        raise tg.errors.ArgumentError("weighted: the graph has no weights; leave weighted=False to count hops")
    if positive:
        tg.primitives.weights.check(graph, "positive lengths", "counts of shortest paths")
    tg.primitives.shortest_paths.check_weights(graph)
    dtype = torch.float64 if graph.weight_dtype.is_floating_point else torch.int64
    if graph.weight_dtype == dtype:
        return graph
    return tg.primitives.weights.reweighted(graph, lambda weights: weights.to(dtype))


def groups(graph: tg.Graph, vertices: Tensor, batch: int | None = None, what: str = "searches") -> Iterator[Tensor]:
    """The vertices in groups from which to search at once: as many for each thread, since each takes whole searches."""
    fitting = max(1, min(AT_ONCE // max(graph.num_vertices, 1), 64))
    threads = torch.get_num_threads()
    parts = vertices.split(batch or fitting // threads * threads or fitting) if len(vertices) else ()
    return iter(tg.progress.track(parts, what, unit="groups"))


def distances(graph: tg.Graph, sources: Tensor, weighted: bool, **options: Any) -> Tensor:
    """Distances [k, n] from k sources over the weights, or int32 in hops; -1 where unreached, inf for floats."""
    return (lengths_from_each if weighted else hops_from_each)(graph, sources, **options)


def each_distance(graph: tg.Graph, sources: Tensor, weighted: bool, **options: Any) -> Iterable[Tensor]:
    """The same, [n] for each source."""
    if not graph.storage.is_distributed:
        return distances(graph, sources, weighted, **options)
    programs = [(SSSP if weighted else BFS)(source) for source in sources.tolist()]
    return (run.values for run in tg.run_each(programs, graph, **options))


def count_shortest_paths(
    graph: tg.Graph, distance: Tensor, weighted: bool, options: dict[str, Any], even: bool = False
) -> tuple[Tensor, Tensor]:
    """(counts, onward) of `tg.primitives.path_counts.count_paths`. Raises ArgumentError where there are more paths than
    float64 can count, and where a weight is lost in a distance."""
    if weighted and distance.is_floating_point():
        refuse_rounded_away(graph, distance)
    backend = options.get("backend", "auto")
    counted = tg.primitives.path_counts.count_paths(graph, distance, weighted=weighted, even=even, backend=backend)
    if counted[0].numel() and float(counted[0].max()) > 1e300:
        raise tg.errors.ArgumentError(
            "graph: it has more shortest paths than float64 can count; betweenness without weights adds logarithms"
        )
    return counted


def refuse_rounded_away(graph: tg.Graph, distance: Tensor) -> None:
    """Raise ArgumentError where a distance stays the same when the least weight is added: of arcs that lead no farther
    there may be a circle, along which paths have no number."""
    least, largest = graph.weight_range
    bound = largest * graph.num_vertices
    if not graph.num_arcs or not distance.numel() or bound + least > bound:
        return
    farthest = float(distance.masked_fill(distance == torch.inf, 0).max())
    if farthest + largest == torch.inf != largest:
        raise tg.errors.ArgumentError(f"weights: sums of {largest} exceed float64; divide all by the largest")
    if farthest + least == farthest:
        weights = graph.decoded().weights
        assert weights is not None
        reason = f"it is rounded away in distances as large as {farthest}; take integers, or weights nearer in size"
        tg.primitives.weights.refuse(graph, least, int(weights.argmin()), reason)
