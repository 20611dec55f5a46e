"""The widths of slabs of columns, and the slices of a range."""

import pytest

from tgraph.stream.features.column_slabs import even_width, slices


@pytest.mark.parametrize("most", range(1, 60, 3))
@pytest.mark.parametrize("total", [0, 1, 7, 8, 40, 58, 59, 100, 257])
def test_slabs_are_even_and_as_few_as_can_be(total, most):
    width = even_width(total, most)
    passes, fewest = len(list(slices(total, width))), -(-total // most)
    assert 1 <= width <= most and passes == fewest
    if passes > 1:  # wider than evenly by less than the columns that kernels process together
        assert width < -(-total // passes) + 8 and (width % 8 == 0 or width == most)


@pytest.mark.parametrize(("count", "step"), [(0, 3), (1, 3), (6, 3), (7, 3)])
def test_slices_cover_a_range(count, step):
    found = list(slices(count, step))
    assert [i for each in found for i in range(count)[each]] == list(range(count))
    assert all(0 < each.stop - each.start <= step for each in found)
