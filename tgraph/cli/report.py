"""What a run found and what it cost, in lines that a person can read and check."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

import tgraph as tg
from tgraph import algorithms
from tgraph.core.system.text import duration, scaled, table
from tgraph.stream.partitioning.parts import Parts

if TYPE_CHECKING:
    import pandas

RATE_NOTE = (
    "edges/s: the edges that leave the active vertices, summed over the iterations, per second of iterations; "
    "an undirected edge counts in each direction"
)


def cost(run: tg.Run) -> tuple[str, str, str, str]:
    """(iterations, direction switches, time, edges per second) of a run that was traced."""
    assert run.trace is not None
    iterations = f"{run.iterations:,}" + ("" if run.converged else ", not converged")
    return iterations, f"{run.trace.switches:,}", duration(run.trace.milliseconds / 1e3), rate(run.trace)


def rate(trace: tg.Trace) -> str:
    """Edges per second as RATE_NOTE defines them, to three digits."""
    edges = sum(step.active_edges for step in trace.iterations)
    if not trace.milliseconds:
        return "-"
    return scaled(edges / trace.milliseconds * 1e3)


def best_connected(graph: tg.Graph) -> Any:
    """The original id of the vertex of largest out-degree, where a search starts by default.

    Raises ArgumentError for a graph without vertices.
    """
    if not graph.num_vertices:
        raise tg.errors.ArgumentError("source: the graph has no vertex to start from")
    return graph.top(graph.out_degree, 1)[0][0]


def finding(graph: tg.Graph, algorithm: Callable[..., Any], values: Any) -> str:
    """A line that a person can check, from the values that the algorithm gave: the class of a program, or a function
    (of `triangle_count` those per vertex)."""
    return FINDINGS[algorithm](graph, values)


def frame(graph: tg.Graph, algorithm: Callable[..., Any], values: Any) -> pandas.DataFrame:
    """One row per vertex: its original id and what the algorithm found for it."""
    name = COLUMNS.get(algorithm, "")
    table = graph.frame(**(values if isinstance(values, dict) else {name: values}))
    if algorithm in (
        algorithms.WCC,
        algorithms.cdlp,
    ):  # what is named by a vertex; vertices go by their original ids here
        table[name] = table["vertex"].to_numpy()[values.cpu().numpy()]
    return table


def partition(parts: Parts, graph: tg.Graph, between: Tensor) -> str:
    """A row for each part of the partitioned graph, and one line for all; `between` [p, p] is its `arcs_between`."""
    vertices = parts.part_of(graph).bincount(minlength=len(parts))
    inside = between.diagonal()
    columns = torch.stack((torch.arange(len(parts)), *(c.cpu() for c in (vertices, parts.sizes, inside)))).T.tolist()
    rows = [
        (str(part), f"{count:,}", f"{arcs:,}", f"{stay:,}", f"{arcs - stay:,}", "")
        for part, count, arcs, stay in columns
    ]
    header = ("part", "vertices", "arcs", "arcs inside", "arcs out", "")
    return f"{table((header, *rows))}\n{partition_total(parts, graph)}"


def partition_total(parts: Parts, graph: tg.Graph) -> str:
    """Balance and cut of the partitioned graph in words."""
    cut, share = parts.cut(graph)
    return f"balance {parts.balance:.3f}, cut {cut:,} of {graph.num_arcs:,} arcs ({share:.2%})"


def _depths(graph: tg.Graph, depth: Any) -> str:
    return f"reached {_share(graph, int((depth >= 0).sum()))}, depth {_largest(depth)}"


def _distances(graph: tg.Graph, distance: Any) -> str:
    reached = (distance >= 0) & (distance != float("inf"))
    hops = ", counting hops: the graph has no weights" if graph.weight_dtype is None else ""
    farthest = _largest(distance[reached])
    return f"reached {_share(graph, int(reached.sum()))}, the farthest at distance {farthest}{hops}"


def _groups(graph: tg.Graph, group: Any, one: str, several: str) -> str:
    size = group.unique(return_counts=True)[1]
    counted = f"1 {one}" if len(size) == 1 else f"{len(size):,} {several}"
    return f"{counted}, the largest of {_share(graph, _largest(size))}"


def _triangles(graph: tg.Graph, triangles: Any) -> str:
    counted = int(triangles.sum()) // 3
    return f"{counted:,} {'triangle' if counted == 1 else 'triangles'}; {_ranks(graph, triangles)}"


def _clustering(graph: tg.Graph, coefficient: Any) -> str:
    average = float(coefficient.mean()) if len(coefficient) else 0.0
    return f"{average:.4g} on average; {_ranks(graph, coefficient)}"


def _cores(graph: tg.Graph, core: Any) -> str:
    deepest = _largest(core)
    return f"core numbers up to {deepest}, that of {_share(graph, int((core == deepest).sum()))}"


def _ranks(graph: tg.Graph, rank: Any) -> str:
    top = graph.top(rank, 5)
    return "top 5: " + ", ".join(
        f"{name} ({value:,})" if isinstance(value, int) else f"{name} ({value:.3g})" for name, value in top
    )


def _hubs(graph: tg.Graph, score: Any) -> str:
    hubs, authorities = (
        ", ".join(str(vertex) for vertex, _ in graph.top(score[name], 5)) for name in ("hub", "authority")
    )
    return f"top 5 hubs: {hubs}; authorities: {authorities}"


def _share(graph: tg.Graph, count: int | float) -> str:
    return f"{count:,} of {graph.num_vertices:,} vertices"


def _largest(values: Any) -> int | float:
    return values.max().item() if len(values) else 0


COLUMNS: dict[Callable[..., Any], str] = {
    algorithms.BFS: "depth",
    algorithms.SSSP: "distance",
    algorithms.WCC: "component",
    algorithms.PageRank: "rank",
    algorithms.betweenness: "betweenness",
    algorithms.triangle_count: "triangles",
    algorithms.local_clustering: "clustering",
    algorithms.core_number: "core",
    algorithms.cdlp: "community",
}
FINDINGS: dict[Callable[..., Any], Callable[[tg.Graph, Any], str]] = {
    algorithms.BFS: _depths,
    algorithms.SSSP: _distances,
    algorithms.WCC: partial(_groups, one="component", several="components"),
    algorithms.PageRank: _ranks,
    algorithms.HITS: _hubs,
    algorithms.betweenness: _ranks,
    algorithms.triangle_count: _triangles,
    algorithms.local_clustering: _clustering,
    algorithms.core_number: _cores,
    algorithms.cdlp: partial(_groups, one="community", several="communities"),
}
