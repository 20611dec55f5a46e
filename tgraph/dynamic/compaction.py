"""Which runs are merged when, and the thread that does so.

Small runs are merged by the writer, four of about one size at a time, as a counter carries (O'Neil et al., "The
log-structured merge-tree", 1996); larger ones by a thread of the store, which at last merges all of them into the CSR.
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

FANOUT = 4  # runs of one size that are merged
LARGE = 1 << 14  # changes: merging so many takes the writer less than its batch
_SHARE = 12  # changes are merged into the CSR when there are this fraction of its arcs,
_LEAST = 1 << 20  # or these


def merged_tail(schema: Schema, runs: tuple[Run, ...]) -> tuple[Run, ...]:
    """The runs with the last ones merged where there are enough of one size and all are small."""
    while len(runs) >= FANOUT:
        tail = runs[-FANOUT:]
        if _tier(tail[0]) > _tier(tail[-1]) or sum([run.size for run in tail]) > LARGE:
            break
        runs = (*runs[:-FANOUT], merged(schema, tail))
    return runs


def _tier(run: Run) -> int:
    return run.size.bit_length() // 2


def is_large(run: Run) -> bool:
    """Whether a run is left to the thread to merge."""
    return run.size * FANOUT > LARGE


def mergeable(runs: Sequence[Run]) -> tuple[int, int] | None:
    """The first adjacent large runs of one size that are enough to merge: (the first, the one behind the last)."""
    first = 0
    for place, run in enumerate(runs):
        if not is_large(run):
            return None
        first = first if _tier(runs[first]) == _tier(run) else place
        if place - first + 1 == FANOUT:
            return first, place + 1
    return None


def threshold(num_arcs: int) -> int:
    """How many changes there are at most before they are merged into a CSR of so many arcs."""
    return max(num_arcs // _SHARE, _LEAST)


class Compactor:
    """A thread that calls `step` whenever it is woken, until that returns False, at a low priority: the writer does not
    wait for it. It ends with its owner, or by `stop`. What `step` raises is kept in `fault`."""

    def __init__(self, step: Callable[[], bool]):
        self._step = weakref.WeakMethod(step)  # a store that nobody holds is freed
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self._stopped = False
        self.fault: BaseException | None = None

    def wake(self) -> None:
        """Let the thread look for work."""
        if self._thread is None or not self._thread.is_alive():  # a fork has no threads
            if self._stopped or self.fault is not None:
                return
            self._thread = threading.Thread(target=self._run, name="tgraph compaction", daemon=True)
            self._thread.start()
            atexit.register(self.stop)  # a kernel must not run on when the interpreter is gone
        self._wake.set()

    def stop(self) -> None:
        """End the thread, when its present step is done."""
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
