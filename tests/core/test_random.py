"""Random numbers by counter: the same words by torch and numpy, in the right ranges."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tgraph.core import random

# The first outputs of splitmix64 for the seed 1234567, as in the reference implementation by Vigna.
PUBLISHED = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]


def test_the_words_are_those_of_splitmix64():
    assert random.stretch(1234567, 0, 4).tolist() == PUBLISHED
    assert [word % 2**64 for word in random.words(1234567, torch.arange(4)).tolist()] == PUBLISHED


@given(st.integers(0, 2**64), st.integers(0, 9), st.integers(0, 2**40))
def test_torch_and_numpy_give_the_same_words(seed, purpose, first):
    key = random.key(seed, purpose)
    counter = torch.arange(first, first + 5)
    assert random.words(key, counter).tolist() == random.stretch(key, first, first + 5).view(np.int64).tolist()


def test_streams_differ_by_seed_and_purpose():
    assert len({random.key(seed, purpose) for seed in (0, 1, -1) for purpose in range(3)}) == 9


def test_numbers_are_in_their_ranges_and_fill_them():
    counter = torch.arange(100_000)
    drawn = random.uniform(random.key(3), counter)
    assert 0 <= float(drawn.min()) < 1e-4 and 1 - 1e-4 < float(drawn.max()) < 1
    assert float(drawn.mean()) == pytest.approx(0.5, abs=0.01)
    assert random.below(random.key(3), counter, 7).bincount().tolist() == pytest.approx([100_000 / 7] * 7, rel=0.05)
    assert random.below(random.key(3), counter[:4], torch.tensor([0, 1, 1, 2**53]))[:3].tolist() == [0, 0, 0]


@given(st.integers(0, 50), st.integers(0, 2**63))
def test_permutations(n, seed):
    assert sorted(random.permutation(random.key(seed), n).tolist()) == list(range(n))
