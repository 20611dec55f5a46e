"""Rounds of a relaxation by CUDA kernels, against the portable backend bit by bit."""

import itertools

import pytest
import torch
from backends import portable
from frontier_samples import awkward_graphs, subgraph, with_index
from hypothesis import given, settings
from hypothesis import strategies as st
from native_samples import PAIRS
from strategies import Any, graphs, grid, random_graph

import tgraph as tg
from tgraph.core.direction import DirectionPolicy
from tgraph.core.rows import Scratch
from tgraph.core.subgraph import arc_weights
from tgraph.engine.delta_stepping import NearFar
from tgraph.kernels.call import Call
from tgraph.kernels.cuda import frontier, loop, relaxation
from tgraph.kernels.reductions import EDGE_OPERATIONS, REDUCTIONS


# The dtypes of values, and those of weights that they can hold.
def round_of(kernels, program, graph, values, active, mode, scratch=None):
    """The values after one round, and the vertices that changed, ascending."""
    sub = subgraph(graph, active, mode)
    sub.scratch = scratch
    values = values.clone()
    weights = arc_weights(sub, values, program.edge, program.weight)
    assert relaxation.refuses(Call("relax", values, program.reduction, program.edge, weights)) is None

    def bound():
        return program.bound(sub, values, active)

    return values, kernels.relax(sub, values, program.reduction, program.edge, weights, bound)


def round_on(launcher, program, graph, values, active, mode, scratch=None):
    """The same by the kernels, where they run."""
    device = launcher.device
    there = graph.to(device)
    active = there.everything() if active.is_everything else there.select(active.mask.to(device))
    return round_of(relaxation, program.to(device), there, values.to(device), active, mode, scratch)


def check_round(launcher, program, graph, values, active):
    """Push and pull, for several orders of threads, against the portable backend. Returns what the round gave."""
    expected, changed = round_of(portable, program, graph, values, active, "push")
    ids = changed.ids.sort().values
    for mode, launcher.seed in itertools.product(("push", "pull"), (0, 5)):
        found, reached = round_on(launcher, program, graph, values, active, mode)
        assert found.dtype == values.dtype and found.cpu().equal(expected), mode
        assert reached.ids.cpu().equal(ids), mode
        assert reached.measure() == tg.Frontier(graph, ids=ids).measure()
    return expected, changed


def drawn_values(graph, dtype, reduce, seed=0, lowest=-3, shape=None):
    """Small numbers, a third of the vertices not reached."""
    random = torch.Generator().manual_seed(seed)
    shape = (graph.num_vertices,) if shape is None else shape
    values = torch.randint(lowest, 9, shape, generator=random).to(dtype)
    unreached = torch.rand(shape, generator=random) < 0.3
    return values.masked_fill(unreached, REDUCTIONS[reduce].identity(dtype))


@settings(max_examples=60)
@given(graphs(), st.sampled_from(["min", "max"]), st.sampled_from(list(EDGE_OPERATIONS)), st.data())
def test_a_round_is_that_of_the_portable_backend(launcher, graph, reduce, edge, data):
    dtype, weight_dtype = data.draw(st.sampled_from(PAIRS))
    count, m = graph.num_vertices, graph.num_arcs
    weight = torch.tensor(data.draw(st.lists(st.integers(-2, 5), min_size=m, max_size=m)), dtype=weight_dtype)
    graph = tg.Graph(graph.offset, graph.neighbors.to(data.draw(st.sampled_from([torch.int32, torch.int64]))), weight)
    form = data.draw(st.sampled_from([None, 2, torch.tensor(3), weight.clone()]))
    values = drawn_values(graph, dtype, reduce, data.draw(st.integers(0, 99)))
    mask = data.draw(st.none() | st.lists(st.booleans(), min_size=count, max_size=count))
    active = graph.everything() if mask is None else graph.select(torch.tensor(mask, dtype=torch.bool))
    check_round(launcher, Any(reduce, edge, weight=form), graph, values, active)


@pytest.mark.parametrize("index", [torch.int32, torch.int64])
@pytest.mark.parametrize("name", awkward_graphs())
def test_rounds_on_graphs_of_extreme_shapes(launcher, name, index):
    graph = with_index(awkward_graphs()[name], index)
    n = graph.num_vertices
    for reduce, dtype in (("min", torch.float32), ("max", torch.int64)):
        values = drawn_values(graph, dtype, reduce)
        for active in (graph.everything(), graph.nothing(), graph.select(torch.arange(n) % 3 == 0)):
            check_round(launcher, Any(reduce, "add", weight=1), graph, values, active)
            check_round(launcher, Any(reduce, "copy"), graph, values, active)


@pytest.mark.parametrize(("dtype", "weight_dtype"), PAIRS)
@pytest.mark.parametrize("reduce", ["min", "max"])
def test_a_hub_is_shared_by_blocks(launcher, reduce, dtype, weight_dtype):
    graph = random_graph(30, 7000, 4)
    graph = tg.Graph(graph.offset, graph.neighbors, torch.arange(graph.num_arcs).to(weight_dtype) % 97 - 40)
    values = drawn_values(graph, dtype, reduce)
    for edge in ("add", "mul", "min"):
        check_round(launcher, Any(reduce, edge), graph, values, graph.everything())
    check_round(launcher, Any(reduce, "max", weight=2), graph, values, graph.select([0, 5]))


@pytest.mark.thorough
@pytest.mark.parametrize("shape", [(1,), (3,), (2, 4), (40,)])
@pytest.mark.parametrize(("dtype", "weight_dtype"), [PAIRS[0], PAIRS[3], PAIRS[6]])
def test_several_values_for_each_vertex(launcher, dtype, weight_dtype, shape):
    """Short rows, tiles, and blocks of columns; what a vertex has not got it does not send."""
    for graph in (random_graph(30, 2600, 4), random_graph(70, 300), awkward_graphs()["isolated"]):
        n = graph.num_vertices
        graph = tg.Graph(graph.offset, graph.neighbors, torch.arange(graph.num_arcs).to(weight_dtype) % 97)
        values = drawn_values(graph, dtype, "min", shape=(n, *shape))
        for active in (graph.everything(), graph.select(torch.arange(n) % 3 == 0), graph.nothing()):
            check_round(launcher, Any("min", "add"), graph, values, active)
            check_round(launcher, Any("min", "add", weight=1), graph, values, active)
        check_round(launcher, Any("max", "copy"), graph, drawn_values(graph, dtype, "max", shape=(n, *shape)), active)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("reduce", ["min", "max"])
def test_atomics_order_negative_numbers_and_infinities(launcher, reduce, dtype):
    n = 200
    random = torch.Generator().manual_seed(1)
    src, dst = torch.randint(n, (2, 3000), generator=random).unbind()
    scale = 10.0 ** torch.randint(-30, 30, (3000,), generator=random)
    weight = (torch.randn(3000, generator=random, dtype=torch.float64) * scale).to(dtype)
    weight[:200] = torch.tensor([torch.inf, -torch.inf, 0.0, -0.0], dtype=dtype).repeat(50)
    graph = tg.Graph.from_edges(src, dst % 40, weight, num_vertices=n)
    values = torch.randn(n, generator=random, dtype=torch.float64).to(dtype)
    for edge in ("add", "max", "min"):
        check_round(launcher, Any(reduce, edge), graph, values, graph.everything())


def test_zeros_of_either_sign_leave_the_same_bits(launcher):
    graph = tg.Graph.from_edges(torch.arange(64), torch.zeros(64, dtype=torch.int64), num_vertices=64)
    values = torch.where(torch.arange(64) % 2 == 0, 0.0, -0.0)
    values[0] = torch.inf
    for mode, launcher.seed in itertools.product(("push", "pull"), range(4)):
        found, _ = round_on(launcher, Any("min", "copy"), graph, values, graph.everything(), mode)
        assert found[0] == 0 and not found[0].signbit()


def test_scratch_comes_back_empty(launcher):
    """A round leaves nothing behind for the next, whether it has reached few vertices or many."""
    graph, scratch = random_graph(5000, 20_000), Scratch(5000)
    values = torch.full((5000,), torch.inf)
    values[0] = 0
    for active in (graph.select(range(3)), graph.everything()):
        values, changed = round_on(launcher, Any("min", "add", weight=1), graph, values, active, "push", scratch)
        assert len(changed) and not scratch.bitmap(values.device).any()


def run(program, graph, values, active, mode, order=None):
    """A whole relaxation by rounds, as the engine runs it, on the device of the graph."""
    scratch = Scratch(graph.num_vertices)
    policy = DirectionPolicy(graph, mode, settles=program.weight is not None)
    rounds = 0
    active = active if order is None else order.next(values, active)
    while len(active):
        values, changed = round_of(relaxation, program, graph, values, active, policy.choose(active), scratch)
        active, rounds = changed if order is None else order.next(values, changed), rounds + 1
    return values, rounds


@pytest.mark.parametrize("mode", ["auto", "push", "pull"])
@pytest.mark.parametrize("name", ["random", "undirected", "hub", "grid", "out-star", "in-star"])
def test_whole_searches(launcher, name, mode):
    graph = awkward_graphs()[name].to(launcher.device)
    n, source = graph.num_vertices, graph.select([0])
    levels = torch.full((n,), torch.iinfo(torch.int32).max, dtype=torch.int32, device=launcher.device)
    levels[0] = 0
    found, _ = run(Any("min", "add", weight=1), graph, levels, source, mode)
    assert found.masked_fill(found == torch.iinfo(torch.int32).max, -1).equal(tg.algorithms.bfs(graph, 0).to(found))
    labels = torch.arange(n, device=launcher.device)
    both = graph.to_undirected(multi="first")
    found, _ = run(Any("min", "copy"), both, labels, both.everything(), mode)
    assert found.equal(tg.algorithms.wcc(graph))


class Buckets(NearFar):
    """The kernels separate near and far vertices."""

    def next(self, values, changed):
        border = torch.tensor(self.threshold, dtype=self.dtype, device=values.device)
        close, far = frontier.split(changed.graph, changed.ids, values, border)
        if len(far):
            self._far.append(far)
        return close if len(close) else self.open(values, changed.graph, self.lowest(values))


@pytest.mark.parametrize("delta", [None, 4.0, 1000.0])
def test_shortest_paths_with_and_without_buckets(launcher, delta):
    graph = grid(6, 20, torch.float32).to(launcher.device)
    distance = torch.full((graph.num_vertices,), torch.inf, device=launcher.device)
    distance[3] = 0
    order = Buckets(delta, torch.float32, Scratch(graph.num_vertices)) if delta else None
    found, _ = run(Any("min", "add"), graph, distance, graph.select([3]), "push", order)
    assert found.equal(tg.algorithms.sssp(graph, 3).to(found))


def test_what_is_refused():
    values = torch.zeros(3)
    reduction = REDUCTIONS["min"]

    def reason(values, weights=None, edge="add"):
        return relaxation.refuses(Call("relax", values, reduction, edge, weights))

    assert reason(values) is None and reason(values, 2) is None and reason(values, torch.ones(4)) is None
    assert reason(torch.zeros(3, requires_grad=True))
    assert reason(torch.zeros(3, dtype=torch.float16))
    assert reason(torch.zeros(3, 2)) is None and reason(torch.zeros(2, 3).T) and reason(torch.zeros(3, 0))
    assert loop.refuses(Call("fixpoint", torch.zeros(3, 2), reduction))
    assert reason(torch.zeros(6)[::2])
    assert reason(values, torch.ones(4, dtype=torch.float64))
    assert reason(torch.zeros(3, dtype=torch.int32), 0.5)
    assert reason(values, torch.ones(4, 2))
    assert reason(values, torch.ones(4, dtype=torch.bfloat16))


def test_a_pull_into_some_rows_is_left_to_the_portable_backend(launcher):
    graph = random_graph(20, 100).to(launcher.device)
    active = graph.everything()
    sub = tg.reconstruct(graph, active, None, tg.neighbor_select(graph.transpose(), None, width=2), "pull")
    values = [torch.arange(20.0, device=launcher.device).flip(0) for _ in range(2)]
    for kernels, held in zip((portable, relaxation), values, strict=True):
        kernels.relax(sub, held, REDUCTIONS["min"], "copy", None, lambda: None)
    assert values[0].equal(values[1])


def test_every_kernel_is_named_once():
    kernels = list(relaxation.instantiations())
    assert len(set(kernels)) == len(kernels)
