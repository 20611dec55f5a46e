"""Weights that add up and times near the limits of their dtype, against Python's numbers."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import tgraph as tg
from tgraph.dynamic.times import between
from tgraph.errors import ArgumentError

DTYPES = (torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64)


def near(dtype):
    """Numbers of a dtype, most of them near its limits or small."""
    info = torch.iinfo(dtype)
    some = {info.min, info.max, info.max - 1, info.max // 2, info.max // 3, -(info.max // 2), 1, 2, -1}
    return st.sampled_from(sorted(number for number in some if info.min <= number <= info.max))


@st.composite
def batches(draw):
    """(dtype, [("insert" or "delete" or "replace", [(u, v, weight), ...]), ...])"""
    dtype, vertex = draw(st.sampled_from(DTYPES)), st.integers(0, 2)
    arcs = st.lists(st.tuples(vertex, vertex, near(dtype)), min_size=1, max_size=4)
    kinds = st.sampled_from(["insert", "insert", "insert", "delete"])
    return dtype, draw(st.lists(st.tuples(kinds, arcs), max_size=8))


@given(batches(), st.booleans(), st.sampled_from(["memory", "folder"]))
def test_weights_that_add_up_fit_or_are_refused(tmp_path_factory, batches, reads, where):
    dtype, given_ = batches
    if where == "memory":
        store = tg.dynamic.Store(dtype, multi="sum")
    else:
        store = tg.dynamic.open(tmp_path_factory.mktemp("sums") / "store", dtype, multi="sum")
    held: dict[tuple[int, int], int] = {}
    info = torch.iinfo(dtype)
    for kind, arcs in given_:
        src, dst, weights = map(list, zip(*arcs, strict=True))
        if kind == "delete":
            store.delete(src, dst)
            for u, v, _ in arcs:
                held.pop((u, v), None)
            continue
        batch: dict[tuple[int, int], int] = {}
        for u, v, weight in arcs:
            batch[u, v] = batch.get((u, v), 0) + weight
        after = held | {pair: held.get(pair, 0) + weight for pair, weight in batch.items()}
        fits = all(info.min <= number <= info.max for number in (*batch.values(), *after.values()))
        if not fits:
            with pytest.raises(ArgumentError, match=r"^weights: those of .* add up to -?\d+, which torch"):
                store.insert(src, dst, weights)
            assert dict(weights_of(store)) == held
            continue
        store.insert(src, dst, weights)
        held = after
        if reads:
            assert dict(weights_of(store)) == held
    assert dict(weights_of(store)) == held
    store.compact()
    assert dict(weights_of(store)) == held
    store.close()


def weights_of(store):
    graph = store.snapshot()
    return zip(map(tuple, graph.to_edge_index().T.tolist()), graph.weights.tolist(), strict=True)


ANY_NUMBER = st.one_of(
    st.integers(-(2**70), 2**70),
    st.sampled_from([2**31 - 1, 2**31, 2**53 + 1, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 10**400, 255, 256, -1]),
    st.floats(allow_nan=False),
)


@given(st.data(), st.none() | ANY_NUMBER, st.none() | ANY_NUMBER)
def test_times_are_compared_as_numbers(data, since, at):
    dtype = data.draw(st.sampled_from([*DTYPES, torch.float16, torch.float32, torch.float64]))
    floats = st.floats(width=16, allow_nan=False) | st.sampled_from([2.0**53, 2.0**60, 1e300, -math.inf])
    times = torch.tensor(
        data.draw(st.lists(floats if dtype.is_floating_point else near(dtype), max_size=5)), dtype=dtype
    )
    expected = [(since is None or since <= time) and (at is None or time <= at) for time in times.tolist()]
    assert between(times, since, at).tolist() == expected


def test_snapshots_beyond_the_dtype_of_times():
    store = tg.dynamic.Store(times=torch.int32, multi="keep")
    store.insert([0, 1], [1, 2], times=[1_700_000_000, 1_800_000_000])
    for at, count in ((2**31 - 1, 2), (4_102_444_800, 2), (2**70, 2), (1.75e9, 1), (-(2**40), 0), (math.inf, 2)):
        assert store.snapshot(at=at).num_arcs == count
    assert store.snapshot(since=2**31).num_arcs == 0 and store.snapshot(since=-(2**31) - 1).num_arcs == 2
    for wrong in (math.nan, "2020", None.__class__):
        with pytest.raises(ArgumentError, match=r"^at: expected a number"):
            store.snapshot(at=wrong)


@pytest.mark.parametrize(("dtype", "value"), [(torch.float32, 1e300), (torch.float16, 70000), (torch.float16, -1e5)])
def test_finite_weights_do_not_become_infinite(dtype, value):
    store = tg.dynamic.Store(dtype)
    with pytest.raises(ArgumentError, match=r"^weights: .* at position 1 does not fit torch.float"):
        store.insert([0, 1], [1, 2], torch.tensor([1.0, value], dtype=torch.float64))
    store.insert([0], [1], [math.inf])
    assert store.snapshot().weights.tolist() == [math.inf]
