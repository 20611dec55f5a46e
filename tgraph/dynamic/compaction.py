"""Compaction: runs are merged with each other and into the CSR, beside the writers."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

from tgraph.dynamic import tiers
from tgraph.dynamic.background import Worker
from tgraph.dynamic.guarded import Guarded
from tgraph.dynamic.head import Head
from tgraph.dynamic.levels import Levels
from tgraph.dynamic.runs import Arcs, Run
from tgraph.dynamic.version import Version
from tgraph.dynamic.writing import Writer
from tgraph.errors import ArgumentError
from tgraph.stream.memory import trim_heap

_PACE = 6  # times its usual duration, an insert waits at most for the compaction that it is ahead of


class Pace:
    """The usual duration of inserting an arc, a measure for waits of writers that outrun a background thread."""

    def __init__(self) -> None:
        self._usual = float("inf")  # seconds of an arc

    def measure(self, begun: float, size: int) -> None:
        """Take account of a batch of `size` arcs that began at `begun`. A batch that something held up must not make
        later ones wait the longer."""
        of_arc = (time.perf_counter() - begun) / max(size, 1)
        self._usual = min(of_arc, 1.1 * self._usual)

    def slow_down(self, excess: float, size: int) -> None:
        """Wait after a batch of `size` arcs, the longer the larger the excess, none below 0."""
        if excess > 0:
            time.sleep(_PACE * self._usual * size * min(excess, 1))


class Claims:
    """Runs of the newest version that threads work on: the oldest `merging`, and all from `flushing` on, None for
    none."""

    merging: int = 0
    flushing: int | None = None


class Compaction(Protocol):
    """Upkeep of a store behind its writers."""

    def check(self) -> None:
        """Raise where the store takes no changes: ArgumentError for a closed one, RuntimeError after a fault."""

    def keep_pace(self, begun: float, size: int) -> None:
        """Wake threads that have work, and wait where they are far behind, after a batch of `size` arcs that began at
        `begun`."""

    def compact(self, writing: Guarded[Writer]) -> None:
        """See `Store.compact`."""

    def close(self, writing: Guarded[Writer]) -> None:
        """See `Store.close`."""

    def info(self) -> dict[str, Any]:
        """Facts of `Store.info` on upkeep."""


class Merging:
    """The `Compaction` of a store in memory, and a part of that of one in a folder.

    attempt : the context in which work is done. merged : called after some work.
    """

    def __init__(
        self,
        head: Head,
        levels: Levels,
        attempt: Callable[[], AbstractContextManager[Any]] = nullcontext,
        merged: Callable[[], None] = lambda: None,
    ):
        self._head, self._levels, self._attempt, self._merged = head, levels, attempt, merged
        self.pace, self.claims = Pace(), Guarded(Claims())
        self.worker, self.closed = Worker(self._step), False

    def check(self) -> None:
        if self.closed:
            raise ArgumentError("the store is closed; make or open a new one")
        if (fault := self.worker.fault) is not None:
            raise RuntimeError(
                f"merging runs in the background failed ({fault}); make or open the store anew"
            ) from fault

    def keep_pace(self, begun: float, size: int) -> None:
        """See `Compaction.keep_pace`. A batch that is much of the permitted backlog is merged at once, on all
        threads."""
        self.pace.measure(begun, size)
        version = self._head.version
        most, pending = self._levels.threshold(version.base), version.pending
        if 4 * size > most or pending > 4 * most:
            version.merge()
        elif pending > most or (version.runs and version.runs[-1].size > tiers.LARGE):
            del version  # which, if it is replaced meanwhile, the other thread frees
            self.worker.wake()
            self.pace.slow_down(pending / (2 * most) - 1, size)

    def compact(self, writing: Guarded[Writer]) -> None:
        with writing:
            self.merge_all()
        trim_heap()

    def merge_all(self) -> None:
        """Merge all runs into the CSR, in this thread."""
        self._head.version.merge()
        with self._head.publishing as publication:
            publication.compact()

    def close(self, writing: Guarded[Writer]) -> None:
        self.closed = True
        self.worker.stop()

    def info(self) -> dict[str, Any]:
        return {}

    def _step(self) -> bool:
        worked = False
        with self._attempt():
            try:
                worked = self._merge_some()
            finally:
                with self.claims as claims:
                    claims.merging = 0
        if worked:
            self._merged()
        return worked

    def _merge_some(self) -> bool:
        """Merge some runs, or all that the writer leaves alone into the CSR; False where there is nothing to do."""
        with self.claims as claims:
            if (work := self._next_work(claims)) is None:
                return False
            version, (first, last), into_arcs = work
            claims.merging = last
        made: Run | Arcs
        if into_arcs:
            made = version.base.changed(version.schema, version.runs[:last], version.num_vertices).settled()
        else:
            made = self._levels.merged(version.runs[first:last])
        with self._head.publishing as publication:
            publication.replace(version, (first, last), made)
        return True

    def _next_work(self, claims: Claims) -> tuple[Version, tuple[int, int], bool] | None:
        """The runs [first, last) of a version to merge next, and whether into the CSR; None where there is nothing to
        do."""
        version = self._head.version
        free = tiers.stable(version.runs)
        runs = version.runs[: free if claims.flushing is None else min(free, claims.flushing)]
        if sum([run.size for run in runs]) > self._levels.threshold(version.base):
            return version, (0, len(runs)), True
        chosen = tiers.mergeable(runs)
        return None if chosen is None else (version, chosen, False)
