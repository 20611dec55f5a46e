"""Threads that work for a store beside its writers."""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
import weakref
from collections.abc import Callable

from tgraph.core.system import native


class Worker:
    """A thread of low priority that calls `step`, a method of its owner, when it is woken, until that returns False.

    It ends with its owner, or by `stop`. fault : the exception that ended it, None for none.
    """

    def __init__(self, step: Callable[[], bool]):
        self._step = weakref.WeakMethod(step)  # an unreferenced store is freed
        self._wake, self._starting = threading.Event(), threading.Lock()
        self._thread: threading.Thread | None = None
        self.stopped = False
        self.fault: BaseException | None = None

    def wake(self) -> None:
        """Wake the thread, which is started if need be."""
        if self._thread is None or not self._thread.is_alive():  # a fork has no threads
            with self._starting:  # writers come at once
                self._start()
        self._wake.set()

    def _start(self) -> None:
        if self.stopped or self.fault is not None or (self._thread is not None and self._thread.is_alive()):
            return
        thread = threading.Thread(target=self._run, name="tgraph compaction", daemon=True)
        thread.start()
        self._thread = thread
        atexit.register(self.stop)  # no kernel may run after the interpreter has ended

    def stop(self) -> None:
        """End the thread, when its present step is done."""
        with self._starting:
            self.stopped = True
        self._wake.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        atexit.unregister(self.stop)

    def _run(self) -> None:
        native.hold_one_thread()
        with contextlib.suppress(AttributeError, OSError):  # thread priorities are Linux's
            thread = threading.get_native_id()
            os.setpriority(os.PRIO_PROCESS, thread, os.getpriority(os.PRIO_PROCESS, thread) + 5)
        while not self.stopped:
            self._wake.wait(timeout=1.0)  # now and then, to see whether the owner lives
            self._wake.clear()
            try:
                while (step := self._step()) is not None and not self.stopped and step():
                    pass
            except BaseException as fault:  # the next writer raises it
                self.fault = fault
                return
            if step is None:
                atexit.unregister(self.stop)
                return
            del step
