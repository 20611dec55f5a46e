"""Combinations that `make test` keeps have every value, and every pair of values where that is asked for."""

import itertools

import pytest
from covering import chosen


def values_of(counts):
    return {f"parameter {i}": [f"value {i} {j}" for j in range(count)] for i, count in enumerate(counts)}


def every(values):
    return [dict(zip(values, each, strict=True)) for each in itertools.product(*values.values())]


@pytest.mark.parametrize("strength", [1, 2, 3])
@pytest.mark.parametrize("counts", [(2, 2, 2), (2, 3, 4), (3, 3, 3), (7, 5, 9, 2), (1, 6, 3, 2), (5, 2, 2, 2, 2, 2)])
def test_any_values_meet(counts, strength):
    values = values_of(counts)
    left = list(itertools.compress(every(values), chosen(every(values), strength)))
    for names in itertools.combinations(values, strength):
        met = {tuple(each[name] for name in names) for each in left}
        assert met == set(itertools.product(*(values[name] for name in names)))
    least = 1
    for count in sorted(counts)[-strength:]:
        least *= count
    assert least <= len(left) <= 1.5 * least


def test_only_what_can_meet_does():
    left = [{"a": a, "b": b} for a, b in itertools.product("xyz", "uvw") if (a, b) != ("x", "u")]
    assert chosen(left, 2) == [True] * 8
    assert sum(chosen(left, 1)) == 3


def test_values_that_are_equal_are_told_apart():
    first, second = [1], [1]
    combinations = [{"a": a, "b": b} for a in (first, second) for b in (first, second)]
    assert chosen(combinations, 1) == [True, False, False, True]
    assert chosen(combinations, 2) == [True] * 4
