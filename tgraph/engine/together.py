"""Several calls that share what they read: a pass over a graph in a file serves all that wait for one.

Each call has a thread of its own, but one thread runs at a time, as coroutines do: a call runs until it needs blocks of
a file, and then the next one. When all wait, the thread of the `with` block reads, and each block is computed on by all
that need it, one call after the other, while it is in memory.
"""

from __future__ import annotations

import contextvars
import reprlib
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from queue import SimpleQueue
from typing import Any, Generic, Literal, Protocol, TypeVar

import torch

from tgraph.core.derived import is_computing
from tgraph.errors import ArgumentError

T = TypeVar("T")

AT_ONCE = 64  # calls that have begun and not ended

_current: contextvars.ContextVar[Call[Any] | None] = contextvars.ContextVar("current call", default=None)


class Wanted(Protocol):
    """Blocks that a call wants to be read from a source."""

    def alone(self, source: Any) -> None:
        """Read it, or the rest of it. Raises the errors of reading."""

    @staticmethod
    def together(source: Any, asked: list[Asked]) -> None:
        """Read for all that `asked`, and set `met` of those that need no more. Raises the errors of reading."""


class Asked:
    """A wait of a call: something is to be read from a source."""

    def __init__(self, call: Call[Any], source: Any, wanted: Any):
        self.call, self.source, self.wanted, self.is_met = call, source, wanted, False

    def give(self, step: Callable[[], object]) -> bool:
        """Run a step in the thread of the call, and return whether the call still waits: a step that fails ends it."""
        self.call.resume(step)
        return self.waits

    @property
    def waits(self) -> bool:
        """Whether the call still waits for this."""
        return self.call.asked is self


class Call(Generic[T]):
    """One of the calls of a `tgraph.together`.

    >>> with tg.together() as calls:
    ...     depth = calls(tg.algorithms.bfs, tg.generators.path(3), 0)
    >>> depth.result()
    tensor([0, 1, 2])
    """

    asked: Asked | None = None  # while it waits for blocks
    until: Callable[[], bool] | None = None  # while it waits for other calls
    is_short = False  # whether it does so for memory

    def __init__(self, calls: Calls, function: Callable[..., T], given: tuple[Any, ...], options: dict[str, Any]):
        self.calls = calls
        self._function = partial(function, *given, **options)
        values = [*map(reprlib.repr, given), *(f"{name}={reprlib.repr(each)}" for name, each in options.items())]
        self._text = f"{getattr(function, '__name__', type(function).__name__)}({', '.join(values)})"
        self._results: list[T] = []
        self.error: BaseException | None = None
        self._modes = torch.is_inference_mode_enabled(), torch.is_grad_enabled()
        self.has_ended = self._has_begun = self._runs = False
        self._to: SimpleQueue[Callable[[], object] | None] = SimpleQueue()
        self._from: SimpleQueue[None] = SimpleQueue()

    def __repr__(self) -> str:
        return self._text

    def result(self) -> T:
        """The result of the call, once the `with` block has ended. Raises what the call raised, and ArgumentError
        before the end of the block and for a call that did not run, since the block raised an error.

        >>> with tg.together() as calls:
        ...     total = calls(sum, [1, 2])
        >>> total.result()
        3
        """
        if self.error is not None:
            raise self.error
        if not self._results:
            if self.calls.phase == "over":
                raise ArgumentError(f"result: {self} did not run: the `with` block raised an error before; mend that")
            raise ArgumentError("result: calls run at the end of `with tgraph.together()`; ask for results after it")
        return self._results[0]

    @property
    def goes_on(self) -> bool:
        """Whether it has not ended, and does not wait for other calls to end."""
        return not self.has_ended and self.until is None

    # ---- in the thread of the `with` block ---------------------------------------------------------------------------

    def start(self) -> None:
        """Begin, in a thread that has the settings of this one."""
        context, name = contextvars.copy_context(), f"tgraph {self._text}"
        threading.Thread(target=context.run, args=(self._begin,), name=name, daemon=True).start()
        self._has_begun = True
        self.resume()

    def run(self) -> None:
        """Run from the beginning to the end, in this thread, with gradients as where it was noted."""
        for_inference, with_gradients = self._modes
        try:
            with torch.inference_mode(for_inference), torch.set_grad_enabled(with_gradients):
                self._results.append(self._function())
        except BaseException as error:
            self.error = error
        del self._function  # and what was given
        self.has_ended = True

    def resume(self, step: Callable[[], object] | None = None) -> None:
        """Run a step in the thread of the call, or else continue it, until it waits again or has ended."""
        self._runs = True
        self._to.put(step)
        self._from.get()
        self._runs = False

    def stop(self) -> None:
        """Raise an interrupt in the call, wherever it waits, until it has ended."""
        if self._runs:
            self._from.get()
        while self._has_begun and not self.has_ended:
            self.resume(_interrupt)

    # ---- in the thread of the call -----------------------------------------------------------------------------------

    def _begin(self) -> None:
        _current.set(self)
        self._to.get()
        self.run()
        self._from.put(None)

    def ask(self, source: Any, wanted: Wanted) -> None:
        """Wait until what is wanted has been read from a source."""
        self.asked = Asked(self, source, wanted)
        try:
            self._wait()
        finally:
            self.asked = None

    def wait_until(self, condition: Callable[[], bool], for_memory: bool) -> None:
        """Wait until the `condition` holds; if `for_memory`, also until no other call can go on."""
        if condition():
            return
        self.until, self.is_short = condition, for_memory
        try:
            self._wait()
        finally:
            self.until, self.is_short = None, False

    def _wait(self) -> None:
        self._from.put(None)
        while (step := self._to.get()) is not None:
            step()
            self._from.put(None)


def current() -> Call[Any] | None:
    """The call of a `together` that runs in this thread, None elsewhere, and while data is derived that the others may
    have to wait for."""
    call = _current.get()
    return None if call is None or is_computing() else call


class Calls:
    """Calls that share what they read; made by `tgraph.together`."""

    phase: Literal["noted", "running", "over"] = "noted"

    def __init__(self) -> None:
        self._all: list[Call[Any]] = []
        self._coming: deque[Call[Any]] = deque()
        self._begun: list[Call[Any]] = []

    def __call__(self, function: Callable[..., T], *given: Any, **options: Any) -> Call[T]:
        """Note function(*given, **options), to be called at the end of the `with` block, with gradients as here. Raises
        ArgumentError for what is no function, and where the block has ended.

        >>> with tg.together() as calls:
        ...     label = calls(tg.algorithms.wcc, tg.generators.path(3))
        >>> label.result()
        tensor([0, 0, 0])
        """
        if not callable(function):
            raise ArgumentError(f"function: expected a function, then its arguments, got {reprlib.repr(function)}")
        if self.phase != "noted":
            raise ArgumentError("calls: the `with` block has ended; note calls in it, or in a new `tgraph.together`")
        self._all.append(Call(self, function, given, options))
        return self._all[-1]

    def run(self) -> None:
        """Run all calls to their ends; then raise the error of the first that failed, with a note that names it."""
        call = _current.get()
        if is_computing():  # other threads may need what this one derives
            for each in self._all:
                each.run()
        elif call is None:
            self._coming.extend(self._all)
            self._run()
        else:  # among the calls of an outer `together`
            for each in self._all:
                each.calls = call.calls
            call.calls._coming.extend(self._all)
            call.wait_until(lambda: all(each.has_ended for each in self._all), for_memory=False)
        ended, self._all = self._all, []
        for number, each in enumerate(ended, 1):
            if each.error is not None:
                if hasattr(each.error, "add_note"):  # Python 3.11
                    each.error.add_note(f"in call {number} of {len(ended)} of tgraph.together: {each}")
                raise each.error

    def _run(self) -> None:
        try:
            while self._coming or self._begun:
                self._go_on()
                self._begun = [call for call in self._begun if not call.has_ended]
        except BaseException:
            for call in self._begun:
                call.stop()
            raise

    def _go_on(self) -> None:
        """Let one call continue, or begin one, as long as there is memory; or else read for all that wait."""
        ready = next((call for call in self._begun if call.until is not None and call.until()), None)
        short = next((call for call in self._begun if call.is_short), None)
        if ready is not None:
            ready.resume()
        elif short is None and self._coming and sum(call.goes_on for call in self._begun) < AT_ONCE:
            self._begun.append(self._coming.popleft())
            self._begun[-1].start()
        elif asked := [call.asked for call in self._begun if call.asked is not None]:
            for source in {id(each.source): each.source for each in asked}.values():
                _read(source, [each for each in asked if each.source is source])
        elif short is not None:
            short.resume()  # alone, it finds out itself that its memory is too small


def _read(source: Any, asked: list[Asked]) -> None:
    """One reading for all that ask. After one that fails each reads alone, so that only those fail that need what
    cannot be read."""
    try:
        asked[0].wanted.together(source, asked)
    except Exception:
        for each in asked:
            each.is_met = each.waits and each.give(partial(each.wanted.alone, source))
    for each in asked:
        if each.is_met and each.waits:
            each.call.resume()


def _interrupt() -> None:
    raise KeyboardInterrupt


@contextmanager
def together() -> Iterator[Calls]:
    """A `with` block at whose end the calls noted in it run, and share what they read of graphs in files.

    A graph that is streamed (`tgraph.open`, or with `memory=`) is read from the disk by each run anew. Of calls noted
    in one `with` block, a pass over the file serves all that wait for it: searches from several sources, other
    programs, layers. Each has the values that it has alone. As many run at once as their vertex data leaves blocks in
    the budget, at most 64; the others follow, as do those of a graph that stays in memory beside one of them. Calls
    that read nothing run one after the other. A call records gradients where they were recorded as it was noted.

    The first error of a call is raised at the end of the block, once the others have ended, with a note that names the
    call; they have their results.

    >>> tg.write(tg.generators.grid2d(20, 20), "grid.tg")
    >>> graph = tg.open("grid.tg", memory="1MB")
    >>> with tg.together() as calls:
    ...     depth = calls(tg.algorithms.bfs, graph, 0)
    ...     rank = calls(tg.algorithms.pagerank, graph)
    >>> int(depth.result().max()), round(float(rank.result().sum()), 3)
    (38, 1.0)
    """
    calls = Calls()
    try:
        yield calls
        calls.phase = "running"
        calls.run()
    finally:
        calls.phase = "over"
