"""The levels of a store over time, and their picture."""

from __future__ import annotations

import threading
import time
from typing import Any, NamedTuple

from tgraph.dynamic.store import Store
from tgraph.errors import ArgumentError


class Moment(NamedTuple):
    """The levels of a store at some time.

    seconds : since the beginning. version : the number of batches. runs : the changes in each run, oldest first.
    bytes_of_csr, bytes_of_runs : of the arcs with their data. write_amplification : changes and arcs written for each
    change inserted.

    >>> store = tg.dynamic.Store()
    >>> with tg.dynamic.History(store) as history:
    ...     store.insert([0, 1], [1, 2])
    1
    >>> [moment.version for moment in (history.moments[0], history.moments[-1])]
    [0, 1]
    """

    seconds: float
    version: int
    runs: tuple[int, ...]
    bytes_of_csr: int
    bytes_of_runs: int
    write_amplification: float


class History:
    """The levels of a store while a block of code changes it, sampled by a thread.

    seconds : between two samples, which cost microseconds. `moments` holds them, with those at the beginning and the
    end. Raises ArgumentError where `seconds` is not positive.

    >>> store = tg.dynamic.Store()
    >>> with tg.dynamic.History(store) as history:
    ...     store.insert_from([([0, 1], [1, 2]), ([2], [0])])
    2
    >>> history.moments[0].version, history.moments[-1].version
    (0, 2)
    """

    def __init__(self, store: Store, seconds: float = 0.05):
        if not seconds > 0:
            raise ArgumentError(f"seconds: expected more than 0, got {seconds!r}")
        self.moments: list[Moment] = []
        self._store, self._seconds, self._done = store, seconds, threading.Event()

    def __enter__(self) -> History:
        self._begin = time.perf_counter()
        self._thread = threading.Thread(target=self._watch, name="tgraph history", daemon=True)
        self._look()
        self._thread.start()
        return self

    def __exit__(self, *fault: object) -> None:
        self._done.set()
        self._thread.join()
        self._look()

    def _watch(self) -> None:
        while not self._done.wait(self._seconds):
            self._look()

    def _look(self) -> None:
        facts = self._store.info()
        sizes = (facts["bytes of CSR"], facts["bytes of runs"], facts["write amplification"])
        self.moments.append(Moment(time.perf_counter() - self._begin, facts["version"], tuple(facts["runs"]), *sizes))

    def plot(self, path: str | Any) -> None:
        """Draw the levels into a picture file, .png, .svg or .pdf: bytes of the CSR and of runs by their size, and the
        number of runs and the write amplification below. Raises ArgumentError before the first look.

        >>> store = tg.dynamic.Store()
        >>> with tg.dynamic.History(store) as history:
        ...     store.insert([0, 1], [1, 2])
        1
        >>> history.plot("levels.png")
        """
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        if not self.moments:
            raise ArgumentError("history: nothing was seen yet; use it in a with statement")
        figure = Figure(figsize=(10, 6), layout="constrained")
        FigureCanvasAgg(figure)
        upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
        seconds = [moment.seconds for moment in self.moments]
        levels = self._levels()
        upper.stackplot(seconds, *levels.values(), labels=levels, step="post")
        upper.set(ylabel="MB of arcs and changes", title=f"{self.moments[-1].version:,} batches")
        upper.legend(loc="upper left", frameon=False)
        lower.step(seconds, [len(moment.runs) for moment in self.moments], where="post", label="runs")
        lower.step(
            seconds, [moment.write_amplification for moment in self.moments], where="post", label="write amplification"
        )
        lower.set(xlabel="seconds", ylim=(0, None))
        lower.legend(loc="upper left", frameon=False)
        figure.savefig(path, dpi=120)

    def _levels(self) -> dict[str, list[float]]:
        """{level: MB at each moment}: the CSR, and runs of up to 16, 256, 4,096 ... changes."""
        tiers = sorted({_tier(size) for moment in self.moments for size in moment.runs}, reverse=True)
        levels = {"CSR": [moment.bytes_of_csr / 1e6 for moment in self.moments]}
        for tier in tiers:
            shares = [
                sum(size for size in moment.runs if _tier(size) == tier) / max(1, sum(moment.runs))
                for moment in self.moments
            ]
            levels[f"runs of up to {16**tier:,} changes"] = [
                share * moment.bytes_of_runs / 1e6 for share, moment in zip(shares, self.moments, strict=True)
            ]
        return levels


def _tier(size: int) -> int:
    return -(-max(size - 1, 0).bit_length() // 4)
