"""The threads that load blocks: one reads them in the order of the requests, one verifies them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait

Loaded = Future[tuple[float, float]]


class Loader:
    """Two threads, started with the first block, that live as long as the loader: new threads for each pass would have
    to wait for a core that the kernels occupy. A forked process starts its own."""

    def __init__(self) -> None:
        self._stages: tuple[ThreadPoolExecutor, ThreadPoolExecutor] | None = None
        self._process = 0
        self._pending: list[Loaded] = []

    def submit(self, fetch: Callable[[], object], finish: Callable[[], object]) -> Loaded:
        """Call fetch() on one thread, in order of submission, and then finish() on the other: a future of the times
        (begin, end)."""
        if self._stages is None or self._process != os.getpid():
            self._stages = (ThreadPoolExecutor(1, "tgraph-loader"), ThreadPoolExecutor(1, "tgraph-verifier"))
            self._process = os.getpid()
        loaded: Loaded = Future()
        self._pending = [each for each in self._pending if not each.done()] + [loaded]
        first, second = self._stages
        first.submit(_fetch, fetch, finish, loaded, second)
        return loaded

    def drain(self) -> None:
        """Cancel the loads that have not begun and wait for the others."""
        for loaded in self._pending:
            loaded.cancel()
        wait([loaded for loaded in self._pending if not loaded.cancelled()])
        self._pending = []


def _fetch(fetch: Callable[[], object], finish: Callable[[], object], loaded: Loaded, then: ThreadPoolExecutor) -> None:
    if not loaded.set_running_or_notify_cancel():
        return
    start = time.perf_counter()
    try:
        fetch()
        then.submit(_finish, finish, loaded, start)
    except BaseException as fault:
        loaded.set_exception(fault)


def _finish(finish: Callable[[], object], loaded: Loaded, start: float) -> None:
    try:
        finish()
    except BaseException as fault:
        loaded.set_exception(fault)
    else:
        loaded.set_result((start, time.perf_counter()))
