"""Numbers and durations as a person reads them."""

import pytest

from tgraph.core.system.text import duration, scaled


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (0.0123, "0.0123"),
        (12, "12"),
        (999.4, "999"),
        (999.6, "1 k"),
        (999_600, "1 M"),
        (12_345, "12.3 k"),
        (2e9, "2 G"),
    ],
)
def test_three_digits_and_no_exponent(number, shown):
    assert scaled(number) == shown


def test_durations():
    assert duration(0.0123) == "12.3 ms" and duration(2.5) == "2.50 s"
    assert duration(0.0000123) == "12.3 µs" and duration(0) == "0.0 ms"
