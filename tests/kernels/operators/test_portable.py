"""The portable backend from the inside: both ways to relax, early ends of a pull, and the order of additions.
What it computes is held against plain Python in `test_operators` and `test_engine`."""

import types

import pytest
import torch
from backends import portable
from hypothesis import given
from hypothesis import strategies as st
from strategies import graphs, random_graph

import tgraph as tg
from tgraph import kernels
from tgraph.core import dispatch
from tgraph.core.subgraph import whole
from tgraph.core.system import devices
from tgraph.errors import ArgumentError
from tgraph.kernels.call import Call
from tgraph.kernels.operators.aggregation import aggregation
from tgraph.kernels.operators.relaxation import relaxation
from tgraph.kernels.reductions import EDGE_OPERATIONS, REDUCTIONS

MIN = REDUCTIONS["min"]


def tensorized(graph, active, mode):
    return tg.Program().tensorize(graph, active, mode)


# ---- relax ----------------------------------------------------------------------------------------------------------


@given(
    graphs(dtypes=(torch.int64, torch.float64)),
    st.sampled_from(["min", "max"]),
    st.sampled_from(list(EDGE_OPERATIONS)),
    st.data(),
)
def test_one_round_is_aggregate_and_compare(graph, reduce, edge, data):
    """Improvements are written in place, and exactly the improved vertices are returned, on every path."""
    reduction, n = REDUCTIONS[reduce], graph.num_vertices
    numbers = data.draw(st.lists(st.integers(0, 9), min_size=n, max_size=n))
    values = torch.tensor(numbers, dtype=graph.weights.dtype)
    mask = torch.tensor(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)), dtype=torch.bool)
    active = graph.select(mask)
    before = values.clone()
    heard = tg.aggregate(tensorized(graph, active, "pull"), values, reduce, edge=edge)
    better = reduction.better(heard.values, values)
    expected = torch.where(better, heard.values, values)
    for free in (True, False):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(devices, "waits_are_free", lambda tensor, free=free: free)
            sub = tensorized(graph, active, "push")
            weights = sub.weights()
            written = before.clone()
            changed = portable.relax(sub, written, reduction, edge, weights, lambda: None)
            assert torch.equal(written, expected)
            assert sorted(changed.ids.tolist()) == better.nonzero().flatten().tolist()
            assert changed.measure() == (int(better.sum()), int(graph.out_degree[better].sum()))


@given(graphs(min_vertices=1), st.data())
def test_a_pull_with_a_bound_equals_one_without(graph, data):
    n = graph.num_vertices
    values = torch.tensor(data.draw(st.lists(st.integers(0, 30), min_size=n, max_size=n)))
    active = graph.everything()
    sub = whole(graph, active, "pull")
    without, within = values.clone(), values.clone()
    slow = portable.relax(sub, without, MIN, "add", 1, lambda: None)
    fast = portable.relax(sub, within, MIN, "add", 1, lambda: values.amin() + 1)
    assert torch.equal(without, within)
    assert sorted(fast.ids.tolist()) == slow.ids.tolist()


def star(leaves):
    """Leaves that all point at three hubs, and a vertex without in-arcs."""
    src = torch.arange(3, leaves + 3).repeat(3)
    return tg.Graph.from_edges(src, torch.arange(3).repeat_interleave(leaves), num_vertices=leaves + 4)


def test_a_pull_ends_where_the_bound_is_met(monkeypatch):
    """The head of a row meets the bound here, so that its other thousand in-neighbours are not read."""
    read = []

    def counted(offset, rows, **options):
        found = original(offset, rows, **options)
        read.append(len(found[1]))
        return found

    original = relaxation.gather_rows
    monkeypatch.setattr(relaxation, "gather_rows", counted)
    graph = star(1000)
    values = torch.full((graph.num_vertices,), 1000)
    values[3:] = 5
    sub = whole(graph, graph.select(torch.arange(3, 1003)), "pull")
    changed = portable.relax(sub, values, MIN, "add", 1, lambda: torch.tensor(6))
    assert sorted(changed.ids.tolist()) == [0, 1, 2] and values[:3].tolist() == [6, 6, 6]
    assert sum(read) == 3 * relaxation.PROBE < 100
    read.clear()  # once more: now they hold the bound, and are skipped altogether
    assert len(portable.relax(sub, values, MIN, "add", 1, lambda: torch.tensor(6))) == 0
    assert sum(read) == 0
    values[:3], values[3:-2] = 1000, 7  # the best neighbour comes last: the whole row is read
    changed = portable.relax(sub, values, MIN, "add", 1, lambda: torch.tensor(6))
    assert values[:3].tolist() == [6, 6, 6] and sum(read) == 3 * relaxation.PROBE + 3 * 1000


@pytest.mark.parametrize("beyond", [-1, 0, 1, 2])
def test_rows_that_end_around_the_head_are_read_to_the_end(beyond):
    graph = star(relaxation.PROBE + beyond)
    values = torch.full((graph.num_vertices,), 1000)
    values[-2] = 5  # the last of the leaves
    portable.relax(whole(graph, graph.everything(), "pull"), values, MIN, "add", 1, lambda: torch.tensor(6))
    assert values[:3].tolist() == [6, 6, 6]


def test_a_bound_per_column():
    graph = star(10)
    values = torch.full((graph.num_vertices, 2), 100)
    values[3:, 0], values[3:, 1] = 5, 50
    values[0] = torch.tensor([6, 100])  # settled in one column only
    portable.relax(whole(graph, graph.everything(), "pull"), values, MIN, "add", 1, lambda: torch.tensor([6, 51]))
    assert values[:3].tolist() == [[6, 51]] * 3


# ---- aggregate ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reduce", REDUCTIONS)
@pytest.mark.parametrize("dtype", [torch.int64, torch.float64])
def test_the_ordered_push_of_accelerators(reduce, dtype, monkeypatch):
    """Where a scatter adds in no fixed order, arcs are sorted by receiver first; the sums must not change."""
    graph = random_graph(30, 200, dtype=dtype)
    data = torch.randint(-2, 4, (30, 2), generator=torch.Generator().manual_seed(0)).to(dtype)
    for active in (graph.everything(), graph.select([0, 3, 4, 9]), graph.nothing()):
        sub = tensorized(graph, active, "push")
        expected = tg.aggregate(sub, data, reduce, edge="mul")
        with monkeypatch.context() as patch:
            patch.setattr(aggregation, "_order_matters", lambda messages, reduction: True)
            found = tg.aggregate(sub, data, reduce, edge="mul")
        assert found.values.dtype == expected.values.dtype
        assert torch.allclose(found.values.double(), expected.values.double())
        assert found.vertices is expected.vertices or torch.equal(found.vertices, expected.vertices)


def test_order_matters_only_for_inexact_sums_off_the_cpu():
    accelerator = types.SimpleNamespace(is_floating_point=lambda: True, device=torch.device("cuda"))
    counting = types.SimpleNamespace(is_floating_point=lambda: False, device=torch.device("cuda"))
    assert all(aggregation._order_matters(accelerator, REDUCTIONS[reduce]) for reduce in ("sum", "prod"))
    assert not aggregation._order_matters(accelerator, MIN) and not aggregation._order_matters(
        counting, REDUCTIONS["sum"]
    )
    assert not aggregation._order_matters(torch.ones(2), REDUCTIONS["sum"])


@pytest.mark.parametrize("mode", ["push", "pull"])
def test_sums_are_the_same_to_the_last_bit(mode):
    graph = random_graph(200, 20_000)
    data = torch.randn(200, 3, generator=torch.Generator().manual_seed(0))
    sub = tensorized(graph, graph.everything(), mode)
    first = tg.aggregate(sub, data, "sum").values
    assert all(torch.equal(first, tg.aggregate(sub, data, "sum").values) for _ in range(3))


def test_a_partial_push_allocates_for_its_receivers_only():
    graph = tg.Graph.from_edges([0, 0, 1], [5, 6, 5], num_vertices=100_000)
    received = tg.aggregate(tensorized(graph, graph.select([0, 1]), "push"), torch.ones(100_000), "sum")
    assert received.values.tolist() == [2, 1] and received.vertices.tolist() == [5, 6]


# ---- the registry ---------------------------------------------------------------------------------------------------


def test_the_portable_backend_serves_everything():
    for dtype in (torch.bool, torch.int8, torch.bfloat16):
        assert portable.refuses(Call("aggregate", torch.empty(3, dtype=dtype, device="meta"))) is None
    assert kernels.choose("portable", Call("aggregate", torch.ones(3))).is_by("portable")
    assert list(kernels.BACKENDS)[-1] == "portable"  # last, for auto takes the first that does not refuse


def test_auto_takes_the_first_that_does_not_refuse(monkeypatch):
    def refuses(call):
        return "only int8" if call.data.dtype != torch.int8 else None

    picky = kernels.Backend("picky", {"aggregate": kernels.Implementation(lambda *args: "picky", refuses)})
    backends = {"picky": picky, "portable": kernels.BACKENDS["portable"]}
    monkeypatch.setattr(kernels, "BACKENDS", backends)
    monkeypatch.setattr(dispatch, "BACKENDS", backends)
    small, floating = torch.ones(2, dtype=torch.int8), torch.ones(2)
    taken = kernels.choose("auto", Call("aggregate", small))
    assert taken.backend is picky and taken.run() == "picky" and str(taken) == "aggregate: picky serves it"
    fallen = kernels.choose("auto", Call("aggregate", floating))
    assert fallen.is_by("portable")
    assert str(fallen) == "aggregate: portable serves it (picky does not: only int8)"
    assert kernels.choose("auto", Call("relax", small)).refused == {"picky": "it has no relax"}
    with pytest.raises(ArgumentError, match=r"backend.*'picky'.*float32.*cpu.*only int8.*auto"):
        kernels.choose("picky", Call("aggregate", floating))
    with pytest.raises(ArgumentError, match=r"backend.*'abacus'.*'picky'"):
        kernels.choose("abacus", Call("aggregate", small))
