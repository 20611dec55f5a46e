"""Tiers of runs by size, and the runs to merge next.

Runs of one tier are merged once there are enough of them, into one of the next tier, as a counter carries (O'Neil et
al., "The log-structured merge-tree", 1996). The writer merges small runs; a thread merges the others, and at last all
into the CSR.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tgraph.dynamic.runs import Run, Schema, merged

FANOUT = 16  # runs of one size that are merged by the thread,
FANOUT_OF_WRITER = 8  # and by the writer, whose batch waits for it
LARGE = 1 << 10  # changes; to merge so many runs of this size takes the writer less time than to insert them
SHARE = 12  # changes are merged into the CSR when they reach this fraction of its arcs,
SHARE_OF_FILES = 3  # a larger one where arcs lie in files, which takes space and saves writes,
_LEAST = 1 << 20  # but not below this number


def merged_tail(schema: Schema, runs: tuple[Run, ...]) -> tuple[Run, ...]:
    """The runs with some of the small ones at the end merged, where there are enough of one size."""
    first = stable(runs)
    if len(runs) - first < FANOUT_OF_WRITER or (chosen := mergeable(runs[first:], FANOUT_OF_WRITER)) is None:
        return runs
    begin, end = first + chosen[0], first + chosen[1]
    return merged_tail(schema, (*runs[:begin], merged(schema, runs[begin:end]), *runs[end:]))


def merged_all(merge: Callable[[Sequence[Run]], Run], runs: tuple[Run, ...]) -> tuple[Run, ...]:
    """The runs, merged wherever there are enough of one size."""
    while (chosen := mergeable(runs)) is not None:
        begin, end = chosen
        runs = (*runs[:begin], merge(runs[begin:end]), *runs[end:])
    return runs


def stable(runs: Sequence[Run]) -> int:
    """Number of oldest runs that no writer merges any more: those up to the last large one."""
    count = len(runs)
    while count and runs[count - 1].size <= LARGE:
        count -= 1
    return count


def mergeable(runs: Sequence[Run], fanout: int = FANOUT) -> tuple[int, int] | None:
    """Adjacent runs [first, last) that are enough to merge, of one tier, with smaller ones among them; the smallest
    tier first. fanout : how many are enough, a power of two."""
    width = fanout.bit_length() - 1  # a tier for each power of the fan-out
    tiers = [run.size.bit_length() // width for run in runs]
    for tier in sorted(set(tiers)):
        first = count = 0
        for end, other in enumerate(tiers, start=1):
            if other > tier:
                first, count = end, 0
            elif other == tier:
                count += 1
                if count == fanout:
                    return first, end
    return None


def threshold(num_arcs: int, share: int = SHARE) -> int:
    """The number of changes above which they are merged into a CSR of `num_arcs` arcs."""
    return max(num_arcs // share, _LEAST)
