"""What `make test` leaves out of many combinations leaves every value, beside every other."""

import itertools

import pytest
from alternation import white


@pytest.mark.parametrize("counts", [(2, 2, 2), (2, 3, 4), (3, 3, 3), (7, 5, 9, 2), (1, 6, 3, 2), (5, 2, 2, 2, 2, 2)])
def test_any_two_values_meet_on_half_of_the_squares(counts):
    values = {f"parameter {i}": [f"value {j}" for j in range(count)] for i, count in enumerate(counts)}
    every = [dict(zip(values, each, strict=True)) for each in itertools.product(*values.values())]
    left = [each for each, taken in zip(every, white(every), strict=True) if taken]
    assert len(left) == (len(every) + 1) // 2
    for one, other in itertools.combinations(values, 2):
        pairs = {(each[one], each[other]) for each in left}
        assert len(pairs) == len(values[one]) * len(values[other])


def test_values_that_are_equal_are_told_apart():
    first, second = [1], [1]
    combinations = [{"a": a, "b": b} for a in (first, second) for b in (first, second)]
    assert white(combinations) == [True, False, False, True]
