"""Whole relaxations by CUDA kernels, run by the engine, against the portable backend."""

from types import SimpleNamespace

import pytest
import torch
from frontier_samples import awkward_graphs
from hypothesis import given, settings
from hypothesis import strategies as st
from overflow_samples import outcome, programs, wanted
from strategies import MODES, Any, graphs, grid, random_graph

import tgraph as tg
from tgraph.engine import compiled_loop
from tgraph.engine.plan import Plan
from tgraph.kernels import BACKENDS, Backend, Choice, Implementation
from tgraph.kernels.call import Call
from tgraph.kernels.cuda import loop, relaxation
from tgraph.kernels.reductions import EDGE_OPERATIONS, REDUCTIONS

pytestmark = pytest.mark.usefixtures("registered")

DTYPES = [torch.int32, torch.int64, torch.float32, torch.float64]


@pytest.fixture
def registered(monkeypatch):
    """The kernels as a backend."""
    served = {"fixpoint": loop.Fixpoint, "relax": relaxation.relax}
    offered = {name: Implementation(run, loop.refuses) for name, run in served.items()}
    monkeypatch.setitem(BACKENDS, "kernels", Backend("kernels", offered))


@pytest.fixture(params=["small", "large"])
def size(request, monkeypatch):
    """Rounds by one block where it can, and by the kernels for large frontiers always."""
    if request.param == "large":
        for name in ("SMALL_SIZE", "SMALL_ARCS", "SMALL_FAR"):
            monkeypatch.setattr(loop, name, -1)
    return request.param


def run_on(launcher, program, graph, **options):
    """The program run by the kernels, its values brought back."""
    found = tg.run(program.to(launcher.device), graph.to(launcher.device), backend="kernels", **options)
    return SimpleNamespace(values=found.values.cpu(), iterations=found.iterations, trace=found.trace)


def drawn_values(data, graph, dtype, reduce):
    """Small numbers with unreached vertices among them."""
    n, identity = graph.num_vertices, REDUCTIONS[reduce].identity(dtype)
    numbers = data.draw(st.lists(st.none() | st.integers(-3, 9), min_size=n, max_size=n))
    return torch.tensor([identity if number is None else number for number in numbers], dtype=dtype)


@settings(max_examples=40)
@given(graphs(), st.sampled_from(["min", "max"]), st.sampled_from(list(EDGE_OPERATIONS)), st.data())
def test_so_many_rounds_are_those_of_the_portable_backend(launcher, size, graph, reduce, edge, data):
    dtype, n, m = data.draw(st.sampled_from(DTYPES)), graph.num_vertices, graph.num_arcs
    weight = torch.tensor(data.draw(st.lists(st.integers(-2, 5), min_size=m, max_size=m)), dtype=dtype)
    graph = tg.Graph(graph.offset, graph.neighbors.to(data.draw(st.sampled_from([torch.int32, torch.int64]))), weight)
    form = data.draw(st.sampled_from([None, 2, weight.clone()]))
    active = data.draw(st.none() | st.lists(st.booleans(), min_size=n, max_size=n))
    active = None if active is None else torch.tensor(active, dtype=torch.bool)
    values = drawn_values(data, graph, dtype, reduce)
    program = Any(reduce, edge, values, form, active, rounds=data.draw(st.integers(0, 4)))
    expected = tg.run(program, graph, backend="portable", max_iterations=9)
    for launcher.seed, mode in enumerate(MODES):
        found = run_on(launcher, program, graph, mode=mode, max_iterations=9)
        assert found.values.equal(expected.values) and found.iterations == expected.iterations, mode


@settings(max_examples=15)
@given(graphs(min_vertices=1, dtypes=(torch.int32, torch.int64, torch.float32, torch.float64)), st.data())
def test_buckets_of_any_width(launcher, size, graph, data):
    dtype = graph.weights.dtype if graph.weights.dtype.is_floating_point else torch.int64
    values, active = drawn_values(data, graph, dtype, "min"), torch.arange(graph.num_vertices)
    expected = tg.run(Any("min", "add", values, active=active, delta=torch.inf), graph, backend="portable").values
    for launcher.seed, delta in enumerate((None, 1e-3, 1, 7, 1e9)):
        found = run_on(launcher, Any("min", "add", values, active=active, delta=delta), graph).values
        assert found.equal(expected), delta


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["one", "loops", "isolated", "random", "undirected", "hub", "out-star", "in-star"])
def test_searches_of_extreme_graphs(launcher, size, name, mode):
    graph = awkward_graphs()[name]
    n = graph.num_vertices
    values = torch.full((n,), torch.inf)
    values[0] = 0
    labels = torch.arange(n)
    for program in (Any("min", "add", values, 1, [0]), Any("min", "copy", labels), Any("max", "copy", labels)):
        expected = tg.run(program, graph, backend="portable")
        found = run_on(launcher, program, graph, mode=mode)
        assert found.values.equal(expected.values) and found.iterations == expected.iterations


@pytest.mark.parametrize("delta", [None, 5.0, 40.0, torch.inf])
def test_a_long_way_takes_few_launches(launcher, monkeypatch, delta):
    graph = grid(3, 60, torch.float32)
    values = torch.full((graph.num_vertices,), torch.inf)
    values[0] = 0
    launched = []
    step = loop.Fixpoint._push_small
    monkeypatch.setattr(loop.Fixpoint, "_push_small", lambda self, limit: launched.append(1) or step(self, limit))
    program = Any("min", "add", values, active=[0], delta=delta)
    found = run_on(launcher, program, graph, mode="push", trace=True)
    assert found.values.equal(tg.run(Any("min", "add", values, active=[0]), graph, backend="portable").values)
    assert len(launched) == 1 and found.iterations > 20
    assert len(found.trace) == found.iterations


def test_rounds_pass_from_one_block_to_many_and_back(launcher):
    """Out of a star of more vertices than one block takes, and on along a path."""
    n, length = 1500, 30
    path = torch.arange(n, n + length)
    src = torch.cat((torch.zeros(n - 1, dtype=torch.int64), torch.arange(1, n), path[:-1]))
    dst = torch.cat((torch.arange(1, n), torch.full((n - 1,), n), path[1:]))
    graph = tg.Graph.from_edges(src, dst, num_vertices=n + length)
    values = torch.full((graph.num_vertices,), torch.iinfo(torch.int32).max, dtype=torch.int32)
    values[0] = 0
    for mode in MODES:
        found = run_on(launcher, Any("min", "add", values, 1, [0]), graph, mode=mode, trace=True)
        assert found.values.equal(tg.run(Any("min", "add", values, 1, [0]), graph, backend="portable").values)
        assert found.iterations == length + 2


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_host_takes_a_bucket_from_a_far_pile(device, dtype):
    values = torch.zeros(60, dtype=dtype, device=device)
    values[[4, 9, 7]] = torch.tensor([5, 6, 20], dtype=dtype, device=device)
    pile, ids = loop.FarPile(values, 3), torch.empty(60, dtype=torch.int64, device=device)
    pile.arguments[0][:3] = torch.tensor([4, 9, 7])
    pile.size = 3
    assert pile.take(ids).tolist() == [4, 9] and pile.size == 1
    values[7] = 1
    assert pile.take(ids).tolist() == [] and pile.size == 0


def test_one_block_and_many_do_the_same_rounds(launcher, monkeypatch):
    """Also in buckets, where none relaxes again what its bucket has relaxed."""
    graph = random_graph(150, 900, 3, dtype=torch.float32).to(launcher.device)
    values = torch.full((150,), torch.inf, device=launcher.device)
    values[0] = 0
    for delta in (1.0, 3.0, 9.0, torch.inf):
        program, rounds = Any("min", "add", values, active=[0], delta=delta), []
        for size in (768, -1):
            for name in ("SMALL_SIZE", "SMALL_ARCS", "SMALL_FAR"):
                monkeypatch.setattr(loop, name, size)
            call = Call("fixpoint", values, program.reduction, "add", graph.weights)
            choice = Choice("fixpoint", BACKENDS["kernels"], call)
            width, best = None if delta == torch.inf else delta, compiled_loop.best_weight(program, graph)
            plan = Plan(None, width, loop=choice, best=best)
            run = compiled_loop.begin(plan, program, graph, values.clone(), graph.select([0]), "push")
            done = [one[:4] for _ in compiled_loop.advance(run, None) for one in run.rounds()]
            rounds.append(done)
        assert rounds[0] == rounds[1]


def test_every_kernel_is_named_once():
    kernels = list(loop.instantiations())
    assert len(set(kernels)) == len(kernels)


@settings(max_examples=40)
@given(programs(), st.integers(0, 5) | st.sampled_from([40, 100]))
def test_integers_are_exact_or_raise(launcher, size, given_program, rounds):
    graph, program, weights = given_program
    expected, program.rounds = wanted(graph, program, weights, rounds), rounds
    moved, held = program.to(launcher.device), graph.to(launcher.device)
    for launcher.seed, mode in enumerate(MODES):
        found = outcome(moved, held, backend="kernels", mode=mode, max_iterations=rounds + 1)
        assert found == expected, mode


@settings(max_examples=20)
@given(programs(grows=False), st.sampled_from([None, 3, 2**40]))
def test_fixpoints_of_integers_are_exact_or_raise(launcher, size, given_program, delta):
    graph, program, weights = given_program
    expected = wanted(graph, program, weights, graph.num_vertices + 1)
    program.delta = delta if program.reduce == "min" else None
    assert outcome(program.to(launcher.device), graph.to(launcher.device), backend="kernels") == expected
