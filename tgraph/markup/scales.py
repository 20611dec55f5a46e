"""Positions of numbers on an axis, and its ticks."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

TINY = 1e-200  # smaller numbers count as 0, so that ratios and steps stay finite


@dataclass(frozen=True)
class Scale:
    """A linear or logarithmic axis from `low` to `high`, at positions 0 to 1. `whole` : whether ticks are integers."""

    low: float
    high: float
    logarithmic: bool = False
    whole: bool = False

    @classmethod
    def over(
        cls, numbers: Iterable[float], logarithmic: bool = False, zero: bool = False, whole: bool = False
    ) -> Scale:
        """The smallest scale of all finite `numbers`, positive ones if `logarithmic`, and 0 if `zero`."""
        finite = (number if abs(number) > TINY else 0.0 for number in numbers if math.isfinite(number))
        held = [number for number in finite if number > 0 or not logarithmic]
        held = [*held, 0.0] if zero and not logarithmic else held
        low, high = (min(held), max(held)) if held else (1.0, 10.0)
        if logarithmic:
            return cls(low / 1.3, high * 1.3 if high > low else low * 10, True, whole)
        return cls(low, high if high > low else low + 1, whole=whole)

    def place(self, number: float) -> float:
        """The position of a number: 0 at `low`, 1 at `high`, clamped, and 0 without a logarithm."""
        if self.logarithmic:
            if number <= TINY:
                return 0.0
            share = math.log(number / self.low) / math.log(self.high / self.low)
        else:
            share = (number - self.low) / (self.high - self.low)
        return min(max(share, 0.0), 1.0)

    def ticks(self, most: int = 6) -> list[float]:
        """Up to `most` round numbers on the scale: powers of ten, or multiples of 1, 2 or 5 times one."""
        if self.logarithmic:
            first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
            powers = range(first, last + 1)
            if len(powers) >= 2:
                return [10.0**power for power in powers[:: -(-len(powers) // most)]]
        step = 10.0 ** math.floor(math.log10((self.high - self.low) / most))
        step *= next(factor for factor in (1, 2, 5, 10) if (self.high - self.low) / (step * factor) <= most)
        step = max(step, 1.0) if self.whole else step
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [number * step for number in range(first, last + 1)]


def short(number: float) -> str:
    """A number in few characters: 1.5, 20k, 3M, 1e-5."""
    size = abs(number)
    for unit, factor in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if factor * 0.9995 <= size < factor * 1e3:
            return f"{number / factor:.3g}{unit}"
    return f"{number:.3g}" if size >= 0.0099 or not size else f"{number:.0e}".replace("e-0", "e-")
