"""Elementary functions with the same bits on every machine, unlike a mathematical library's: sequences of operations
that IEEE 754 rounds exactly."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # ln 2 in 33 bits and the rest
ROOT_HALF = math.sqrt(0.5)


def log(x: Floats) -> Floats:
    """The natural logarithm of positive numbers x = 2**e * f, by the series in (f - 1) / (f + 1)."""
    fraction, exponent = np.frexp(x)
    small = fraction < ROOT_HALF
    fraction, exponent = np.where(small, fraction * 2, fraction), exponent - small
    s = (fraction - 1) / (fraction + 1)
    square, total = s * s, np.zeros_like(s)
    for odd in range(23, 0, -2):
        total = total * square + 1 / odd
    return exponent * LN2_HIGH + (exponent * LN2_LOW + 2 * s * total)


def exp(x: Floats) -> Floats:
    """The exponential function: 2**k times the Taylor series of the remainder."""
    k = np.rint(x * (1 / (LN2_HIGH + LN2_LOW)))
    rest = (x - k * LN2_HIGH) - k * LN2_LOW
    total = np.ones_like(rest)
    for degree in range(14, 0, -1):
        total = 1 + total * rest / degree
    return np.ldexp(total, k.astype(np.int64))


def cosine_and_sine(turns: Floats) -> tuple[Floats, Floats]:
    """cos and sin of 2 pi times numbers in [0, 1), by their Taylor series on an eighth of a turn."""
    quarter = np.rint(turns * 4)
    angle = (turns - quarter / 4) * (2 * math.pi)
    square, cosine, sine = angle * angle, np.ones_like(angle), np.ones_like(angle)
    for degree in range(18, 0, -2):
        cosine = 1 - cosine * square / (degree * (degree - 1))
        sine = 1 - sine * square / (degree * (degree + 1))
    sine = sine * angle
    which = quarter.astype(np.int64) % 4
    return np.choose(which, (cosine, -sine, -cosine, sine)), np.choose(which, (sine, cosine, -sine, -cosine))


def power(x: Floats, exponent: float) -> Floats:
    """Positive numbers to a power."""
    return exp(log(x) * exponent)
