"""Values of all vertices: small ones by torch, large ones by the kernels of any backend."""

import pytest
import torch
from strategies import thread_count

import tgraph as tg
from tgraph.core.system import native
from tgraph.kernels.operators import values as operators
from tgraph.primitives import values

SIZES = (0, 1, 1000, values.LARGE, values.LARGE + 77)


def graph(n):
    return tg.Graph(torch.zeros(n + 1, dtype=torch.int64), torch.empty(0, dtype=torch.int32))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (torch.iinfo(torch.int32).max, torch.int32),
        (torch.iinfo(torch.int64).min, torch.int64),
        (torch.inf, torch.float32),
        (0.1, torch.float64),
        (1.5, torch.float16),  # which the kernels do not have
    ],
)
def test_full(size, threads, value, dtype):
    with thread_count(threads):
        assert torch.equal(values.full(graph(size), value, dtype), torch.full((size,), value, dtype=dtype))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("threads", [1, 3])
def test_integers(size, threads):
    with thread_count(threads):
        for dtype in (torch.int32, torch.int64):
            numbers = values.numbered(graph(size), dtype)
            assert numbers.dtype == dtype and torch.equal(numbers, torch.arange(size, dtype=dtype))
            wide = values.to_int64(numbers)
            assert wide.dtype == torch.int64 and torch.equal(wide, torch.arange(size))
            found = values.replace(numbers % 7, 3, -1)
            expected = torch.arange(size) % 7
            assert torch.equal(found.long(), expected.masked_fill_(expected == 3, -1))


def test_several_columns_and_views():
    table = torch.arange(2 * values.LARGE, dtype=torch.int32).view(-1, 4) % 5
    expected = torch.where(table == 4, -1, table)
    assert torch.equal(values.replace(table.clone(), 4, -1), expected)
    assert torch.equal(values.replace(table.t(), 4, -1), expected.t())  # not contiguous: left to torch
    assert torch.equal(values.to_int64(expected), expected.long())


def test_backends_agree():
    for backend in ("native", "portable"):
        if backend == "native" and native.load() is None:
            continue
        numbers = torch.empty(values.LARGE, dtype=torch.int64)
        operators.number.with_backend(backend)(numbers)
        assert torch.equal(numbers, torch.arange(values.LARGE))
        operators.replace.with_backend(backend)(numbers, 5, -5)
        assert int(numbers[5]) == -5
        operators.fill.with_backend(backend)(numbers, 9)
        assert bool((numbers == 9).all())
        wide = torch.empty_like(numbers)
        operators.convert.with_backend(backend)(numbers.int(), wide)
        assert torch.equal(wide, numbers)


@pytest.mark.parametrize("backend", ["native", "portable"])
@pytest.mark.parametrize("size", [5, 100_000])
@pytest.mark.parametrize("columns", [(), (3,)])
@pytest.mark.parametrize("dtype", [torch.int32, torch.int64, torch.float32, torch.float64])
def test_what_changed_is_written(backend, size, columns, dtype):
    if backend == "native" and native.load() is None:
        pytest.skip("the native kernels are not installed")
    random = torch.Generator().manual_seed(size)
    before = torch.randint(4, (size, *columns), generator=random).to(dtype)
    vertices, degree = torch.randperm(size, generator=random)[: size // 2 + 1], torch.arange(size)
    rows = torch.randint(4, (len(vertices), *columns), generator=random).to(dtype)
    if dtype.is_floating_point:
        before[vertices[0]] = rows[0] = torch.nan
    expected = before.index_copy(0, vertices, rows)
    differs = ~((expected == before) | (expected.isnan() & before.isnan()))
    changed = differs.flatten(1).any(1) if columns else differs
    version = before._version
    with thread_count(2):
        found, arcs = operators.write_changed.with_backend(backend)(before, vertices, rows, degree)
    assert torch.equal(before.nan_to_num(9), expected.nan_to_num(9)) and before._version > version
    assert torch.equal(found, vertices[changed[vertices]]) and arcs == int(degree[changed].sum())
