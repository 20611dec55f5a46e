"""Programs give the same answers whatever layout the arcs of a graph are in."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import MODES, graphs, random_graph

import tgraph as tg
from tgraph.errors import ArgumentError, FileFormatError
from tgraph.formats import LAYOUTS
from tgraph.kernels.reductions import EDGE_OPERATIONS, REDUCTIONS

al = tg.algorithms
WEIGHTS = (None, torch.int32, torch.float64)

# Every algorithm that is shipped, on a graph with vertices.
ALGORITHMS = {
    "bfs": lambda graph: al.bfs(graph, 0),
    "bfs of several": lambda graph: al.bfs(graph, [0, graph.num_vertices - 1]),
    "search tree": lambda graph: al.bfs(graph, 0, parents=True)[1],
    "sssp": lambda graph: al.sssp(graph, 0),
    "wcc": al.wcc,
    "pagerank": lambda graph: al.pagerank(graph, dtype=torch.float64),
    "pagerank by blocks": lambda graph: al.pagerank(graph, dtype=torch.float64, method="gauss-seidel"),
    "hits": lambda graph: al.hits(graph, tol=None, max_iterations=5, dtype=torch.float64)[0],
    "betweenness": al.betweenness,
    "triangles": al.triangle_count,
    "clustering": al.local_clustering,
    "cores": al.core_number,
    "communities": al.cdlp,
}

# CSR without options is a plain Graph, ELLPACK refuses a hub in a small graph, and WSB is for dense ones.
OPTIONS = {"ell": {"limit": 1e9}, "csr": {"narrow": True}, "wsb": {"min_density": 0}}

# What is computed in the layout, without decoding it.
IN_LAYOUT = ("bfs", "bfs of several", "sssp", "pagerank", "hits")


def formatted(graph, name):
    """The graph in a layout, or in CSR where the layout cannot hold it."""
    try:
        return graph.to_format(name, **OPTIONS.get(name, {}))
    except ArgumentError:
        assert name == "cbm", "only a binary matrix leaves out weights and parallel arcs"
        return graph


def same(found, wanted):
    torch.testing.assert_close(found, wanted, rtol=1e-6, atol=1e-9, equal_nan=True)


EVERY = pytest.mark.parametrize("layout", LAYOUTS)


@settings(max_examples=4 * settings().max_examples)
@given(graph=graphs(min_vertices=1, dtypes=WEIGHTS), layout=st.sampled_from(sorted(LAYOUTS)), data=st.data())
def test_algorithms_on_any_graph(graph, layout, data):
    held = formatted(graph, layout)
    for name in data.draw(st.permutations([*ALGORITHMS]))[:4]:
        if name != "hits" or graph.num_arcs:
            same(ALGORITHMS[name](held), ALGORITHMS[name](graph))


@pytest.mark.covering(2)
@EVERY
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("dtype", WEIGHTS)
@pytest.mark.parametrize("name", IN_LAYOUT)
def test_these_decode_nothing_but_rows(layout, name, directed, dtype):
    if layout == "cbm" and name not in ("pagerank", "hits"):
        pytest.skip("a CBM serves sums alone")
    graph = random_graph(60, 400, directed=directed, dtype=dtype)
    graph = graph.to_undirected() if layout == "cbm" and not directed else graph
    held = formatted(graph, layout)
    same(ALGORITHMS[name](held), ALGORITHMS[name](graph))
    assert "arcs" not in held.caches


@pytest.mark.covering(1)
@EVERY
@pytest.mark.parametrize("dtype", WEIGHTS)
def test_ranks_in_float32_are_added_in_float64(layout, dtype):
    """A sum over a hub in float32 would be off by more than the tolerance."""
    n = 30000
    graph = tg.Graph.from_edges(torch.arange(1, n), torch.zeros(n - 1, dtype=torch.int64), directed=False)
    if dtype is not None:
        graph = tg.Graph(graph.offset, graph.neighbors, torch.ones(graph.num_arcs, dtype=dtype), directed=False)
    if layout == "ell":
        pytest.skip("it would take the square of the hub's degree")
    found, wanted = (al.pagerank(g, weighted=dtype is not None) for g in (formatted(graph, layout), graph))
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, wanted, rtol=2e-6, atol=0)


@pytest.mark.covering(1)
@EVERY
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", WEIGHTS)
def test_searches_agree_in_every_direction(layout, mode, dtype):
    graph = random_graph(80, 300, seed=3, dtype=dtype)
    held = formatted(graph, layout)
    for search in (al.bfs, al.sssp):
        same(search(held, 0, mode=mode), search(graph, 0))


@EVERY
@pytest.mark.parametrize("backend", ["native", "portable"])
def test_another_backend_gets_the_graph_decoded(layout, backend):
    graph = random_graph(40, 200, dtype=torch.float32)
    held = formatted(graph, layout)
    sub = held.everything()
    same(al.sssp(held, 0, backend=backend), al.sssp(graph, 0))
    assert sub.graph is held


PAIRS = [(reduce, edge) for reduce in REDUCTIONS for edge in EDGE_OPERATIONS]


@settings(max_examples=8 * settings().max_examples)
@given(graph=graphs(dtypes=WEIGHTS), layout=st.sampled_from(sorted(LAYOUTS)), pair=st.sampled_from(PAIRS))
def test_aggregates_and_their_gradients(graph, layout, pair):
    reduce, edge = (pair[0], "copy") if graph.weights is None else pair
    data = torch.arange(3.0 * graph.num_vertices, dtype=torch.float64).reshape(-1, 3).cos().requires_grad_()
    found, wanted = (aggregate_and_gradient(each, data, reduce, edge) for each in (formatted(graph, layout), graph))
    same(found, wanted)


def aggregate_and_gradient(graph, data, reduce, edge):
    """What is received, with the gradient of a function of it where it has one."""
    values = tg.aggregate(graph, data, reduce, edge=edge)
    if not values.is_floating_point():
        return (values,)
    return values, torch.autograd.grad(values.nan_to_num(0, 0, 0).sin().sum(), data)[0]


@EVERY
def test_second_derivatives(layout):
    held = formatted(random_graph(12, 40, dtype=torch.float64), layout)
    edge = "copy" if held.weight_dtype is None else "mul"
    data = torch.rand((12, 2), dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradgradcheck(lambda x: tg.aggregate(held, x * x, "mean", edge=edge), data)


@EVERY
@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int32, torch.float16, torch.bfloat16, torch.float32])
def test_every_dtype_gives_what_csr_gives(layout, dtype):
    graph = random_graph(30, 120, seed=1).to_undirected()
    held = formatted(graph, layout)
    data = torch.arange(30).remainder(4).to(dtype)
    for reduce in ("sum", "mean", "min", "max", "any"):
        found, wanted = tg.aggregate(held, data, reduce), tg.aggregate(graph, data, reduce)
        assert found.dtype == wanted.dtype
        torch.testing.assert_close(found, wanted, rtol=1e-2, atol=1e-2)


@EVERY
def test_weights_of_the_caller_go_with_the_stored_order(layout):
    graph = random_graph(30, 120)
    held = formatted(graph, layout)
    weights, data = torch.rand(graph.num_arcs), torch.rand(30)
    same(tg.aggregate(held, data, edge="mul", weights=weights), tg.aggregate(graph, data, edge="mul", weights=weights))
    same(tg.aggregate(held, data, edge="mul", weights=2.0), tg.aggregate(graph, data, edge="mul", weights=2.0))


@EVERY
def test_attributes_of_a_graph_in_a_layout(layout):
    graph = tg.Graph.from_edges([0, 0, 1], [1, 2, 2], num_vertices=4, vertices=["a", "b", "c", "d"])
    held = formatted(graph, layout)
    assert held.layout.name == layout
    assert f"layout {layout}" in repr(held)
    assert (held.num_vertices, held.num_arcs, held.directed) == (4, 3, True)
    assert held.nbytes == held.layout.nbytes + held.vertices.nbytes
    same(held.out_degree, graph.out_degree)
    same(held.in_degree, graph.in_degree)
    assert held.top(held.out_degree, 1) == [("a", 2)]
    assert held.transpose().transpose() is held
    same(held.transpose().decoded().neighbors, graph.transpose().neighbors)
    same(held.to_format("csr").neighbors, graph.neighbors)
    same(held.to_format("coo").decoded().neighbors, graph.neighbors)
    held.drop_caches()
    held.validate()


@EVERY
def test_a_program_of_the_users_own(layout):
    class Heat(tg.Program):
        rounds = 3

        def init(self, graph):
            return torch.arange(graph.num_vertices, dtype=torch.float64), graph.everything()

        def compute(self, sub, heat, active):
            return tg.update(heat, active, tg.aggregate(sub, heat, "mean"))

    graph = random_graph(50, 300)
    run = tg.run(Heat(), formatted(graph, layout), trace=True)
    same(run.values, tg.run(Heat(), graph).values)
    assert layout == "cbm" or any("layout serves it" in choice for choice in run.trace.choices)


@EVERY
def test_files_keep_the_layout(layout, tmp_path):
    graph = random_graph(50, 300, dtype=torch.float32).reorder("degree")
    held = formatted(graph, layout)
    tg.write(held, tmp_path / "some.tg")
    again = tg.read(tmp_path / "some.tg")
    assert (again.layout is None) == (held.layout is None)
    if held.layout is not None:
        assert again.layout.options() == held.layout.options() and again.nbytes == held.nbytes
    for name in ("offset", "neighbors", "weights", "vertices", "order"):
        same(getattr(again.to_csr(), name), getattr(graph, name))
    assert again.directed == graph.directed
    assert tg.read(tmp_path / "some.tg", weights=False).to_csr().weights is None


@EVERY
def test_damaged_files_are_refused(layout, tmp_path):
    """Whatever is overwritten in the tensors is named, or still a graph; never followed."""
    held = formatted(random_graph(50, 300), layout)
    path = tmp_path / "some.tg"
    tg.write(held, path)
    whole = bytearray(path.read_bytes())
    random = torch.Generator().manual_seed(0)
    for _ in range(20):
        damaged = bytearray(whole)
        place = int(torch.randint(4096, len(whole) - 4, (), generator=random))
        damaged[place : place + 4] = b"\xff\xff\xff\x7f"
        path.write_bytes(damaged)
        try:
            graph = tg.read(path).validate()
        except (ArgumentError, FileFormatError):
            continue
        al.pagerank(graph, tol=None, max_iterations=2)


@pytest.mark.parametrize("call", [lambda g: g.to_format("rle"), lambda g: tg.advise(g, layouts=["rle"])])
def test_unknown_layouts(call):
    with pytest.raises(ArgumentError, match="layout: 'rle' is not one of 'coo'"):
        call(random_graph(5, 5))


def test_unknown_options():
    with pytest.raises(ArgumentError, match="height: no option of the layout 'sell', which takes 'C', 'sigma'"):
        random_graph(5, 5).to_format("sell", height=3)


@pytest.mark.parametrize("name", ["layout", "auto"])
def test_a_graph_in_csr_has_no_layout_backend(name):
    graph = random_graph(5, 5)
    sub = tg.reconstruct(graph, graph.everything(), None, tg.neighbor_select(graph.transpose(), None), "pull")
    sub.backend = name
    if name == "auto":
        assert "layout" not in tg.explain(sub, torch.ones(5))
        return
    with pytest.raises(ArgumentError, match="the graph is stored in CSR"):
        tg.aggregate(sub, torch.ones(5))
