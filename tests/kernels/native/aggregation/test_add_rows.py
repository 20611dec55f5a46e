"""The compiled sums of rows by their number: against the portable ones, of no, one and many rows, of wrong numbers."""

import pytest
import torch
from strategies import random_data, same_on_threads

from tgraph.core.dispatch import BACKENDS, PORTABLE, refusal, watched
from tgraph.core.system import native
from tgraph.kernels.autograd.segments import add_at, take
from tgraph.kernels.operators.aggregation.segments import add_rows

pytestmark = pytest.mark.skipif(native.load() is None, reason="the native kernels are not installed")

portable = PORTABLE.operators["add_rows"].run
compiled = BACKENDS["native"].operators["add_rows"].run


@pytest.mark.parametrize("columns", [(), (1,), (3,), (16,), (17,), (64,), (2, 5), (300,)])
@pytest.mark.parametrize("index_dtype", [torch.int32, torch.int64])
def test_as_the_portable_one(columns, index_dtype):
    random = torch.Generator().manual_seed(1)
    for size, count in ((1, 1), (1, 50), (40, 7), (40, 500), (3_000, 3_000)):
        index = torch.randint(size, (count,), generator=random).to(index_dtype)
        values = random_data((count, *columns), torch.float64)
        exact = portable(values, index, size)
        torch.testing.assert_close(compiled(values, index, size), exact)
        narrow = compiled(values.float(), index, size)
        assert narrow.dtype == torch.float32
        torch.testing.assert_close(narrow.double(), exact, rtol=1e-5, atol=1e-5)


def test_a_row_that_most_are_added_to():
    index = torch.where(torch.arange(20_000) % 10 == 0, torch.arange(20_000) % 100, 7)
    values = random_data((20_000, 8), torch.float32)
    assert torch.equal(compiled(values, index, 100), portable(values, index, 100)), "not added in the same order"


def test_rows_of_no_number_are_0():
    index = torch.tensor([4, 1, 4])
    found = compiled(torch.ones(3, 2), index, 6)
    assert found.tolist() == [[0, 0], [1, 1], [0, 0], [0, 0], [2, 2], [0, 0]]


def test_no_rows_and_no_columns():
    empty = torch.tensor([], dtype=torch.int64)
    assert add_rows(torch.ones(0, 3), empty, 2).tolist() == [[0, 0, 0], [0, 0, 0]]
    assert add_rows(torch.ones(0, 3), empty, 0).shape == (0, 3)
    assert add_rows(torch.ones(2, 0), torch.tensor([1, 1]), 2).shape == (2, 0)


def test_strided_values_and_index():
    values, index = random_data((6, 9), torch.float64).t(), torch.arange(18)[::2] % 4
    torch.testing.assert_close(compiled(values, index, 4), portable(values, index, 4))
    spread = torch.ones(1, 1, dtype=torch.float64).expand(9, 6)
    torch.testing.assert_close(compiled(spread, index, 4), portable(spread, index, 4))


@pytest.mark.parametrize("wrong", [-1, 5, 2**31 - 1])
@pytest.mark.parametrize("index_dtype", [torch.int32, torch.int64])
def test_a_wrong_number_is_named(wrong, index_dtype):
    index = torch.tensor([0, 4, wrong, 7], dtype=index_dtype)
    with pytest.raises(IndexError, match=f"index: {wrong} at position 2, of a result of 5 rows"):
        compiled(torch.ones(4, 3), index, 5)
    with pytest.raises((IndexError, RuntimeError)):
        portable(torch.ones(4, 3), index, 5)


def test_what_is_left_to_others():
    index = torch.tensor([0, 1])
    for dtype in (torch.bfloat16, torch.float16, torch.int64, torch.complex64):
        assert refusal("native", "add_rows", torch.ones(2, 3, dtype=dtype), index, 2)
        assert add_rows(torch.ones(2, 3, dtype=dtype), index, 2).dtype == dtype
    assert refusal("native", "add_rows", torch.ones(2, 3), index.to(torch.int16), 2)
    assert refusal("native", "add_rows", torch.ones(3, 3), index, 2)
    assert refusal("native", "add_rows", torch.ones(2, 3, device="meta"), index, 2)
    assert refusal("native", "add_rows", torch.ones(2, 3), index, 2) is None


def test_it_computes_the_gradient_of_take():
    index, rows = torch.tensor([3, 0, 3, 3]), torch.randn(5, 6, dtype=torch.float64, requires_grad=True)
    with watched() as seen:
        take(rows, index).sum().backward()
    assert [str(choice) for choice in seen] == ["add_rows: native serves it"]
    assert rows.grad[:, 0].tolist() == [1, 0, 0, 3, 0]
    assert torch.autograd.gradcheck(lambda x: take(x, index), rows)
    assert torch.autograd.gradgradcheck(lambda x: take(x, index), rows)
    values = torch.randn(4, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradgradcheck(lambda x: add_at(x, index, 5), values)


def test_transforms_are_left_to_torch():
    index = torch.tensor([3, 0, 3, 3])
    values = torch.randn(7, 4, 2)
    each = torch.func.vmap(lambda x: add_rows(x, index, 5))(values)
    torch.testing.assert_close(each, torch.stack([add_rows(x, index, 5) for x in values]))


def test_sums_do_not_depend_on_threads():
    index, values = torch.arange(60_000) % 90, random_data((60_000, 40), torch.float32)
    same_on_threads(lambda: compiled(values, index, 90))
