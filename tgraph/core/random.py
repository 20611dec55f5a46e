"""Random numbers that are functions of a seed and a counter: the same on every machine, device and number of threads.

Word i of a stream is a hash of the stream's key and of i (splitmix64: Steele, Lea and Flood, "Fast splittable
pseudorandom number generators", OOPSLA 2014) in exact integer arithmetic; `kernels/native/base/random.hpp` has the same
words. What is drawn for a vertex or an edge takes its index as the counter, and each purpose a stream of its own, so
that no draw depends on the order in which others are made.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tgraph.core.building import memory

Words = NDArray[np.uint64]

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_ROUNDS = tuple(zip((30, 27), map(int, FACTORS), strict=True))


def key(seed: int, purpose: int = 0) -> int:
    """The key of a stream, an int64: another `seed` or another `purpose` gives another stream.

    >>> tg.random.key(7) == tg.random.key(7), tg.random.key(7) == tg.random.key(7, purpose=1)
    (True, False)
    """
    return _as_signed(_mixed(_mixed(int(seed) + int(GOLDEN)) + int(purpose)))


def advanced(key: int, count: int) -> int:
    """The key of the stream whose word i is word `count` + i of the stream `key`.

    >>> key = tg.random.key(7)
    >>> tg.random.words(tg.random.advanced(key, 3), torch.tensor([0])) == tg.random.words(key, torch.tensor([3]))
    tensor([True])
    """
    return _as_signed(key + count * int(GOLDEN))


def words(key: int | Tensor, counter: Tensor) -> Tensor:
    """The words of the stream `key` at the `counter`s, int64 of any shape: 64 random bits each, int64 of that shape.

    As a tensor, `key` has a stream for each counter.

    >>> tg.random.words(tg.random.key(7), torch.tensor([0, 1]))
    tensor([ -919360232419776405, -2219383471983114839])
    """
    word = (counter + 1) * _signed(GOLDEN) + key
    for shift, factor in zip((30, 27), FACTORS, strict=True):
        word = (word ^ _shifted(word, shift)) * _signed(factor)
    return word ^ _shifted(word, 31)


def uniform(key: int | Tensor, counter: Tensor) -> Tensor:
    """Numbers in [0, 1), multiples of 2**-53, from the words of `key` at the `counter`s, int64: float64 of that shape.

    >>> tg.random.uniform(tg.random.key(7), torch.arange(3)).round(decimals=3)
    tensor([0.9500, 0.8800, 0.9010], dtype=torch.float64)
    """
    return _shifted(words(key, counter), 11).to(torch.float64) * 2.0**-53


def below(key: int, counter: Tensor, bound: int | Tensor) -> Tensor:
    """Integers in 0..bound - 1, from the words of `key` at the `counter`s, int64: int64 of that shape. `bound` is at
    most 2**53, and 0 gives 0.

    >>> tg.random.below(tg.random.key(7), torch.arange(10), 6)
    tensor([5, 5, 5, 0, 4, 0, 1, 4, 5, 3])
    """
    return (uniform(key, counter) * bound).to(torch.int64)


def permutation(key: int, n: int, device: torch.device | str = "cpu") -> Tensor:
    """A permutation of 0..`n` - 1 by the stream `key`, int64 [n] on the `device`.

    >>> tg.random.permutation(tg.random.key(7), 5)
    tensor([4, 1, 2, 0, 3])
    """
    return words(key, torch.arange(n, device=device)).argsort(stable=True)


def _signed(word: np.uint64) -> int:
    return int(word.astype(np.int64))


def _as_signed(word: int) -> int:
    """The int64 that is congruent to a number of any size."""
    return (word + 2**63) % 2**64 - 2**63


def _mixed(word: int) -> int:
    """As `mix`, of one number: a twentieth of the time that an array of one takes."""
    word %= 2**64
    for shift, factor in _ROUNDS:
        word = (word ^ word >> shift) * factor % 2**64
    return word ^ word >> 31


def _shifted(word: Tensor, bits: int) -> Tensor:
    """The words shifted to the right, zeros from the left: torch has no unsigned ones."""
    return (word >> bits) & ((1 << 64 - bits) - 1)


def stretch(key: int, start: int, stop: int, step: int = 1) -> Words:
    """The words number `start`, `start + step`, ... below `stop` of the stream `key`, uint64, for numpy, which computes
    them in the cache.

    >>> tg.random.stretch(tg.random.key(7), 0, 2).astype("int64")
    array([ -919360232419776405, -2219383471983114839])
    >>> tg.random.words(tg.random.key(7), torch.tensor([0, 1]))
    tensor([ -919360232419776405, -2219383471983114839])
    """
    word = np.arange(start + 1, stop + 1, step, dtype=np.uint64)
    word *= GOLDEN
    word += np.uint64(key % 2**64)
    return mix(word)


def mix(word: Words) -> Words:
    """The finalizer of splitmix64 on each `word`, uint64 of any shape, in place.

    >>> import numpy
    >>> tg.random.mix(numpy.array([1, 2], dtype="uint64"))
    array([ 6238072747940578789, 15839785061582574730], dtype=uint64)
    """
    for shift, factor in zip((30, 27), FACTORS, strict=True):
        word ^= word >> np.uint64(shift)
        word *= factor
    word ^= word >> np.uint64(31)
    return word


memory.guard(globals())
