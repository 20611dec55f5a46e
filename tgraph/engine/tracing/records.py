"""What a trace consists of: iterations, visits to blocks, and exchanges between ranks."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tgraph.core.subgraph import Mode

Interval = tuple[float, float]  # begin and end, in seconds


@dataclass(frozen=True)
class Iteration:
    """One iteration: the direction that it took, the frontier it began with, what changed, how long it took, and which
    backends served it."""

    iteration: int
    direction: Mode
    active_vertices: int
    active_edges: int
    changed_vertices: int
    milliseconds: float
    backend: str = ""


@dataclass(frozen=True)
class Served:
    """Which backend served an operator, and why those preferred to it did not: {name: reason}."""

    operator: str
    backend: str | None
    refused: dict[str, str]


@dataclass
class Conditions:
    """What a run was given: the mode and the backend that were asked for, the width of its buckets (None without),
    whether a backend ran its loop, the memory budget in bytes of a streamed graph (None for others), and whether the
    run made the transpose of the graph."""

    mode: str = "auto"
    backend: str = "auto"
    width: float | None = None
    loop: bool = False
    memory: int | None = None
    transposed: bool = False


@dataclass(frozen=True)
class Visit:
    """One visit to a block of a streamed graph: its number, the bytes that were loaded for it (0 where it was still in
    memory), and when loading and computing on it began and ended, by `time.perf_counter`."""

    block: int
    nbytes: int
    loading: Interval | None
    computing: Interval


@dataclass(frozen=True)
class Exchange:
    """One exchange of a rank with all others, of a graph that is spread over ranks: the bytes that it sent to them and
    received, and when these were under way and the rank waited for them, in seconds since the run began."""

    rank: int
    bytes_sent: int
    bytes_received: int
    travelling: Interval
    waiting: Interval


@dataclass(frozen=True)
class Share:
    """What one rank did in one iteration of a run on a graph that is spread over ranks.

    begin, end : in seconds since the run began, on all ranks at once; an iteration ends where the next one begins.
    waiting, computing, travelling, hidden : the seconds in which the rank waited for others, in which it did not, in
        which anything was under way from or to it, and in which it computed of the latter.
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
    """The share of each rank in each iteration, rank by rank within these.

    begins : of each rank, when its iterations began. end : of each rank, when its run did. What was exchanged before
    the first iteration counts to that one.
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


def joined(intervals: Iterable[Interval]) -> Iterator[Interval]:
    """The intervals in ascending order, those that overlap as one."""
    begin, end = 0.0, 0.0
    for first, last in sorted(intervals):
        if first > end:
            if end > begin:
                yield begin, end
            begin = first
        end = max(end, last)
    if end > begin:
        yield begin, end


def _length(intervals: Iterable[Interval]) -> float:
    return sum(last - first for first, last in intervals)
