"""Timing: blocks of calls that take turns, so that a noisy machine hits all systems alike.

A block is one source (or one repetition of a kernel that has none): every system in turn makes one untimed call and a
few timed ones. A ratio is taken within a block, from the medians of the two systems; what is reported is the median
over blocks, and how far they spread.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

K, T = TypeVar("K"), TypeVar("T")
VERY_LONG = 10.0  # seconds
PAUSE = 0.01  # seconds between systems, in which the idle threads of the last one's pool stop spinning


class Contestant(Protocol):
    """A system on one kernel. Both methods check what was computed, and raise WrongResult."""

    name: str

    def first(self, argument: Any) -> float:
        """Seconds of a call, by which the others are planned."""

    def block(self, argument: Any, warm: bool, repeat: int) -> list[float]:
        """Seconds of `repeat` calls, after an untimed one if `warm`."""


def timed(call: Callable[..., T], *arguments: Any, **named: Any) -> tuple[float, T]:
    """Seconds of a call, and its result."""
    start = time.perf_counter()
    result = call(*arguments, **named)
    return time.perf_counter() - start, result


def in_turns(calls: Mapping[K, Callable[[], Any]], turns: int, warm: int = 1) -> dict[K, list[float]]:
    """Seconds of calls that take turns, by name; the first `warm` turns are not counted."""
    taken: dict[K, list[float]] = {name: [] for name in calls}
    for turn in range(turns + warm):
        for name, call in calls.items():
            seconds = timed(call)[0]
            if turn >= warm:
                taken[name].append(seconds)
    return taken


def medians(taken: Mapping[K, Sequence[float]]) -> dict[K, float]:
    return {name: statistics.median(seconds) for name, seconds in taken.items()}


def milliseconds(calls: Mapping[K, Callable[[], Any]], turns: int) -> dict[K, float]:
    """The median of each of some calls in turn."""
    return {name: 1e3 * seconds for name, seconds in medians(in_turns(calls, turns)).items()}


@dataclass
class Settings:
    """repeat : timed calls in a block. budget : seconds that a cell may take, about. slow : a call that takes longer
    is made once."""

    repeat: int = 3
    budget: float = 4.0
    slow: float = 2.0


@dataclass
class Samples:
    """Seconds of every timed call, by block; `error` where the system failed."""

    blocks: dict[int, list[float]] = field(default_factory=dict)
    error: str | None = None


def unchecked(argument: Any, result: Any) -> None:
    """For results that have been compared before."""


@dataclass
class Called:
    """A contestant within this process: `call` is timed, `check` (which raises WrongResult) is not."""

    name: str
    call: Callable[[Any], Any]
    check: Callable[[Any, Any], None] = unchecked

    def first(self, argument: Any) -> float:
        """The first call also fills caches: unless it takes very long, a second one is measured."""
        seconds = self.timed(argument)
        return self.timed(argument) if seconds < VERY_LONG else seconds

    def block(self, argument: Any, warm: bool, repeat: int) -> list[float]:
        if warm:
            self.call(argument)
        # One after the other, as GAPBS makes them: a check in between would leave its own data in the caches.
        calls = [timed(self.call, argument) for _ in range(repeat)]
        for _, result in calls:
            self.check(argument, result)
        return [seconds for seconds, _ in calls]

    def timed(self, argument: Any) -> float:
        seconds, result = timed(self.call, argument)
        self.check(argument, result)
        return seconds


def plan(first: float, blocks: int, settings: Settings) -> tuple[int, bool, int]:
    """(blocks, whether each starts with an untimed call, timed calls in each) for a call that takes `first` seconds.

    Zero blocks where the first call alone was slow, and is all there will be.
    """
    if first > settings.slow:
        return 0, False, 0
    calls = settings.budget / max(first, 1e-9)
    if calls >= blocks * (1 + settings.repeat):
        return blocks, True, settings.repeat
    if calls >= 2 * blocks:
        return blocks, True, int(calls / blocks) - 1
    return max(1, min(blocks, int(calls))), False, 1


def interleave(contestants: Sequence[Contestant], arguments: Sequence[Any], settings: Settings) -> dict[str, Samples]:
    """Measure all contestants on all arguments, one block each in turn; one that fails is left out from there on."""
    samples = {contestant.name: Samples() for contestant in contestants}
    plans: dict[str, tuple[int, bool, int]] = {}
    for contestant in contestants:
        with recording_failure(samples[contestant.name]):
            seconds = contestant.first(arguments[0])
            plans[contestant.name] = plan(seconds, len(arguments), settings)
            if plans[contestant.name][0] == 0:
                samples[contestant.name].blocks[0] = [seconds]
    for index, argument in enumerate(arguments):
        for contestant in contestants:
            blocks, warm, repeat = plans.get(contestant.name, (0, False, 0))
            if index < blocks and samples[contestant.name].error is None:
                with recording_failure(samples[contestant.name]):
                    samples[contestant.name].blocks[index] = contestant.block(argument, warm, repeat)
    return samples


def against(samples: Mapping[str, Samples], ours: str = "tgraph") -> dict[str, dict[str, Any]]:
    """{system: milliseconds of a call and the ratio to ours}, or the error."""
    found: dict[str, dict[str, Any]] = {}
    for name, sample in samples.items():
        if sample.error is not None:
            found[name] = {"error": sample.error}
            continue
        spread = ratio(sample.blocks, samples[ours].blocks if ours in samples else {})
        found[name] = {"ms": seconds(sample.blocks).median * 1e3, "ratio": None if spread is None else spread.median}
    return found


@contextmanager
def recording_failure(samples: Samples) -> Iterator[None]:
    """A fault of a system is its result, and the others go on."""
    time.sleep(PAUSE)
    try:
        yield
    except Exception as fault:
        samples.error = f"{type(fault).__name__}: {fault}".splitlines()[0][:200]


@dataclass
class Spread:
    """A median, and the smallest and largest of what it is the median of."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        return cls(statistics.median(values), min(values), max(values))


def seconds(blocks: dict[int, list[float]]) -> Spread:
    """The time of a call: over all timed calls."""
    return Spread.of([value for block in blocks.values() for value in block])


def ratio(peer: dict[int, list[float]], ours: dict[int, list[float]]) -> Spread | None:
    """The time of the peer over ours, block by block; None where no block has both."""
    common = sorted(peer.keys() & ours.keys())
    values = [statistics.median(peer[block]) / statistics.median(ours[block]) for block in common]
    return Spread.of(values) if values else None


# ---- cells: the samples of a system on a kernel, as they are written


def cells_of(run: dict[str, Any], kernel: str) -> dict[str, dict[str, Any]]:
    """{system: its cell}, with blocks as a dictionary."""
    found = (cell for cell in run["cells"] if cell["kernel"] == kernel)
    return {cell["system"]: cell | {"blocks": dict(cell["blocks"])} for cell in found}


def ratio_of(peer: dict[str, Any], ours: dict[str, Any] | None, per_iteration: bool = False) -> Spread | None:
    """The peer's time over TGraph's, as a whole or by iteration; None where one of them is missing or wrong."""
    if ours is None or any(cell["error"] or cell["verdict"].startswith("WRONG") for cell in (peer, ours)):
        return None
    found = ratio(peer["blocks"], ours["blocks"])
    if not per_iteration or found is None:
        return found
    if not peer.get("iterations") or not ours.get("iterations"):
        return None
    factor = ours["iterations"] / peer["iterations"]
    return Spread(found.median * factor, found.low * factor, found.high * factor)
