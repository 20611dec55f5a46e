"""The records of a trace: iterations, visits to blocks, and exchanges between ranks."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tgraph.core.subgraph import Mode

Interval = tuple[float, float]  # begin and end, in seconds


@dataclass(frozen=True)
class Iteration:
    """One iteration: its direction, the frontier at its beginning, the changed vertices, its time, and its backends."""

    iteration: int
    direction: Mode
    active_vertices: int
    active_edges: int
    changed_vertices: int
    milliseconds: float
    backend: str = ""


@dataclass(frozen=True)
class Served:
    """The backend of an operator, and why preferred backends do not support the call: {name: reason}."""

    operator: str
    backend: str | None
    refused: dict[str, str]


@dataclass
class Conditions:
    """The options of a run: mode and backend as requested, the width of its buckets (None without), whether a backend
    ran its loop, the memory budget in bytes of a streamed graph or None, whether the run computed the transpose, and
    how COMPUTE was: as a Relaxation, by affine steps, or why as it is written."""

    mode: str = "auto"
    backend: str = "auto"
    width: float | None = None
    loop: bool = False
    memory: int | None = None
    transposed: bool = False
    computed: str = ""


@dataclass(frozen=True)
class Visit:
    """One visit to a block of a streamed graph: its number, the bytes loaded (0 if it was still in memory), the
    intervals of loading and computing, by `time.perf_counter`, and how many calls of `tgraph.together` it served."""

    block: int
    nbytes: int
    loading: Interval | None
    computing: Interval
    calls: int = 1


@dataclass(frozen=True)
class Exchange:
    """One exchange of a rank with all others, of a graph spread over ranks: the bytes sent and received, and the
    intervals of their transfer and of waiting for them, in seconds since the run began."""

    rank: int
    bytes_sent: int
    bytes_received: int
    travelling: Interval
    waiting: Interval


@dataclass(frozen=True)
class Share:
    """The time and communication of one rank in one iteration of a run on a graph spread over ranks.

    begin, end : in seconds since the run began, on all ranks at once; an iteration ends where the next one begins.
    waiting, computing, travelling, hidden : the seconds of waiting for other ranks, the rest, the seconds with messages
        under way from or to the rank, and their overlap with computing.
    exchanges, bytes_sent, bytes_received : with and from other ranks.
    """

    iteration: int
    rank: int
    begin: float
    end: float
    computing: float
    waiting: float
    travelling: float
    hidden: float
    exchanges: int
    bytes_sent: int
    bytes_received: int


def shares(begins: Sequence[Sequence[float]], end: Sequence[float], exchanges: Iterable[Exchange]) -> list[Share]:
    """The share of each rank in each iteration, ordered by iteration and then rank.

    begins : of each rank, the start times of its iterations. end : of each rank, the end of its run. Exchanges before
    the first iteration count to the first.
    """
    held: dict[tuple[int, int], list[Exchange]] = {}
    for exchange in exchanges:
        iteration = max(0, bisect_right(begins[exchange.rank], exchange.waiting[0]) - 1)
        held.setdefault((iteration, exchange.rank), []).append(exchange)
    bounds = [[0.0, *own[1:], last] if own else [] for own, last in zip(begins, end, strict=True)]
    count = min(map(len, bounds), default=0) - 1
    return [
        _share(iteration, rank, (own[iteration], own[iteration + 1]), held.get((iteration, rank), []))
        for iteration in range(count)
        for rank, own in enumerate(bounds)
    ]


def _share(iteration: int, rank: int, time: Interval, exchanges: list[Exchange]) -> Share:
    waits, travels = [exchange.waiting for exchange in exchanges], [exchange.travelling for exchange in exchanges]
    waiting = _length(waits)
    return Share(
        iteration,
        rank,
        *time,
        time[1] - time[0] - waiting,
        waiting,
        _length(joined(travels)),
        _length(joined(waits + travels)) - waiting,
        len(exchanges),
        sum(exchange.bytes_sent for exchange in exchanges),
        sum(exchange.bytes_received for exchange in exchanges),
    )


def count_ranks(shares: Iterable[Share]) -> int:
    """The number of ranks of some shares, at least one."""
    return 1 + max(share.rank for share in shares)


def joined(intervals: Iterable[Interval], gap: float = 0.0) -> Iterator[Interval]:
    """The union of the intervals, as disjoint ones in ascending order, with gaps below `gap` closed."""
    begin, end = -math.inf, -math.inf
    for first, last in sorted(intervals):
        if first > end and first - end >= gap:
            if end > begin:
                yield begin, end
            begin = first
        end = max(end, last)
    if end > begin:
        yield begin, end


def _length(intervals: Iterable[Interval]) -> float:
    return sum(last - first for first, last in intervals)
