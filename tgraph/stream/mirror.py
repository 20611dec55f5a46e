"""Whether a list of edges names all of them in both directions, told without sorting it."""

from __future__ import annotations

import numpy as np

_ODD = np.uint64(0x9E3779B97F4A7C15)


class Mirror:
    """Sums a hash of every arc (u, v, weight) and of its reverse. Equal arcs make equal sums modulo 2**64; others do
    once in 2**64 lists."""

    def __init__(self) -> None:
        self._forth = self._back = 0

    def note(self, src: np.ndarray, dst: np.ndarray, weights: np.ndarray | None) -> None:
        """Add arcs: int64 [k], int64 [k], and their weights, int64 or float64 [k]."""
        values = np.zeros(1, np.uint64) if weights is None else _bits(weights)
        src, dst = (np.ascontiguousarray(ends, np.int64).view(np.uint64) for ends in (src, dst))
        self._forth += int(_mixed(_mixed(_mixed(src) + dst) + values).sum())
        self._back += int(_mixed(_mixed(_mixed(dst) + src) + values).sum())

    @property
    def complete(self) -> bool:
        """True where every arc has its reverse of equal weight."""
        return (self._forth - self._back) % 2**64 == 0


def _bits(weights: np.ndarray) -> np.ndarray:
    """Equal words for equal weights: 0.0 and -0.0 are, and so is NaN to NaN here."""
    if weights.dtype.kind == "f":
        weights = np.where(np.isnan(weights), np.nan, weights + 0.0)
    return np.ascontiguousarray(weights).view(np.uint64)


def _mixed(words: np.ndarray) -> np.ndarray:
    """A permutation of uint64 after which every bit depends on all: the finaliser of SplitMix64 (Steele, Lea, Flood,
    OOPSLA 2014)."""
    words = words + _ODD
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
