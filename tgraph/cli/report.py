"""What a run found and what it cost, in lines that a person can read and check."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import tgraph as tg
from tgraph.core.system.text import duration, scaled, table
from tgraph.terminal import harmless

if TYPE_CHECKING:
    import pandas
    from torch import Tensor

    from tgraph.stream.partitioning.parts import Parts

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


def by_rank(trace: tg.Trace) -> str:
    """A row for each rank: how long it computed, waited, had messages under way, and computed meanwhile, and the bytes
    that it sent and received, in all iterations of a run that was spread over ranks."""
    rows: list[tuple[str, ...]] = [("rank", "computing", "waiting", "under way", "hidden", "sent", "received", "")]
    for rank in range(1 + max(share.rank for share in trace.shares)):
        own = [share for share in trace.shares if share.rank == rank]
        times = ("computing", "waiting", "travelling", "hidden")
        seconds = (sum(getattr(share, name) for share in own) for name in times)
        nbytes = (sum(getattr(share, name) for share in own) for name in ("bytes_sent", "bytes_received"))
        rows.append((str(rank), *map(duration, seconds), *(f"{scaled(each)}B" for each in nbytes), ""))
    return table(rows)


def shown(vertex: Any) -> str:
    """The original id of a vertex in a line, which its control characters leave whole."""
    return harmless(str(vertex))


def names(graph: tg.Graph, vertices: Tensor) -> list[str]:
    """The original ids of vertices, as `shown`."""
    ids = graph.ids(vertices)
    return [shown(name) for name in (ids.tolist() if hasattr(ids, "tolist") else ids)]


def best_connected(graph: tg.Graph) -> Any:
    """The original id of the vertex of largest out-degree, where a search starts by default.

    Raises ArgumentError for a graph without vertices.
    """
    if not graph.num_vertices:
        raise tg.errors.ArgumentError("source: the graph has no vertex to start from")
    return graph.top(graph.out_degree, 1)[0][0]


def column(name: str) -> Callable[[tg.Graph, Tensor], pandas.DataFrame]:
    """A table with a row for each vertex: its original id, and the value [n] found for it under `name`."""
    return lambda graph, values: graph.frame(**{name: values})


def columns(graph: tg.Graph, values: dict[str, Tensor]) -> pandas.DataFrame:
    """A table with a row for each vertex: its original id, and the values [n] found for it by name."""
    return graph.frame(**values)


def group_column(name: str) -> Callable[[tg.Graph, Tensor], pandas.DataFrame]:
    """A table with a row for each vertex: its original id, and under `name` the id of the vertex that names its group,
    of which the values [n] are the indices."""

    def frame(graph: tg.Graph, values: Tensor) -> pandas.DataFrame:
        table = graph.frame(**{name: values})
        table[name] = table["vertex"].to_numpy()[table[name].to_numpy()]
        return table

    return frame


def partition(parts: Parts, graph: tg.Graph, between: Tensor) -> str:
    """A row for each part of the partitioned graph, and one line for all; `between` [p, p] is its `arcs_between`."""

    import torch

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


def depths(graph: tg.Graph, depth: Any) -> str:
    """How many vertices the search reached, and how far away."""
    return f"reached {_share(graph, int((depth >= 0).sum()))}, depth {_largest(depth)}"


def distances(graph: tg.Graph, distance: Any) -> str:
    """How many vertices are reached, and the largest distance."""
    reached = (distance >= 0) & (distance != float("inf"))
    hops = ", counting hops: the graph has no weights" if graph.weight_dtype is None else ""
    farthest = _largest(distance[reached])
    return f"reached {_share(graph, int(reached.sum()))}, the farthest at distance {farthest}{hops}"


def groups(one: str, several: str) -> Callable[[tg.Graph, Tensor], str]:
    """How many groups there are, and the size of the largest, from the group [n] of each vertex."""

    def finding(graph: tg.Graph, group: Tensor) -> str:
        size = group.unique(return_counts=True)[1]
        counted = f"1 {one}" if len(size) == 1 else f"{len(size):,} {several}"
        return f"{counted}, the largest of {_share(graph, _largest(size))}"

    return finding


def communities(graph: tg.Graph, community: Tensor) -> str:
    """How many communities there are, the size of the largest, and the modularity of an unweighted graph."""
    counted = groups("community", "communities")(graph, community)
    return f"{counted}, modularity {tg.algorithms.modularity(graph, community):.4f} of edges without weights"


def triangles(graph: tg.Graph, triangles: Any) -> str:
    """How many triangles there are, and who is in most."""
    counted = int(triangles.sum()) // 3
    return f"{counted:,} {'triangle' if counted == 1 else 'triangles'}; {ranks(graph, triangles)}"


def clustering(graph: tg.Graph, coefficient: Any) -> str:
    """The average coefficient, and the largest ones."""
    average = float(coefficient.mean()) if len(coefficient) else 0.0
    return f"{average:.4g} on average; {ranks(graph, coefficient)}"


def cores(graph: tg.Graph, core: Any) -> str:
    """The innermost core and its size."""
    deepest = _largest(core)
    return f"core numbers up to {deepest}, that of {_share(graph, int((core == deepest).sum()))}"


def ranks(graph: tg.Graph, rank: Any) -> str:
    """The five vertices of the highest scores."""
    top = graph.top(rank, 5)
    return "top 5: " + ", ".join(
        f"{shown(name)} ({value:,})" if isinstance(value, int) else f"{shown(name)} ({value:.3g})"
        for name, value in top
    )


def hubs(graph: tg.Graph, score: Any) -> str:
    """The five best hubs and authorities."""
    hubs, authorities = (
        ", ".join(shown(vertex) for vertex, _ in graph.top(score[name], 5)) for name in ("hub", "authority")
    )
    return f"top 5 hubs: {hubs}; authorities: {authorities}"


def _share(graph: tg.Graph, count: int | float) -> str:
    return f"{count:,} of {graph.num_vertices:,} vertices"


def _largest(values: Any) -> int | float:
    return values.max().item() if len(values) else 0
