"""Each public function is called once, on a small graph: what breaks everything breaks here, within seconds.

pytest -m smoke
"""

import ast
import contextlib
import inspect
from importlib import util
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

import tgraph as tg

pytestmark = pytest.mark.smoke

GRAPH = tg.generators.rmat(7, weighted=True)
N = 12

# Arguments by the names of parameters that have no default.
GIVEN = {
    **{"source": 0, "target": 3, "left": None, "k": 3, "length": 4, "count": 3, "dimensions": 2, "vertex": 1},
    **{"vertices": torch.tensor([0, 1, 2]), "start": torch.tensor([0, 1]), "pairs": torch.tensor([[0, 1], [1, 2]])},
    **{"labels": torch.arange(N) % 3, "communities": torch.arange(N) % 3, "values": torch.arange(N) + 1.0},
    **{
        "states": torch.arange(N) / N,
        "heuristic": torch.zeros(N),
        "method": "rcm",
        "order": torch.arange(N).flip(0),
        "ids": [0, 1],
        "mate": torch.full((N,), -1),
    },
    **{"index": torch.tensor([0, 1]), "name": "sell", "position": 0, "device": "cpu", "column": None},
}

OTHER = {True: lambda graph: tg.Graph(graph.offset, graph.neighbors, vertices=torch.arange(N) + 100)}
OTHER[False] = lambda graph: graph.transpose()


def graphs():
    """Graphs, one of which each public function of a graph takes."""
    source = torch.Generator().manual_seed(3)
    ends = torch.randint(0, N, (2, 40), generator=source)
    for directed in (False, True):
        weights = torch.rand(40, generator=source) + 0.5
        yield tg.Graph.from_edges(*ends, weights, num_vertices=N, directed=directed, multi="first", self_loops="drop")
    yield tg.Graph.from_edges(*ends.sort(0).values, num_vertices=N, multi="first", self_loops="drop")
    yield tg.Graph.from_edges(torch.arange(N - 1), torch.arange(1, N), num_vertices=N, directed=False)
    yield tg.Graph.from_edges(torch.arange(N - 1), torch.arange(1, N), torch.ones(N - 1), num_vertices=N)


def arguments(function, graph):
    """(positional, named) that a function needs beside the graph."""
    named = {}
    for name, parameter in list(inspect.signature(function).parameters.items())[1:]:
        needed = parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD
        if needed and parameter.kind is not parameter.VAR_POSITIONAL:
            value = OTHER[function.__name__ == "union"](graph) if name == "other" else GIVEN[name]
            named[name] = value.clone() if isinstance(value, torch.Tensor) else value
        elif name == "seed":
            named[name] = 1
        elif name == "temperature":
            named[name] = 0.1
    return named


def test_generators():
    assert tg.generators.uniform(6).num_vertices == 64 and tg.generators.grid2d(3, 4).num_vertices == 12


def test_models():
    make = tg.generators
    graphs = [
        make.erdos_renyi(9, 0.3),
        make.random_edges(9, 5),
        make.barabasi_albert(9, 2),
        make.watts_strogatz(9, 2, 0.1),
        make.stochastic_block_model([4, 5], [[0.5, 0.1], [0.1, 0.5]]),
        make.configuration_model([2] * 9),
        make.random_regular(9, 2),
        make.random_geometric(9, 0.2)[0],
        make.hyperbolic(9, 2)[0],
        make.lfr(9, max_degree=4, min_degree=2, min_community=3)[0],
        make.kronecker([[1, 2, 3]] * 3, 2, 9),
        make.random_tree(9),
        make.balanced_tree(8, 1),
        make.path(9),
        make.cycle(9),
        make.star(8),
        make.wheel(9),
        make.complete(9),
        make.complete_bipartite(4, 5),
        make.complete_multipartite((2, 3, 4)),
        make.lollipop(4, 5),
        make.barbell(3, 3),
    ]
    assert all(graph.num_vertices == 9 for graph in graphs)
    assert make.ladder(4).num_vertices == make.hypercube(3).num_vertices == make.famous("cubical").num_vertices == 8


def test_drawing(tmp_path):
    graph, place = tg.generators.random_tree(30), tg.drawing
    found = [place.circular(graph), place.spectral(graph), place.spring(graph), place.forceatlas2(graph)]
    found += [place.layered(tg.Graph.from_edges([0, 0], [1, 2])), tg.draw(graph, tmp_path / "tree.svg")]
    assert all(positions.shape[1] == 2 for positions in found)


def test_pages(tmp_path):
    tg.report(GRAPH, title="R-MAT").save(tmp_path / "report.html")
    assert "<bdi>R-MAT</bdi>" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_graph_that_changes():
    store = tg.dynamic.Store(torch.float32)
    assert store.insert([0, 1, 2], [1, 2, 0], [1, 2, 3]) == 1 and store.delete([1], [2]) == 2
    assert store.snapshot().weights.tolist() == [1, 3]
    with tg.dynamic.History(store) as history:
        pass
    assert isinstance(history.moments[0], tg.dynamic.Moment)
    follower = tg.dynamic.follow(tg.algorithms.SSSP(0), store)
    assert isinstance(follower, tg.dynamic.Follower) and follower.values.tolist() == [0, 1, torch.inf]
    assert isinstance(follower.update(), tg.dynamic.Update)
    assert tg.dynamic.follow(tg.dynamic.CoreNumbers(), store).values.tolist() == [1, 1, 1]
    assert tg.dynamic.follow(tg.dynamic.Triangles(), store).values == 0
    embeddings = tg.dynamic.Embeddings([lambda graph, x: tg.aggregate(graph, x)], torch.ones(3, 1))
    followed = tg.dynamic.follow(embeddings, store, otherwise="recompute")
    assert followed.values.sum() == store.snapshot().num_arcs
    assert isinstance(tg.algorithms.WCC().followed(), tg.dynamic.Components)
    assert isinstance(tg.algorithms.PageRank().followed(), tg.dynamic.LinearSystem)


def test_random_numbers():
    key, counter = tg.random.key(3), torch.arange(5)
    drawn = tg.random.words(key, counter), tg.random.uniform(key, counter), tg.random.below(key, counter, 9)
    assert all(len(x) == 5 for x in (*drawn, tg.random.permutation(key, 5)))


ALGORITHMS = {name: getattr(tg.algorithms, name) for name in tg.algorithms.__all__}
ALGORITHMS = {
    name: each for name, each in ALGORITHMS.items() if next(iter(inspect.signature(each).parameters), "") == "graph"
}


@pytest.mark.parametrize("name", ALGORITHMS)
def test_algorithms(name):
    for graph in graphs():
        with contextlib.suppress(tg.errors.TGraphError):
            ALGORITHMS[name](graph, **arguments(ALGORITHMS[name], graph))
            return
    raise AssertionError("no graph will do")


def test_power_laws():
    law = tg.algorithms.power_law_fit(GRAPH.out_degree)
    assert isinstance(law, tg.algorithms.PowerLaw)
    assert 0 <= tg.algorithms.power_law_p_value(GRAPH.out_degree, law) <= 1


@pytest.mark.parametrize(
    "program",
    [
        tg.algorithms.BFS(0),
        tg.algorithms.SSSP(0),
        tg.algorithms.WidestPath(0),
        tg.algorithms.SoftShortestPaths(0, 0.1),
        tg.algorithms.WCC(),
        tg.algorithms.PlainWCC(),
    ],
)
def test_run(program):
    assert tg.run(program, GRAPH, trace=True).converged


def test_several_runs():
    programs = [tg.algorithms.PageRank(), tg.algorithms.HITS(), tg.algorithms.PlainPageRank()]
    programs += [tg.algorithms.Eigenvector(max_iterations=1000), tg.algorithms.Katz(alpha=1e-3)]
    assert all(run.converged for run in tg.run_each(programs, GRAPH))
    with tg.one_torch_thread():
        assert tg.run(programs[0], GRAPH).converged


def test_operators():
    values, active = torch.ones(GRAPH.num_vertices), GRAPH.select([0, 1])
    vertices = tg.vertex_select(GRAPH, active)
    sub = tg.reconstruct(GRAPH, active, vertices, tg.neighbor_select(GRAPH, vertices))
    received = tg.aggregate(sub, values, "sum")
    after, following = tg.update(values.clone(), active, received)
    assert len(after) == GRAPH.num_vertices and isinstance(following, tg.Frontier)
    assert tg.aggregate(GRAPH, values, tg.TopK(2)).senders.shape == (GRAPH.num_vertices, 2)
    assert "aggregate" in str(tg.explain(GRAPH, values))
    assert tg.multiply(GRAPH, GRAPH, mask=GRAPH).num_arcs <= GRAPH.num_arcs


def test_files(tmp_path):
    path = tmp_path / "graph.tg"
    tg.write(GRAPH, path)
    assert tg.verify(path) > 0 and tg.read(path).num_arcs == GRAPH.num_arcs
    assert len(tg.algorithms.bfs(tg.open(path, memory="1MB"), 0)) == GRAPH.num_vertices


def test_conversions():
    networkx = pytest.importorskip("networkx")
    assert tg.from_networkx(networkx.path_graph(4)).num_edges == 3
    assert tg.from_scipy(GRAPH.to_scipy()).num_arcs == GRAPH.num_arcs
    assert tg.from_edge_index(GRAPH.to_edge_index()).num_arcs == GRAPH.num_arcs
    assert tg.from_table(GRAPH.to_pandas()).num_arcs >= GRAPH.num_edges
    assert tg.from_pandas(GRAPH.to_pandas(), weight="weight").num_arcs >= GRAPH.num_edges


def test_conversions_to_other_libraries():
    """Of packages that are installed."""
    nodes, edges = lambda: 2, lambda order: (torch.tensor([0]), torch.tensor([1]))
    assert tg.from_dgl(SimpleNamespace(num_nodes=nodes, edges=edges, ndata={}, edata={})).num_arcs == 1
    if util.find_spec("torch_geometric"):
        assert tg.from_pyg(GRAPH.to_pyg()).num_arcs == GRAPH.num_arcs
    if util.find_spec("igraph"):
        assert tg.from_igraph(GRAPH.to_igraph()).num_arcs == GRAPH.num_arcs


@pytest.mark.parametrize("name", tg.formats.LAYOUTS)
def test_layouts(name):
    graph = tg.generators.rmat(7)  # without weights, which not every layout holds
    held = graph.to_format(name, **({"min_density": 0} if name == "wsb" else {}))
    assert torch.equal(tg.algorithms.wcc(held), tg.algorithms.wcc(graph))


def test_recommendations(untuned):
    assert tg.tune(GRAPH, columns=4) and tg.advise(GRAPH, features=4, layouts=("csr", "sell"))


def test_streams(tmp_path):
    path, edges = tmp_path / "parts.tg", tmp_path / "edges.txt"
    tg.stream.write_partitioned(GRAPH, path, tg.stream.partition(GRAPH, 3))
    graph = tg.stream.open(path, memory="1MB")
    features = torch.ones(graph.num_vertices, 2)
    summed = tg.stream.aggregate(graph, features, tmp_path / "summed.npy")
    halved = tg.stream.apply(summed, lambda rows: rows / 2, tmp_path / "halved.npy")
    assert tg.stream.Network([tg.nn.GCNConv(2, 1)], graph, tmp_path).backward(halved, lambda out, rows: out.sum()) < 1e9
    restored = tg.stream.permute(halved, torch.arange(graph.num_vertices).flip(0), tmp_path / "restored.npy")
    assert restored.shape == (graph.num_vertices, 2)
    edges.write_text("0 1\n1 2\n")
    tg.stream.convert(edges, tmp_path / "other.tg", memory="100MB")
    assert tg.read(tmp_path / "other.tg").num_vertices == 3


LAYERS = {
    **dict.fromkeys(("GCNConv", "SAGEConv", "GATConv", "GATv2Conv", "TransformerConv", "GraphConv", "SGConv"), (4, 3)),
    "ResGatedGraphConv": (4, 3),
    "EdgeConv": (tg.nn.Linear(8, 3),),
    "APPNP": (2, 0.1),
    "GINConv": (tg.nn.Linear(4, 3),),
    "GINEConv": (tg.nn.Linear(4, 3),),
    "RGCNConv": (4, 3, 2),
    "PNAConv": (4, 3, ["mean", "std"], ["identity", "linear"], torch.tensor([0, 3, 1])),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layers(name):
    layer = getattr(tg.nn, name)(*LAYERS[name])
    x = torch.ones(GRAPH.num_vertices, 4, requires_grad=True)
    of_edges = {"GINEConv": (torch.ones(GRAPH.num_arcs, 4),), "RGCNConv": (torch.arange(GRAPH.num_arcs) % 2,)}
    layer(x, GRAPH.to_edge_index(), *of_edges.get(name, ())).sum().backward()
    assert x.grad is not None
    tg.nn.forget(GRAPH.to_edge_index())


def test_layers_of_several_types():
    x, edge_index = torch.ones(GRAPH.num_vertices, 4, requires_grad=True), GRAPH.to_edge_index()
    layer = tg.nn.HGTConv(4, 4, (["vertex"], [("vertex", "to", "vertex")]))
    layer({"vertex": x}, {("vertex", "to", "vertex"): edge_index})["vertex"].sum().backward()
    assert x.grad is not None


def test_acceleration():
    geometric = pytest.importorskip("torch_geometric")
    model = torch.nn.Sequential(geometric.nn.GCNConv(4, 3))
    assert tg.nn.accelerate(model).replaced
    tg.nn.restore(model)


def test_sampling():
    batch = tg.sampling.NeighborSampler(GRAPH, [3, 2], seed=1).sample([0, 5])
    assert isinstance(batch, tg.sampling.SamplerOutput) and len(batch.row) == sum(batch.num_sampled_edges)
    assert all(isinstance(block, tg.sampling.Block) for block in tg.sampling.blocks(batch))
    for vertices in (
        tg.sampling.saint_nodes(GRAPH, 3, 1),
        tg.sampling.saint_edges(GRAPH, 3, 1),
        tg.sampling.saint_walks(GRAPH, 3, 2, 1),
    ):
        assert 0 < len(vertices) < 10
    budgets = tg.sampling.BudgetSampler({("vertex", "to", "vertex"): GRAPH}, [3], seed=1)
    assert len(budgets.sample({"vertex": [0, 5]}).node["vertex"]) == 5
    assert list(tg.sampling.ahead(len, [[0, 5], [1]], 1)) == [2, 1]
    assert len(tg.sampling.LaborSampler(GRAPH, [3], seed=1).sample([0, 5]).row)
    assert len(tg.sampling.LayerSampler(GRAPH, [3], seed=1).sample([0, 5]).weight)
    assert len(tg.sampling.PPRSampler(GRAPH, 3).sample([0, 5]).row)
    assert len(tg.sampling.PinSAGESampler(GRAPH, [3], seed=1).sample([0, 5]).weight)
    assert tg.sampling.NegativeSampler(GRAPH, seed=1).sample(5).shape == tg.sampling.negative_edges(GRAPH, 5).shape


def test_a_graph_that_is_spread_over_ranks(tmp_path, monkeypatch):
    launched = {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0"}
    for name, value in launched.items():
        monkeypatch.setenv(name, value)
    tg.distributed.init_process_group("gloo")
    try:
        tg.stream.write_partitioned(GRAPH, tmp_path / "blocks.tg", parts=2)
        for graph in (tg.distributed.open(tmp_path / "blocks.tg"), tg.distributed.spread(GRAPH)):
            with tg.distributed.together():
                depth = tg.algorithms.bfs(graph, 0)
            assert isinstance(depth, tg.distributed.Sharded)
            assert torch.equal(tg.distributed.gather(graph, depth), tg.algorithms.bfs(GRAPH, 0))
            rows = tg.distributed.FeatureRows(graph, 2 * torch.arange(GRAPH.num_vertices))
            assert rows.get(torch.tensor([2, 0, 2])).tolist() == [4, 0, 4]
        held = tg.distributed.Ownership((0, GRAPH.num_vertices))
        assert tg.distributed.from_local(torch.ones(GRAPH.num_vertices), held).sum() == GRAPH.num_vertices
    finally:
        torch.distributed.destroy_process_group()


def test_nothing_public_is_left_out():
    """Whatever is exported by name occurs above, or takes a graph."""
    tree = ast.parse(Path(__file__).read_text())
    named = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    named |= {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    named |= ALGORITHMS.keys()
    results = {
        "Advice",
        "Checkpoint",
        "ModelAdvice",
        "Program",
        "Received",
        "Relaxation",
        "Report",
        "Run",
        "Subgraph",
        "Trace",
    }
    results |= {
        "Tuned",
        "Acceleration",
        "MessagePassing",
        "FeatureFile",
        "Graph",
        "backends",
        "distributed",
        "drawing",
        "errors",
        "primitives",
        "progress",
    }
    public = {*tg.__all__, *tg.algorithms.__all__, *tg.generators.__all__, *tg.nn.__all__, *tg.stream.__all__}
    public |= {*tg.sampling.__all__, *tg.dynamic.__all__, *tg.distributed.__all__}
    assert public - named - results == set()
