"""Costs of runs and properties of partitions, in lines that a person can read and check."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import typer

import tgraph as tg
from tgraph.cli.saying import grouped, say, tell
from tgraph.core.system.text import duration, scaled, table

if TYPE_CHECKING:
    from torch import Tensor

    from tgraph.stream.partitioning.parts import Parts

RATE_NOTE = (
    "edges/s: the edges that leave the active vertices, summed over the iterations, per second of iterations; "
    "an undirected edge counts in each direction"
)


def stopwatch() -> Callable[[], str]:
    """A function that gives the time since this call, in words."""
    start = time.perf_counter()
    return lambda: duration(time.perf_counter() - start)


def verified(store: Any, damaged: Sequence[Any], took: str) -> None:
    """Print the damage of a store, and exit with 1 if there is any."""
    for fault in damaged:
        say(str(fault))
    say(f"{store}: {len(damaged) or 'nothing'} damaged, verified in {took}")
    tell(store=str(store), damaged=list(map(str, damaged)))
    if damaged:
        raise typer.Exit(1)


def cost(run: tg.Run) -> tuple[str, str, str, str]:
    """(iterations, direction switches, time, edges per second) of a run that was traced."""
    assert run.trace is not None
    iterations = grouped(run.iterations) + ("" if run.converged else ", not converged")
    return iterations, grouped(run.trace.switches), duration(run.trace.milliseconds / 1e3), rate(run.trace)


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


def best_connected(graph: tg.Graph) -> Any:
    """The original id of the vertex of largest out-degree, where a search starts by default.

    Raises ArgumentError for a graph without vertices.
    """
    if not graph.num_vertices:
        raise tg.errors.ArgumentError("source: the graph has no vertex to start from")
    return graph.top(graph.out_degree, 1)[0][0]


PARTS = ("part", "vertices", "arcs", "arcs inside", "arcs out")


def rows_of_parts(parts: Parts, graph: tg.Graph, between: Tensor) -> list[dict[str, int]]:
    """The numbers of each part of the partitioned graph; `between` [p, p] is its `arcs_between`."""
    import torch

    vertices, inside = parts.part_of(graph).bincount(minlength=len(parts)).cpu(), between.diagonal().cpu()
    sizes = parts.sizes.cpu()
    columns = torch.stack((torch.arange(len(parts)), vertices, sizes, inside, sizes - inside)).T.tolist()
    return [dict(zip(PARTS, row, strict=True)) for row in columns]


def partition(parts: Parts, graph: tg.Graph, between: Tensor) -> str:
    """A row for each part, and one line for all."""
    rows = [
        (str(number), *(grouped(count) for count in counts), "")
        for number, *counts in (each.values() for each in rows_of_parts(parts, graph, between))
    ]
    return f"{table(((*PARTS, ''), *rows))}\n{partition_total(parts, graph)}"


def partition_total(parts: Parts, graph: tg.Graph) -> str:
    """Balance and cut of the partitioned graph in words."""
    cut, share = parts.cut(graph)
    return f"balance {parts.balance:.3f}, cut {grouped(cut)} of {grouped(graph.num_arcs)} arcs ({share:.2%})"
