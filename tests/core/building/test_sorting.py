"""CSR building, every function through the compiled kernels and through torch, against numpy."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import on_threads, refused, thread_count

from tgraph.core.building import sorting
from tgraph.core.system import native
from tgraph.errors import ArgumentError
from tgraph.kernels.native.csr import sorting as compiled

PATHS = ["torch", "native", "native, wide"]


@pytest.fixture(autouse=True, scope="module")
def several_threads():
    """More than a test otherwise has, and an odd number."""
    with thread_count(3):
        yield


@pytest.fixture(params=PATHS)
def path(request, monkeypatch):
    """The implementation: all give identical results."""
    if request.param == "torch":
        monkeypatch.setenv("TGRAPH_NATIVE", "0")
    elif native.load() is None:
        pytest.skip("the compiled kernels are not installed")
    if request.param == "native, wide":
        monkeypatch.setattr(compiled, "_needs_wide_records", lambda num_vertices, num_arcs: True)
    return request.param


@st.composite
def edge_lists(draw):
    """(src, dst, n), often with parallel edges, self-loops and isolated vertices."""
    n = draw(st.sampled_from([1, 2, 3, 33, 1000, 70_000, 2**17 + 3]))
    m = draw(st.integers(0, 60))
    ends = st.lists(st.integers(0, draw(st.sampled_from([0, 1, n - 1])) % n), min_size=m, max_size=m)
    dtype = draw(st.sampled_from([torch.int32, torch.int64]))
    return torch.tensor(draw(ends), dtype=dtype), torch.tensor(draw(ends), dtype=dtype), n


def random_edges(m, n, seed=0, dtype=torch.int64):
    random = torch.Generator().manual_seed(seed)
    return torch.randint(n, (2, m), generator=random, dtype=dtype).unbind()


def check_sorted(src, dst, n):
    """sort_edges against numpy's lexsort."""
    offset, neighbors, perm = sorting.sort_edges(src, dst, n, permutation=True)
    order = np.lexsort((dst.numpy(), src.numpy()))  # stable
    assert np.array_equal(perm.numpy(), order)
    assert np.array_equal(neighbors.numpy(), dst.numpy()[order])
    assert np.array_equal(offset.numpy(), np.searchsorted(src.numpy()[order], np.arange(n + 1)))
    assert (offset.dtype, neighbors.dtype, perm.dtype) == (torch.int64, torch.int32, torch.int64)
    without = sorting.sort_edges(src, dst, n)
    assert torch.equal(without[0], offset) and torch.equal(without[1], neighbors) and without[2] is None
    return offset, neighbors, perm


# Hypothesis reruns a function many times within one fixture, so the path is a loop in this one test.
@given(edge_lists())
def test_sort_edges_is_a_stable_lexical_sort_on_every_path(edges):
    src, dst, n = edges
    with pytest.MonkeyPatch.context() as patch:
        check_sorted(src, dst, n)
        patch.setattr(compiled, "_needs_wide_records", lambda num_vertices, num_arcs: True)
        check_sorted(src, dst, n)
        patch.setenv("TGRAPH_NATIVE", "0")
        check_sorted(src, dst, n)


@given(edge_lists(), st.randoms(use_true_random=False), st.booleans(), st.booleans(), st.booleans())
def test_sort_rows_compiled_as_by_transpositions(edges, random, mutual, directed, numbered):
    src, dst, _ = edges
    pairs = [(min(pair), max(pair)) for pair in zip((src % 40).tolist(), (dst % 40).tolist(), strict=True)]
    pairs += [(v, u) for u, v in pairs if u != v] if mutual else []
    random.shuffle(pairs)
    rows = [[v for u, v in pairs if u == row] for row in range(max(map(max, pairs), default=0) + 1)]
    offset = torch.tensor([0, *map(len, rows)]).cumsum(0)
    neighbors = torch.tensor([v for row in rows for v in row], dtype=src.dtype)
    found = sorting.sort_rows(offset, neighbors, directed, numbered)
    for mine, theirs in zip(found, sorting.sort_rows.portable(offset, neighbors, directed, numbered), strict=True):
        assert torch.equal(mine, theirs) if isinstance(mine, torch.Tensor) else mine == theirs
    assert found.neighbors.tolist() == [v for row in rows for v in sorted(row)]


@pytest.mark.covering(1)
@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
@pytest.mark.parametrize("n", [1, 5, 2000, 300_000])
def test_sort_edges_on_several_threads(path, n, dtype):
    check_sorted(*random_edges(200_000, n, dtype=dtype), n)


def test_sort_edges_with_one_hub(path):
    src, dst = random_edges(150_000, 5000)
    src[::2] = 4999
    dst[1::2] = 17
    check_sorted(src, dst, 5000)


def test_sort_edges_of_a_sorted_list(path):
    src, dst = random_edges(150_000, 5000)
    offset, neighbors, _ = check_sorted(src, dst, 5000)
    _, again, perm = check_sorted(sorting.expand_rows(offset), neighbors.long(), 5000)
    assert torch.equal(again, neighbors) and torch.equal(perm, torch.arange(150_000))


def test_sort_edges_where_a_row_goes_on_across_threads(path):
    """Few sources, so that every part of the last pass writes every row."""
    src, dst = random_edges(200_000, 100_000)
    check_sorted(src % 3 * 33_000, dst, 100_000)


def test_results_do_not_depend_on_the_number_of_threads(path):
    src, dst = random_edges(300_000, 10_000)
    many, *few = on_threads(lambda: sorting.sort_edges(src, dst, 10_000, permutation=True))
    assert all(torch.equal(*pair) for each in few for pair in zip(each, many, strict=True))


@pytest.mark.parametrize("n", [0, 1, 7])
def test_no_edges(path, n):
    nothing = torch.empty(0, dtype=torch.int64)
    offset, neighbors, perm = sorting.sort_edges(nothing, nothing, n, permutation=True)
    assert offset.tolist() == [0] * (n + 1) and neighbors.shape == (0,) and perm.shape == (0,)
    for result in (
        sorting.transpose(offset, neighbors),
        sorting.merge_parallel(offset, neighbors, None, "error"),
        sorting.drop_self_loops(offset, neighbors, None),
    ):
        assert torch.equal(result[0], offset) and result[1].shape == (0,)
    assert sorting.expand_rows(offset).shape == (0,)


def test_mixed_dtypes_and_strides(path):
    pairs = torch.tensor([[3, 1], [0, 2], [3, 0]])
    offset, neighbors, _ = sorting.sort_edges(pairs[:, 0], pairs[:, 1].int(), 4)
    assert offset.tolist() == [0, 1, 1, 1, 3] and neighbors.tolist() == [2, 0, 1]


@pytest.mark.covering(1)
@pytest.mark.parametrize(("m", "n"), [(0, 3), (1, 1), (50, 1), (300, 12), (120_000, 9), (120_000, 70_000)])
@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_both_ways_stores_every_edge_twice_and_a_self_loop_once(path, m, n, dtype):
    src, dst = random_edges(m, n, dtype=dtype)
    src[::7] = dst[::7]
    edge = torch.arange(m)
    back = src != dst
    arcs = torch.cat((torch.stack((src, dst, edge)), torch.stack((dst, src, edge))[:, back]), 1).numpy()
    expected = arcs[:, np.lexsort((arcs[2], arcs[1], arcs[0]))]
    offset, neighbors, perm = sorting.sort_edges(src, dst, n, permutation=True, both_ways=True)
    assert np.array_equal(sorting.expand_rows(offset).numpy(), expected[0])
    assert np.array_equal(neighbors.numpy(), expected[1])
    assert np.array_equal(perm.numpy(), expected[2])
    assert torch.equal(sorting.sort_edges(src, dst, n, both_ways=True)[1], neighbors)


@pytest.mark.parametrize("size", [3, 100_000])
@pytest.mark.parametrize(("name", "value"), [("src", -1), ("src", 50), ("dst", -(2**40)), ("dst", 50), ("dst", 2**40)])
def test_bad_ids_are_named_with_their_position(path, name, value, size):
    ends = {"src": torch.arange(size) % 50, "dst": torch.arange(size).flip(0) % 50}
    ends[name][size - 2] = value
    ends[name][size - 1] = value + 7 if value > 0 else value - 7
    with pytest.raises(ArgumentError, match=rf"{name}\[{size - 2}\]: {value} is no vertex.*num_vertices=50"):
        sorting.sort_edges(ends["src"], ends["dst"], 50)
    with pytest.raises(ArgumentError, match=rf"{name}\[{size - 2}\]: {value} "):
        sorting.sort_edges(ends["src"], ends["dst"], 50, both_ways=True)


def test_the_first_of_several_bad_ids_is_named(path):
    refused(r"dst\[1\]: 9 ", sorting.sort_edges, torch.tensor([0, 1, -1]), torch.tensor([0, 9, 9]), 3)
    refused(r"src\[0\]: 0 .*num_vertices=0", sorting.sort_edges, torch.tensor([0]), torch.tensor([0]), 0)


@pytest.mark.parametrize(
    ("src", "dst", "message"),
    [
        (torch.zeros(2), torch.zeros(2), "src: expected int32 or int64"),
        (torch.zeros(2, dtype=torch.int64), torch.zeros(3, dtype=torch.int64), "dst: expected one for each"),
        (torch.zeros(2, 2, dtype=torch.int64), torch.zeros(4, dtype=torch.int64), "src: expected one dimension"),
        (torch.zeros(2, dtype=torch.int64), torch.zeros(2, dtype=torch.int64, device="meta"), "dst: on meta"),
    ],
)
def test_wrong_arguments(path, src, dst, message):
    with pytest.raises(ArgumentError, match=message):
        sorting.sort_edges(src, dst, 5)


def test_a_negative_number_of_vertices(path):
    with pytest.raises(ArgumentError, match="num_vertices: -1"):
        sorting.sort_edges(torch.tensor([0]), torch.tensor([0]), -1)


@pytest.mark.parametrize(("m", "n"), [(0, 3), (40, 1), (500, 40), (200_000, 3000), (200_000, 2**20)])
def test_transpose_sorts_the_reversed_arcs(path, m, n):
    offset, neighbors, _ = sorting.sort_edges(*random_edges(m, n), n)
    rows = sorting.expand_rows(offset)
    expected = sorting.sort_edges(neighbors, rows.int(), n, permutation=True)
    result = sorting.transpose(offset, neighbors, permutation=True)
    assert all(map(torch.equal, result, expected))
    assert sorting.transpose(offset, neighbors)[2] is None
    back = sorting.transpose(*result[:2])
    assert torch.equal(back[0], offset) and torch.equal(back[1], neighbors)


def test_transpose_of_a_broken_csr_is_an_error(path):
    with pytest.raises(ArgumentError, match=r"neighbors: 2 at position 1 "):
        sorting.transpose(torch.tensor([0, 1, 2]), torch.tensor([0, 2], dtype=torch.int32))
    with pytest.raises(ArgumentError, match="offset: ends at 2, but there are 3"):
        sorting.transpose(torch.tensor([0, 1, 2]), torch.zeros(3, dtype=torch.int32))


@pytest.mark.parametrize(
    ("offset", "message"),
    [
        ([0, 2, 1, 3], "offset: decreases after position 1"),
        ([0, 10**9, 3, 3], "offset: decreases after position 1"),
        ([0, -(10**9), 3, 3], "offset: decreases after position 0"),
        ([0, 2**63 - 1, -5, 3], "offset: decreases after position 1"),
        ([1, 1, 2, 3], "offset: begins with 1, not 0"),
        ([-1, 1, 2, 3], "offset: begins with -1, not 0"),
    ],
)
def test_damaged_offsets_are_an_error(path, offset, message):
    """Such as a damaged memory-mapped file has: the kernels would read and write out of bounds."""
    offset, neighbors = torch.tensor(offset), torch.tensor([0, 1, 1]).int()
    for function in (
        lambda: sorting.transpose(offset, neighbors),
        lambda: sorting.merge_parallel(offset, neighbors, None, "first"),
        lambda: sorting.drop_self_loops(offset, neighbors, None),
        lambda: sorting.expand_rows(offset),
    ):
        with pytest.raises(ArgumentError, match=message):
            function()


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64, torch.int16])
def test_expand_rows(path, dtype):
    degrees = torch.tensor([0, 3, 0, 0, 2, 100_000, 0, 40_000, 1, 0])
    offset = torch.cat([torch.zeros(1, dtype=torch.int64), degrees.cumsum(0)])
    expected = torch.repeat_interleave(torch.arange(10), degrees).to(dtype)
    rows = sorting.expand_rows(offset, dtype)
    assert rows.dtype == dtype and torch.equal(rows, expected)


MERGE = {"first": lambda run: run[0], "sum": sum, "min": min, "max": max}


@pytest.mark.parametrize("how", MERGE)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int32, torch.int64, None])
def test_merge_parallel(path, how, dtype):
    src, dst = random_edges(400, 12)
    offset, neighbors, perm = sorting.sort_edges(src, dst, 13, permutation=True)
    weights = None if dtype is None else torch.randint(-9, 9, (400,), dtype=dtype)[perm]
    runs: dict[tuple[int, int], list[float]] = {}
    values = [0] * 400 if weights is None else weights.tolist()
    for u, v, weight in zip(sorting.expand_rows(offset).tolist(), neighbors.tolist(), values, strict=True):
        runs.setdefault((u, v), []).append(weight)
    new_offset, new_neighbors, new_weights = sorting.merge_parallel(offset, neighbors, weights, how)
    assert list(zip(sorting.expand_rows(new_offset).tolist(), new_neighbors.tolist(), strict=True)) == list(runs)
    assert new_neighbors.dtype == torch.int32
    if dtype is None:
        assert new_weights is None
    else:
        assert new_weights.dtype == dtype and new_weights.tolist() == [MERGE[how](run) for run in runs.values()]


def test_merge_parallel_with_nothing_to_merge_returns_its_arguments(path):
    offset, neighbors, weights = torch.tensor([0, 2, 2, 3]), torch.tensor([1, 2, 2]).int(), torch.ones(3)
    for how in sorting.MERGES:
        assert sorting.merge_parallel(offset, neighbors, weights, how) == (offset, neighbors, weights)


def test_merge_parallel_errors(path):
    offset, neighbors = torch.tensor([0, 2, 2, 5]), torch.tensor([0, 2, 0, 2, 2]).int()
    refused(r"the arc \(2, 2\) occurs more than once", sorting.merge_parallel, offset, neighbors, None, "error")
    refused("'mean' is not one of", sorting.merge_parallel, offset, neighbors, None, "mean")


BIG = 2**62
SUMS_OUT_OF_RANGE = [
    (torch.int8, [100, 100], r"add up to 200, which torch.int8 cannot hold; convert the weights to torch.int64 or"),
    (torch.int32, [-(2**31), -1], f"add up to {-(2**31) - 1}, which torch.int32 cannot hold"),
    (torch.int64, [BIG, BIG], f"add up to {2 * BIG}, which torch.int64 cannot hold; .* to torch.float64"),
    (torch.int64, [2 * BIG - 1, 1], f"add up to {2 * BIG}, "),
    (torch.int64, [-2 * BIG, -1], f"add up to {-2 * BIG - 1}, "),
    (torch.int64, [BIG, BIG, BIG, BIG, 5], f"add up to {4 * BIG + 5}, "),  # wraps round to 5
]


@pytest.mark.parametrize(("dtype", "weights", "message"), SUMS_OUT_OF_RANGE)
def test_merge_parallel_refuses_sums_out_of_range(path, dtype, weights, message):
    neighbors = torch.tensor([0, 0] + [1] * len(weights) + [2], dtype=torch.int32)
    offset = torch.tensor([0, len(neighbors), len(neighbors), len(neighbors)])
    with pytest.raises(ArgumentError, match=message):
        sorting.merge_parallel(offset, neighbors, torch.tensor([1, 1, *weights, 1], dtype=dtype), "sum")


@pytest.mark.parametrize("weights", [[2 * BIG - 2, 1], [-2 * BIG + 1, -1], [BIG, BIG, -BIG, -1], [BIG, BIG - 1]])
def test_merge_parallel_adds_up_to_the_limits_of_int64(path, weights):
    """Partial sums may exceed the range if the total is within it."""
    offset, neighbors = torch.tensor([0, len(weights)]), torch.zeros(len(weights), dtype=torch.int32)
    assert sorting.merge_parallel(offset, neighbors, torch.tensor(weights), "sum")[2].tolist() == [sum(weights)]


def test_drop_self_loops(path):
    src, dst = random_edges(500, 20)
    keep = src != dst
    offset, neighbors, perm = sorting.sort_edges(src, dst, 20, permutation=True)
    expected = sorting.sort_edges(src[keep], dst[keep], 20, permutation=True)
    result = sorting.drop_self_loops(offset, neighbors, perm.float())
    assert torch.equal(result[0], expected[0]) and torch.equal(result[1], expected[1])
    assert torch.equal(result[2], torch.arange(500)[keep][expected[2]].float())
    assert sorting.drop_self_loops(*result) == result


@pytest.mark.parametrize(
    "dtype", [torch.float64, torch.float32, torch.int64, torch.int8, torch.float16, torch.complex64]
)
@pytest.mark.parametrize("positions", [torch.int32, torch.int64])
def test_take(path, dtype, positions):
    data, where = torch.arange(300).to(dtype), torch.arange(299, -1, -3, dtype=positions)
    assert torch.equal(sorting.take(data, where), data[where.long()])
    assert torch.equal(sorting.take(data[::2], where[50:]), data[::2][where[50:].long()])
    assert torch.equal(sorting.take(data.reshape(150, 2), where[60:]), data.reshape(150, 2)[where[60:].long()])
    assert sorting.take(data, where[:0]).shape == (0,)


def test_take_is_differentiable(path):
    data = torch.rand(5, requires_grad=True)
    sorting.take(data, torch.tensor([4, 1, 1])).sum().backward()
    assert data.grad.tolist() == [0, 2, 0, 0, 1]


ID_RANGES = [(0, 50), (-30, 20), (2**40, 2**40 + 999), (-(2**63), 2**63 - 1), (2**63 - 40, 2**63 - 1), (0, 10**6)]


@pytest.mark.parametrize(("low", "high"), ID_RANGES)
@pytest.mark.parametrize("m", [1, 300, 100_000])
def test_compact_relabels_in_ascending_order(path, low, high, m):
    random = np.random.default_rng(m)
    ends = random.integers(low, high, (2, m), endpoint=True)
    src, dst = map(torch.from_numpy, ends)
    ids, new_src, new_dst = sorting.compact(src, dst)
    expected, inverse = np.unique(ends, return_inverse=True)
    assert np.array_equal(ids.numpy(), expected)
    assert np.array_equal(torch.stack((new_src, new_dst)).numpy(), inverse.reshape(2, m))
    unchanged = np.array_equal(expected, np.arange(len(expected)))  # then the given tensors come back
    assert (ids.dtype, new_src.dtype) == (torch.int64, torch.int64 if unchanged else torch.int32)
    assert not unchanged or (new_src is src and new_dst is dst)


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
@pytest.mark.parametrize("n", [10, 10_000, 300_000])  # the last outgrows the hash table
def test_compact_scattered_ids(path, n, dtype):
    limits, random = torch.iinfo(dtype), np.random.default_rng(n)
    pool = random.integers(limits.min, limits.max, n, endpoint=True)
    pool[:3] = limits.min, limits.max, 0
    ends = random.choice(pool, (2, n))
    ends[:, :2] = pool[:2]
    ids, new_src, new_dst = sorting.compact(*torch.from_numpy(ends).to(dtype))
    expected, inverse = np.unique(ends, return_inverse=True)
    assert np.array_equal(ids.numpy(), expected) and ids.dtype == torch.int64
    assert np.array_equal(torch.stack((new_src, new_dst)).numpy(), inverse.reshape(2, n))
    assert new_src.dtype == new_dst.dtype == torch.int32


def test_compact_ids_that_differ_in_high_bits_only(path):
    ids = torch.arange(-(2**15), 2**15) << 48
    vertices, src, dst = sorting.compact(ids.flip(0), ids)
    assert torch.equal(vertices, ids)
    assert torch.equal(dst, torch.arange(2**16).int()) and torch.equal(src, dst.flip(0))


def test_the_default_device_changes_nothing(path):
    src, dst = random_edges(1000, 50)
    src, dst = torch.cat((src, src[:9])), torch.cat((dst, dst[:9]))
    far = src << 40

    def results():
        offset, neighbors, perm = sorting.sort_edges(src, dst, 50, permutation=True)
        return [
            *(offset, neighbors, perm, sorting.expand_rows(offset), sorting.take(src, perm)),
            *sorting.sort_edges(src, dst, 50, permutation=True, both_ways=True),
            *sorting.transpose(offset, neighbors, permutation=True),
            *sorting.merge_parallel(offset, neighbors, perm, "sum"),
            *sorting.merge_parallel(offset, neighbors, perm.float(), "min"),
            *sorting.drop_self_loops(offset, neighbors, perm),
            *sorting.compact(src + 7, dst),
            *sorting.compact(far, dst),
        ]

    expected = results()
    torch.set_default_device("meta")
    try:
        found = results()
    finally:
        torch.set_default_device(None)
    assert all(map(torch.equal, found, expected))


def test_compact_int32_and_nothing(path):
    ids, src, dst = sorting.compact(torch.tensor([7, -2], dtype=torch.int32), torch.tensor([7, 3], dtype=torch.int32))
    assert ids.tolist() == [-2, 3, 7] and src.tolist() == [2, 0] and dst.tolist() == [2, 1]
    nothing = torch.empty(0, dtype=torch.int64)
    assert [part.numel() for part in sorting.compact(nothing, nothing)] == [0, 0, 0]


def test_index_dtype():
    assert sorting.index_dtype(0) == sorting.index_dtype(2**31 - 1) == torch.int32
    assert sorting.index_dtype(2**31) == torch.int64
