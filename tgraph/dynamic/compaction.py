"""Which runs are merged when, and the thread that does so.

Runs of about one size are merged once there are enough of them, and so on with what they become, as a counter carries
(O'Neil et al., "The log-structured merge-tree", 1996). The writer merges small ones; the others are left to a thread of
the store, which at last merges all of them into the CSR.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
import weakref
from collections.abc import Callable, Sequence

from tgraph.core.system import native
from tgraph.dynamic.runs import Run, Schema, merged

FANOUT = 16  # runs of one size that are merged
LARGE = 1 << 10  # changes: to merge FANOUT runs of so many takes the writer less than inserting them
SHARE = 12  # changes are merged into the CSR when there are this fraction of its arcs,
SHARE_OF_FILES = 3  # where these are read from files and written to files: a larger one costs space, and fewer writes,
_LEAST = 1 << 20  # or these


def merged_tail(schema: Schema, runs: tuple[Run, ...]) -> tuple[Run, ...]:
    """The runs with some of the small ones at the end merged, where there are enough of one size."""
    first = stable(runs)
    if len(runs) - first < FANOUT or (chosen := mergeable(runs[first:])) is None:
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
    """How many runs, from the oldest on, no writer merges any more: those up to the last that is not small."""
    count = len(runs)
    while count and runs[count - 1].size <= LARGE:
        count -= 1
    return count


def mergeable(runs: Sequence[Run]) -> tuple[int, int] | None:
    """Adjacent runs that are enough to merge: (the first, the one behind the last). Of one size, or some smaller ones
    among them, which came between; the smallest first."""
    tiers = [run.size.bit_length() // 4 for run in runs]  # a tier for each power of FANOUT
    for tier in sorted(set(tiers)):
        first = count = 0
        for end, other in enumerate(tiers, start=1):
            if other > tier:
                first, count = end, 0
            elif other == tier:
                count += 1
                if count == FANOUT:
                    return first, end
    return None


def threshold(num_arcs: int, share: int = SHARE) -> int:
    """How many changes there are at most before they are merged into a CSR of so many arcs."""
    return max(num_arcs // share, _LEAST)


class Compactor:
    """A thread that calls `step` whenever it is woken, until that returns False, at a low priority: the writer does not
    wait for it. It ends with its owner, or by `stop`. What `step` raises is kept in `fault`."""

    def __init__(self, step: Callable[[], bool]):
        self._step = weakref.WeakMethod(step)  # a store that nobody holds is freed
        self._wake, self._starting = threading.Event(), threading.Lock()
        self._thread: threading.Thread | None = None
        self._stopped = False
        self.fault: BaseException | None = None

    def wake(self) -> None:
        """Let the thread look for work."""
        if self._thread is None or not self._thread.is_alive():  # a fork has no threads
            with self._starting:  # writers come at once
                self._start()
        self._wake.set()

    def _start(self) -> None:
        if self._stopped or self.fault is not None or (self._thread is not None and self._thread.is_alive()):
            return
        thread = threading.Thread(target=self._run, name="tgraph compaction", daemon=True)
        thread.start()
        self._thread = thread
        atexit.register(self.stop)  # a kernel must not run on when the interpreter is gone

    def stop(self) -> None:
        """End the thread, when its present step is done."""
        with self._starting:
            self._stopped = True
        self._wake.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        atexit.unregister(self.stop)

    def _run(self) -> None:
        native.hold_one_thread()
        with contextlib.suppress(AttributeError, OSError):  # of this thread, where the system has such a thing
            thread = threading.get_native_id()
            os.setpriority(os.PRIO_PROCESS, thread, os.getpriority(os.PRIO_PROCESS, thread) + 5)
        while not self._stopped:
            self._wake.wait(timeout=1.0)  # now and then, to see whether the owner lives
            self._wake.clear()
            try:
                while (step := self._step()) is not None and not self._stopped and step():
                    pass
            except BaseException as fault:  # the next writer raises it
                self.fault = fault
                return
            if step is None:
                atexit.unregister(self.stop)
                return
            del step
