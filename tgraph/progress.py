"""Progress bars for whoever looks.

A function with an option `progress` shows its bar where that is True. All others, and everything that these call, show
one within `shown()`, which the `tgraph` command enters, on a terminal and for what takes more than two seconds; one bar
at a time, the outermost. TGRAPH_PROGRESS=1 in the environment is `shown()` for the whole process, and TGRAPH_PROGRESS=0
turns all bars off.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sized
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any, TypeVar

from tgraph.terminal import harmless

T = TypeVar("T")

VARIABLE = "TGRAPH_PROGRESS"
# The dictionary behind `os.environ`, which encodes the name in every lookup: each run asks.
_ENVIRONMENT, _KEY = os.environ._data, os.environ.encodekey(VARIABLE)  # type: ignore[attr-defined]
DELAY = 2.0  # seconds, before which nobody wonders
TICK = 0.5

_is_shown = ContextVar("is_shown", default=False)
_open_bars: list[Any] = []
_busy_with: list[str] = []  # the outermost first


@contextmanager
def shown(show: bool = True) -> Iterator[None]:
    """A context in which what takes more than two seconds shows its progress on the terminal; where `show` is False, it
    does not.

    >>> with tg.progress.shown():
    ...     ranks = tg.algorithms.pagerank(tg.generators.rmat(10))
    """
    before = _is_shown.set(show)
    try:
        yield
    finally:
        _is_shown.reset(before)


def is_wanted(asked: bool = False) -> bool:
    """Whether to show a bar now: `asked` for, or within `shown()` on a terminal, where there is none yet.

    >>> tg.progress.is_wanted()
    False
    """
    told = os.environ[VARIABLE] if _KEY in _ENVIRONMENT else ""
    if told == "0":
        return False
    return asked or ((_is_shown.get() or told == "1") and not _open_bars and sys.stderr.isatty())


@contextmanager
def bar(
    what: str, *, total: float | None = None, unit: str = "it", asked: bool = False, **options: Any
) -> Iterator[Any]:
    """A tqdm bar for `what`, with its `update`; one that is not wanted takes no time.

    total : how many there are, where that is known. unit : what is counted. asked : show it at once, also where nobody
    looks. options : those of tqdm.

    >>> with tg.progress.bar("bytes", total=100, unit="B") as bar:
    ...     for size in (60, 40):
    ...         done = bar.update(size)
    """
    from tqdm import tqdm

    if not is_wanted(asked):
        yield tqdm(disable=True)
        return
    options |= {"total": total, "unit": unit, "delay": 0 if asked else DELAY, "file": sys.stderr}
    with tqdm(desc=harmless(what), **options) as found:
        _open_bars.append(found)
        try:
            yield found
        finally:
            _open_bars.remove(found)


def track(
    items: Iterable[T], what: str, *, total: float | None = None, unit: str = "it", asked: bool = False
) -> Iterable[T]:
    """The `items`, counted by a bar where one is wanted. `what`, `total` (by default the length of the items), `unit`
    and `asked` are those of `bar`.

    >>> [source for source in tg.progress.track([3, 5], "searches")]
    [3, 5]
    """
    return _tracked(items, what, total, unit, asked) if is_wanted(asked) else items


def _tracked(items: Iterable[T], what: str, total: float | None, unit: str, asked: bool) -> Iterator[T]:
    total = len(items) if total is None and isinstance(items, Sized) else total
    with bar(what, total=total, unit=unit, asked=asked) as found:
        for item in items:
            yield item
            found.update()


@contextmanager
def busy(what: str) -> Iterator[None]:
    """A context that shows `what` is being done and for how long, where a bar is wanted: for what cannot be counted.
    Within it others add what they do, and show bars, which take its place.

    >>> with tg.progress.busy("order by degree"):
    ...     graph = tg.generators.rmat(10).reorder("degree")
    """
    if not is_wanted():
        yield
        return
    _busy_with.append(what)
    try:
        with nullcontext() if len(_busy_with) > 1 else _clock():
            yield
    finally:
        _busy_with.remove(what)


@contextmanager
def _clock() -> Iterator[None]:
    done = threading.Event()
    clock = threading.Thread(target=_tick, args=(done, time.monotonic()), daemon=True)
    clock.start()
    try:
        yield
    finally:
        done.set()
        clock.join()


def _tick(done: threading.Event, begin: float) -> None:
    from tqdm import tqdm

    if done.wait(DELAY):
        return
    found = None
    while not done.is_set():
        if not any(map(_is_visible, _open_bars)):
            found = tqdm(bar_format="{desc}", leave=False, file=sys.stderr) if found is None else found
            found.set_description_str(
                f"{harmless(': '.join(_busy_with))}: {tqdm.format_interval(time.monotonic() - begin)}"
            )
        elif found is not None:
            found.close()
            found = None
        done.wait(TICK)
    if found is not None:
        found.close()


def _is_visible(bar: Any) -> bool:
    """Whether a bar has been drawn, which waits until its delay is over and something is counted."""
    return bar.delay <= 0 or bar.last_print_t > bar.start_t
