"""Places and ticks of axes."""

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tgraph.markup.scales import Scale, short

NUMBERS = st.lists(st.floats(-1e12, 1e12), max_size=8)


@given(NUMBERS, st.booleans(), st.floats(allow_nan=False))
@example([1.0, 2e-311], True, 0.0)
@example([5e-324], False, 0.0)
def test_everything_has_a_place(numbers, logarithmic, other):
    scale = Scale.over(numbers, logarithmic)
    assert scale.high > scale.low or scale.high == scale.low + 1
    for number in (*numbers, other):
        assert 0 <= scale.place(number) <= 1


@given(NUMBERS, st.booleans())
def test_ticks_are_few_and_on_the_scale(numbers, logarithmic):
    scale = Scale.over(numbers, logarithmic)
    ticks = scale.ticks()
    assert len(ticks) <= 7 and ticks == sorted(ticks)
    width = (scale.high - scale.low) * 1e-6
    assert all(scale.low - width <= tick <= scale.high + width for tick in ticks)


def test_places():
    assert Scale(1, 100, True).place(10) == pytest.approx(0.5) and Scale(0, 10).place(5) == 0.5
    assert Scale(1, 1000, True).ticks() == pytest.approx([1, 10, 100, 1000]) and Scale(0, 10).ticks() == [
        0,
        2,
        4,
        6,
        8,
        10,
    ]
    assert Scale(-0.5, 2.5, whole=True).ticks() == [0, 1, 2]
    assert math.isclose(Scale.over([]).place(5), Scale(1, 10).place(5))


def test_numbers_are_short():
    assert [short(n) for n in (0, 1.5, 20_000, 3e6, 999_999, 1e-5, 0.25)] == [
        "0",
        "1.5",
        "20k",
        "3M",
        "1M",
        "1e-5",
        "0.25",
    ]
