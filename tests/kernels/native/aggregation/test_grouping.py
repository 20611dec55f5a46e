"""Sources grouped by degree: when they are, and that results are those of the graph as it is stored, bit for bit."""

import pytest
import torch
from strategies import on_threads, random_data

import tgraph as tg
from tgraph.core.system import memory, native
from tgraph.kernels.native.aggregation import grouping
from tgraph.primitives.gauss_seidel import GaussSeidel
from tgraph.primitives.linear import AffineMap

pytestmark = pytest.mark.skipif(native.load() is None, reason="the native kernels are not built")

NAME = "sources by degree"


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """A cache that holds 3000 vertices of four bytes, and sources that are grouped in the second pass."""
    monkeypatch.setattr(grouping, "cache_bytes", lambda: 12 << 10)
    monkeypatch.setattr(grouping, "PATIENCE", 1)


def skewed(**options):
    """Half of the arcs lead from a thirtieth of the vertices, whose numbers are far apart."""
    return tg.generators.rmat(14, 16, weighted=True, **options)


def steps(graph, dtype=torch.float32, blocks=1, **options):
    """The values after each of four steps, and the sums of the last."""
    n = graph.num_vertices
    coefficients = {"scale": random_data((n,), dtype, 1), "bias": 0.25, **options}
    walk = AffineMap(**coefficients) if blocks == 1 else GaussSeidel(blocks=blocks, **coefficients)
    values = [random_data((n,), dtype)]
    for _ in range(4):
        values.append(walk.step(graph, values[-1], alpha=0.01).clone())
    return torch.stack(values)


def bytes_of(graph):
    """What the graph keeps of the sources of its transpose's rows, which pull."""
    return graph.transpose().caches.get(NAME, 0)


def plainly(function, graph, monkeypatch):
    """What the function gives of a copy of the graph whose sources are never grouped."""
    with monkeypatch.context() as patch:
        patch.setattr(grouping, "PATIENCE", 1 << 30)
        copy = tg.Graph(graph.offset, graph.neighbors, graph.weights, directed=graph.directed)
        found = function(copy)
        assert not bytes_of(copy)
        return found


@pytest.mark.covering(2)
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("edge", ["copy", "mul"])
def test_linear_steps_are_the_same(directed, dtype, edge, monkeypatch):
    graph = skewed(directed=directed)
    expected = plainly(lambda other: steps(other, dtype, edge=edge), graph, monkeypatch)
    for found in on_threads(lambda: steps(graph, dtype, edge=edge)):
        assert torch.equal(found, expected)
    assert bytes_of(graph) == 4 * graph.num_arcs + 4 * graph.num_vertices


def test_blocks_that_use_new_values_gather_from_where_they_write(monkeypatch):
    graph = skewed()
    assert torch.equal(steps(graph, blocks=4), plainly(lambda other: steps(other, blocks=4), graph, monkeypatch))
    assert NAME not in graph.transpose().caches


@pytest.mark.covering(1)
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize(
    ("dtype", "shape"),
    [
        (torch.float32, ()),
        (torch.float32, (2,)),
        (torch.float32, (1, 4)),
        (torch.float64, (1,)),
        (torch.int64, ()),
        (torch.int32, ()),
        (torch.uint8, (4,)),
        (torch.float16, (2,)),
        (torch.bfloat16, (3,)),
        (torch.bool, (5,)),
    ],
)
def test_aggregates_are_the_same(directed, dtype, shape, monkeypatch):
    graph = skewed(directed=directed)
    data = random_data((graph.num_vertices, *shape), dtype)
    reductions = ("any",) if dtype == torch.bool else ("sum", "max", "mean") if dtype.is_floating_point else ("max",)

    def received(graph):
        sub = tg.core.subgraph.whole(graph, graph.everything(), "pull")
        return [tg.aggregate(sub, data, reduce).values for _ in range(3) for reduce in reductions]

    expected = plainly(received, graph, monkeypatch)
    for found in on_threads(lambda: received(graph)):
        assert all(torch.equal(a, b) for a, b in zip(found, expected, strict=True))
    assert bytes_of(graph)


def test_gradients_are_the_same(monkeypatch):
    graph = skewed()

    def gradient(graph):
        data = random_data((graph.num_vertices, 1), torch.float32).requires_grad_()
        weights = random_data((graph.num_arcs,), torch.float32).requires_grad_()
        for _ in range(3):
            tg.aggregate(graph, data, "sum", edge="mul", weights=weights).square().sum().backward()
        return torch.cat((data.grad.flatten(), weights.grad))

    assert torch.equal(gradient(graph), plainly(gradient, graph, monkeypatch))
    assert bytes_of(graph)


def test_a_user_program_gathers_by_degree(monkeypatch):
    class Spread(tg.Program):
        rounds = 6

        def init(self, graph):
            return torch.rand(graph.num_vertices, generator=torch.Generator().manual_seed(0)), graph.everything()

        def compute(self, sub, values, active):
            return tg.aggregate(sub, values, "mean").values, active

    graph = skewed(directed=True)
    expected = plainly(lambda other: tg.run(Spread(), other).values, graph, monkeypatch)
    assert torch.equal(tg.run(Spread(), graph).values, expected) and bytes_of(graph)


def test_pagerank_is_the_same(monkeypatch):
    graph = skewed(directed=False)
    expected = plainly(tg.algorithms.pagerank, graph, monkeypatch)
    assert torch.equal(tg.algorithms.pagerank(graph), expected) and bytes_of(graph)
    graph.drop_caches(NAME)
    assert not bytes_of(graph)
    assert torch.equal(tg.algorithms.pagerank(graph), expected) and bytes_of(graph)


# ---- when they are not ----------------------------------------------------------------------------------------------


def bytes_after_steps(graph):
    steps(graph)
    return bytes_of(graph)


def test_one_pass_is_not_held_up(monkeypatch):
    graph = skewed()
    monkeypatch.setattr(grouping, "PATIENCE", 4)
    assert bytes_after_steps(graph) == 0 and bytes_after_steps(graph) > 0


def test_data_that_the_cache_holds_is_left(monkeypatch):
    graph = skewed()
    monkeypatch.setattr(grouping, "cache_bytes", lambda: 4 * graph.num_vertices)
    steps(graph)
    assert NAME not in graph.transpose().caches


def test_alike_sources_are_left():
    assert bytes_after_steps(tg.generators.uniform(14, 16)) == 0


def test_neighbours_side_by_side_are_left():
    graph = skewed()
    assert bytes_after_steps(graph.reorder("degree")) == 0


def test_few_arcs_are_left():
    assert bytes_after_steps(tg.generators.rmat(14, 3)) == 0


def test_no_groups_where_memory_is_short(monkeypatch, tmp_path):
    meminfo = tmp_path / "meminfo"
    monkeypatch.setattr(memory, "_MEMINFO", meminfo)
    monkeypatch.setattr(memory, "_OWN_GROUPS", tmp_path / "none")
    meminfo.write_text("MemTotal: 9999999 kB\nMemAvailable:     1000 kB\n")
    assert bytes_after_steps(skewed()) == 0
    for told in ("MemAvailable:  9000000 kB\n", "nothing\n"):
        meminfo.write_text(told)
        assert bytes_after_steps(skewed()) > 0
    meminfo.unlink()
    assert bytes_after_steps(skewed()) > 0


def test_wide_data_is_left_and_narrow_data_of_the_same_graph_is_not():
    graph = skewed()
    data = random_data((graph.num_vertices, 16), torch.float32)
    received = [tg.aggregate(graph, data, "sum") for _ in range(4)]
    assert all(torch.equal(again, received[0]) for again in received) and bytes_of(graph) == 0
    assert bytes_after_steps(graph) > 0
    assert torch.equal(tg.aggregate(graph, data, "sum"), received[0])


@pytest.mark.parametrize("n", [0, 1, 5])
def test_graphs_of_hardly_anything(n, monkeypatch):
    monkeypatch.setattr(grouping, "cache_bytes", lambda: int(n == 0))
    for arcs in (0, 40) if n else (0,):
        src = torch.arange(arcs) % max(n, 1)
        graph = tg.Graph.from_edges(src, src.flip(0), num_vertices=n)
        expected = plainly(steps, graph, monkeypatch)
        assert torch.equal(steps(graph), expected)


def test_groups_are_powers_of_two_of_the_degree():
    degree = torch.tensor([0, 5, 1, 7, 4, 3, 0, 1 << 40, 8, 2])
    assert grouping.by_degree(degree).tolist() == [7, 8, 1, 3, 4, 5, 9, 2, 0, 6]
    assert grouping.by_degree(degree[:0]).tolist() == []
