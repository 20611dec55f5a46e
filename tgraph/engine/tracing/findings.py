"""Diagnoses of slow runs, with remedies: rules on the trace, each with its evidence in numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tgraph.core.system.text import counted, duration, in_bytes
from tgraph.engine.tracing.data import TraceData
from tgraph.engine.tracing.records import Interval, Iteration, joined

WORTHWHILE = 10  # milliseconds of a run that is worth a remark
MUCH = 0.3  # fraction of the time of a run that is worth a remark
FEW_EDGES = 1000  # active edges that occupy one thread at most
MANY_ITERATIONS = 50
SMALL_MESSAGES = 1 << 16  # bytes: below, latency dominates the time of an exchange


@dataclass(frozen=True)
class Finding:
    """A cause of much of the time, and its remedy, empty without one."""

    what: str
    remedy: str = ""


def findings(trace: TraceData) -> list[Finding]:
    """The diagnosed causes of much of the time of a run, the most specific first; empty below 10 ms."""
    if trace.milliseconds < WORTHWHILE:
        return []
    rules = (waiting_for_the_disk, transposing, asked_direction, slow_backend, waiting_for_ranks, small_iterations)
    return [finding for rule in rules if (finding := rule(trace)) is not None]


def waiting_for_the_disk(trace: TraceData) -> Finding | None:
    """Computing waited for block reads; where blocks were read repeatedly, a larger budget caches them."""
    loads = [visit for visit in trace.visits if visit.loading is not None]
    if not loads:
        return None
    computing = [visit.computing for visit in trace.visits]
    loading = [visit.loading for visit in loads if visit.loading is not None]
    busy, both = length(computing), length([*computing, *loading])
    if both - busy < MUCH * both:
        return None
    read, blocks = sum(visit.nbytes for visit in loads), {visit.block: visit.nbytes for visit in loads}
    once = sum(blocks.values())
    what = f"Computing waited for the disk in {(both - busy) / both:.0%} of the time: {in_bytes(read)} were loaded"
    if read <= 1.2 * once:
        return Finding(
            f"{what}, each block about once, at {in_bytes(read / max(length(loading), 1e-9))}/s.",
            "More memory would not help one run: it has to read the graph once. Later runs on the same graph reuse the "
            "blocks in memory.",
        )
    what = f"{what}, every block {read / once:.1f} times on average."
    if trace.conditions.memory is None:  # the part of a rank
        return Finding(what, "A larger memory= caches more of them between iterations; so do more ranks.")
    enough = trace.conditions.memory + once
    return Finding(
        what,
        f'With memory="{-(-enough // 10**6)}MB" in place of {in_bytes(trace.conditions.memory)} every used block stays '
        "in memory and is loaded once.",
    )


def transposing(trace: TraceData) -> Finding | None:
    """The first pull of a directed graph computed its transpose."""
    pulls = [step.milliseconds for step in trace.iterations if step.direction == "pull"]
    if not trace.conditions.transposed or not pulls or max(pulls) < MUCH * trace.milliseconds:
        return None
    return Finding(
        f"The run computed the transpose of the graph, for pulls: one iteration took {max(pulls):,.1f} of "
        f"{trace.milliseconds:,.1f} ms.",
        "It is cached with the graph: later runs save that time. graph.transpose() computes it before the first run.",
    )


def asked_direction(trace: TraceData) -> Finding | None:
    """The user fixed a direction, and the other one suits many iterations better."""
    mode = trace.conditions.mode
    if mode == "pull":
        odd = [step for step in trace.iterations if step.active_edges < 0.05 * trace.num_arcs]
        why = "had few active edges, and a pull reads the arcs of all vertices that may still change"
    elif mode == "push":
        odd = [step for step in trace.iterations if step.active_edges > 0.2 * trace.num_arcs]
        why = "had many active edges, where a pull can end its search at a vertex early"
    else:
        return None
    share = _share(trace, odd)
    everywhere = all(step.active_vertices == trace.num_vertices for step in trace.iterations)
    if len(trace.iterations) < 2 or share < MUCH or everywhere:
        return None
    steps = counted(len(odd), "iteration")
    return Finding(
        f'mode="{mode}" was asked for: {steps} with {share:.0%} of the time {why}.',
        'mode="auto" chooses the direction of each iteration; the values are the same.',
    )


def slow_backend(trace: TraceData) -> Finding | None:
    """Portable code ran calls that compiled kernels do not support."""
    slow = [step for step in trace.iterations if "portable" in step.backend.split("+")]
    reasons = [each for each in trace.served if each.backend == "portable" and each.operator != "fixpoint"]
    if _share(trace, slow) < MUCH or not reasons:
        return None
    what = f"Portable torch code ran {reasons[0].operator} in {_share(trace, slow):.0%} of the time"
    if trace.conditions.backend == "portable":
        return Finding(f"{what}, as was asked for.", 'backend="auto" uses compiled kernels where they support a call.')
    name, why = next(iter(reasons[0].refused.items()), ("", ""))
    return Finding(f"{what}.", f"The backend {name} is faster, and does not support the call: {why}." if name else "")


def waiting_for_ranks(trace: TraceData) -> Finding | None:
    """Ranks waited for the slowest one, or for messages."""
    if not trace.shares:
        return None
    computing: dict[int, float] = {}
    for share in trace.shares:
        computing[share.rank] = computing.get(share.rank, 0.0) + share.computing
    waiting, busy = sum(share.waiting for share in trace.shares), sum(computing.values())
    if waiting < MUCH * (waiting + busy):
        return None
    slowest = max(computing, key=lambda rank: computing[rank])
    uneven = computing[slowest] * len(computing) / busy if busy else 1.0
    what = f"Ranks waited in {waiting / (waiting + busy):.0%} of their time"
    if uneven > 1.3:
        return Finding(
            f"{what}: rank {slowest} computed {uneven:.1f} times as long as the ranks did on average.",
            'Cut the graph more evenly: tg.distributed.open(path, cut="hubs") shares out the arcs of large vertices; '
            "and see that rank's machine has no other load.",
        )
    exchanges = sum(share.exchanges for share in trace.shares)
    each = sum(share.bytes_sent for share in trace.shares) / max(exchanges, 1)
    if each < SMALL_MESSAGES:
        return Finding(
            f"{what}, in {exchanges:,} exchanges of {in_bytes(each)} on average: latency dominates, not bandwidth.",
            "Fewer ranks wait less; a graph that fits one machine is faster there.",
        )
    return Finding(
        f"{what}, in {exchanges:,} exchanges of {in_bytes(each)} on average: the network is slow.",
        "Parts with fewer arcs between them send less: tgraph partition --method wcp; tgraph doctor under torchrun "
        "measures the network.",
    )


def small_iterations(trace: TraceData) -> Finding | None:
    """Most of the time was spent in many iterations with few active edges."""
    small = [step for step in trace.iterations if step.active_edges < FEW_EDGES]
    share = _share(trace, small)
    if len(small) < MANY_ITERATIONS or share < 0.5:
        return None
    each = duration(sum(step.milliseconds for step in small) / 1e3 / len(small))
    what = (
        f"{len(small):,} of {len(trace.iterations):,} iterations had fewer than {FEW_EDGES:,} active edges, and "
        f"{share:.0%} of the time: {each} each."
    )
    if (width := trace.conditions.width) is not None:
        return Finding(what, f"Wider buckets make fewer, fuller ones: try delta={4 * width:g} in place of {width:g}.")
    if not trace.conditions.loop:
        return Finding(
            what,
            "Each iteration runs Python code. A program that is a minimum or maximum over paths, declared as a "
            "tg.Relaxation without steps of its own, has its whole loop in compiled code.",
        )
    return Finding(what, "No setting shortens that: the graph is deep, and an iteration waits for the one before it.")


def length(intervals: Iterable[Interval]) -> float:
    """The length of the union of the intervals."""
    return sum(last - first for first, last in joined(intervals))


def _share(trace: TraceData, steps: list[Iteration]) -> float:
    return sum(step.milliseconds for step in steps) / trace.milliseconds if trace.milliseconds else 0.0
