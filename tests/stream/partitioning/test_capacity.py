"""Capacity-constrained selection against a loop over the candidates."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from tgraph.stream.partitioning.capacity import best_of_each, select_within_capacity

CANDIDATES = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4), st.integers(0, 3)), max_size=12)


def columns(candidates):
    return torch.tensor(candidates, dtype=torch.int64).reshape(-1, 3).unbind(1)


def of_group(candidates, group):
    """Its candidates by descending merit, equals in their order."""
    places = [i for i, candidate in enumerate(candidates) if candidate[0] == group]
    return sorted(places, key=lambda i: -candidates[i][1])


@given(CANDIDATES, st.lists(st.integers(0, 8), min_size=3, max_size=3))
def test_the_best_that_fit_are_selected(candidates, capacity):
    expected = []
    for group, left in enumerate(capacity):
        for i in of_group(candidates, group):
            left -= candidates[i][2]
            if left < 0:
                break
            expected.append(i)
    assert select_within_capacity(*columns(candidates), torch.tensor(capacity)).tolist() == expected


@given(CANDIDATES)
def test_the_best_of_each_group(candidates):
    expected = [place for group in range(3) for place in of_group(candidates, group)[:1]]
    group, merit, _ = columns(candidates)
    assert best_of_each(group, merit).tolist() == expected
