"""Timers of measurements."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import torch

MARGIN = 1.1  # what is faster by this factor replaces another choice; less is noise
SECONDS, CALLS = 0.05, 3  # of a measurement, at least

Timer = Callable[[Callable[[], object]], float]  # the seconds of a call of its argument


def timer_on(device: torch.device) -> Timer:
    """A timer by the median of a few calls on a device."""
    return lambda step: median_seconds(step, device)


def median_seconds(step: Callable[[], object], device: torch.device) -> float:
    """The seconds of a call: the median of a few, after a warm-up call."""

    def seconds() -> float:
        begin = time.perf_counter()
        step()
        if device.type != "cpu":
            torch.accelerator.synchronize()
        return time.perf_counter() - begin

    seconds()
    taken = [seconds()]
    while len(taken) < CALLS or sum(taken) < SECONDS:
        taken.append(seconds())
    return statistics.median(taken)
