"""Buckets of two parts that pass messages to each other, in one process, beside the distances of the whole graph."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import tgraph as tg
from tgraph.core.dispatch import BACKENDS, refusal
from tgraph.distributed.programs.nearest import NOTHING

DTYPES = (torch.int32, torch.int64, torch.float32, torch.float64)


def part_of(edges, low, high):
    """The arcs of some rows by local numbers: among these, and to others, as mirrors of all vertices behind them."""
    source, target, weight = edges
    own, near, size = (source >= low) & (source < high), (target >= low) & (target < high), high - low
    ends = [(target - low, own & near, size), (target + size, own & ~near, size + 9)]
    return [
        tg.Graph.from_edges((source - low)[held], other[held], weight[held], num_vertices=count)
        for other, held, count in ends
    ]


@given(
    st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8), st.integers(0, 9)), max_size=40),
    st.integers(0, 9),
    st.sampled_from(DTYPES),
    st.sampled_from((0.5, 3.0, 1e9)),
)
def test_parts_find_the_distances_of_the_whole(edges, middle, dtype, delta):
    source, target, weight = torch.tensor(edges, dtype=torch.int64).reshape(-1, 3).T
    kind = torch.int32 if dtype in (torch.int32, torch.int64) else torch.float32
    graph = tg.Graph.from_edges(source, target, weight.to(kind), num_vertices=9)
    start = BACKENDS["native"].operators["part_buckets"].run
    unreached = torch.inf if dtype.is_floating_point else torch.iinfo(dtype).max
    parts = []
    for low, high in ((0, middle), (middle, 9)):
        values = torch.full((high - low + 9,), unreached, dtype=dtype)
        arcs = part_of((source, target, weight.to(kind)), low, high)
        parts.append((low, high, values, start(*arcs, values, delta)))
    for low, high, values, buckets in parts:
        if low <= 4 < high:
            values[4 - low] = 0
            buckets.queue(torch.tensor([4 - low]))
            assert buckets.queued().nonzero().flatten().tolist() == [4 - low]
    least = 0
    while least < NOTHING:
        relaxed = [buckets.run(min(least, NOTHING - 1) + 1) for *_, buckets in parts]
        assert all(size >= 0 and arcs >= 0 for size, arcs in relaxed)
        sent = [buckets.reached() for *_, buckets in parts]
        least = min(min(first, buckets.next_bucket()) for (_, _, first), (*_, buckets) in zip(sent, parts, strict=True))
        for mirrors, messages, _ in sent:
            assert mirrors.tolist() == sorted(set(mirrors.tolist()))
            for low, high, _, buckets in parts:
                here = (mirrors >= low) & (mirrors < high)
                buckets.receive(mirrors[here] - low, messages[here])
    found = torch.cat([values[: high - low] for low, high, values, _ in parts])
    wanted = tg.algorithms.bellman_ford(graph, 4)[0]
    reached = found != unreached
    assert torch.equal(reached, wanted != (torch.inf if wanted.is_floating_point() else torch.iinfo(wanted.dtype).max))
    assert torch.equal(found[reached].double(), wanted[reached].double())
    assert not any(buckets.queued().any() for *_, buckets in parts)


def test_what_has_no_kernel_is_refused():
    graph = tg.Graph.from_edges([0], [1], [0.5])
    assert "cannot represent" in refusal("native", "part_buckets", graph, graph, torch.zeros(2, dtype=torch.int64), 1.0)
    plain = tg.Graph.from_edges([0], [1])
    assert "weights" in refusal("native", "part_buckets", plain, plain, torch.zeros(2), 1.0)


@pytest.mark.parametrize("vertex", [-1, 2])
def test_vertices_are_those_of_the_part(vertex):
    graph = tg.Graph.from_edges([0], [1], [0.5])
    buckets = BACKENDS["native"].operators["part_buckets"].run(graph, graph, torch.zeros(2, dtype=torch.float64), 1.0)
    with pytest.raises(IndexError, match="no such vertex"):
        buckets.receive(torch.tensor([vertex]), torch.zeros(1, dtype=torch.float64))
