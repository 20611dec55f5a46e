"""Each public function is called once, on a small graph: what breaks everything breaks here, within seconds.

pytest -m smoke
"""

import ast
from pathlib import Path

import pytest
import torch

import tgraph as tg

pytestmark = pytest.mark.smoke

GRAPH = tg.generators.rmat(7, weighted=True)


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
    assert isinstance(tg.algorithms.WCC().followed(), tg.dynamic.Components)
    assert isinstance(tg.algorithms.PageRank().followed(), tg.dynamic.LinearSystem)


def test_random_numbers():
    key, counter = tg.random.key(3), torch.arange(5)
    drawn = tg.random.words(key, counter), tg.random.uniform(key, counter), tg.random.below(key, counter, 9)
    assert all(len(x) == 5 for x in (*drawn, tg.random.permutation(key, 5)))


def test_algorithms():
    run, n = tg.algorithms, GRAPH.num_vertices
    assert int(run.bfs(GRAPH, 0)[0]) == 0 and float(run.sssp(GRAPH, 0)[0]) == 0
    assert float(run.pagerank(GRAPH).sum()) == pytest.approx(1, abs=1e-4)
    assert all(len(scores) == n for scores in run.hits(GRAPH))
    simple = tg.generators.rmat(7)
    found = (run.wcc, run.betweenness, run.cdlp, run.core_number, run.local_clustering)
    assert all(len(function(simple)) == n for function in found) and run.triangle_count(simple) > 0


def test_communities():
    run, graph = tg.algorithms, tg.generators.grid2d(5, 5)
    found = run.louvain(graph), run.leiden(graph), run.label_propagation(graph), run.ecg(graph)
    found += run.semi_synchronous_label_propagation(graph), *run.louvain_levels(graph)
    assert all(0 < run.modularity(graph, community) < 1 for community in found)
    assert run.partition_quality(graph, found[0]).coverage > 0
    assert len(run.community_cuts(graph, found[0]).conductance) == len(found[0].unique())


def test_cohesion():
    run, graph = tg.algorithms, tg.generators.rmat(7)
    n = graph.num_vertices
    found = (run.clustering, run.square_clustering, run.onion_layers)
    assert all(len(function(graph)) == n for function in found) and len(run.rich_club_coefficient(graph))
    assert 0 < run.transitivity(graph) < 1 and 0 < run.average_clustering(graph) < 1
    core, shell, truss = run.k_core(graph), run.k_shell(graph), run.k_truss(graph, 4)
    assert core.num_vertices and shell.num_vertices and truss.num_edges and len(run.truss_number(graph))
    assert run.densest_subgraph(graph)[0] > 1 and run.motif_counts(graph)["star"] and run.triadic_census(graph)["300"]
    assert len(run.max_clique(graph)) == len(run.maximal_clique_sizes(graph)) - 1 and run.k_clique_count(graph, 4)
    assert len(run.maximal_cliques(graph)[0]) > 2


def test_trees_sets_and_matchings():
    run, graph = tg.algorithms, tg.generators.rmat(7)
    assert run.minimum_spanning_forest(GRAPH).num_edges == run.maximum_spanning_forest(GRAPH).num_edges > 0
    assert all(len(found(graph)) for found in (run.maximal_independent_set, run.dominating_set, run.vertex_cover))
    assert (run.maximal_matching(graph) >= 0).any() and (run.heavy_matching(GRAPH) >= 0).any()
    halves = tg.Graph.from_edges([0, 0, 1], [2, 3, 2], directed=False)
    assert (
        run.maximum_bipartite_matching(halves).tolist() == [3, 2, 1, 0] and len(run.minimum_vertex_cover(halves)) == 2
    )


def test_paths():
    run, n = tg.algorithms, GRAPH.num_vertices
    assert run.shortest_path(GRAPH, 0, 1).tolist()[0] == 0 and run.shortest_path_length(GRAPH, 0, 1, weighted=True) > 0
    assert len(run.astar_path(GRAPH, 0, 1, torch.zeros(n))) > 1 and len(run.sssp(GRAPH, 0, parents=True)[1]) == n
    assert len(run.bellman_ford(GRAPH, 0)[0]) == n and len(run.negative_cycle(GRAPH)) == 0
    assert len(run.widest_path(GRAPH, 0)) == n and run.predecessors(GRAPH, 0, weighted=True).num_vertices == n
    assert len(run.k_shortest_paths(GRAPH, 0, 1, 2)) == 2 and run.maximum_flow_value(GRAPH, 0, 1) > 0
    assert len(run.maximum_flow(GRAPH, 0, 1)[1]) == GRAPH.num_arcs and len(run.minimum_cut(GRAPH, 0, 1)[1]) == n
    assert run.minimum_cut_value(GRAPH, 0, 1) > 0
    ring = tg.Graph.from_edges([0, 1, 2], [1, 2, 0])
    assert (run.diameter(ring), run.radius(ring), len(run.eccentricity(ring))) == (2, 2, 3)
    assert len(run.center(ring)) == len(run.periphery(ring)) == 3
    assert next(run.all_pairs(GRAPH, range(3)))[1].shape == (3, n)
    assert run.floyd_warshall(GRAPH)[0].shape == (n, n) and run.stoer_wagner(ring.to_undirected())[0] == 2
    assert tg.primitives.all_pairs.shorten(torch.zeros(3, 3, dtype=torch.float64)) == -1


def test_centralities():
    run, simple = tg.algorithms, tg.generators.rmat(7).to_undirected()
    found = (run.closeness, run.harmonic, run.degree_centrality, run.eigenvector, run.laplacian_centrality)
    assert all(len(function(simple)) == 128 for function in (*found, run.subgraph_centrality))
    assert all(len(function(simple)) == 128 for function in (run.load, run.percolation, run.approximate_betweenness))
    assert len(tg.primitives.sample_paths.inside(simple, tg.random.key(1), 0, 10)) == 128
    assert len(run.edge_betweenness(simple)) == simple.num_arcs and len(run.katz(simple, alpha=0.01)) == 128
    distance = run.bfs(simple, 0)[None]
    counts, onward = tg.primitives.path_counts.count_paths(simple, distance)
    sums = torch.zeros(simple.num_arcs, dtype=torch.float64)
    assert len(tg.primitives.path_counts.add_along_arcs(simple, distance, counts, onward, sums)) == simple.num_arcs
    assert len(tg.primitives.multi_source.level_counts(simple, [0, 1])) == 2
    assert len(tg.primitives.multi_source.hops(simple, [0, 1])) == 2
    ring = tg.generators.cycle(8)
    found = (run.current_flow_closeness, run.information, run.current_flow_betweenness)
    assert all(len(function(ring)) == 8 for function in found) and len(run.edge_current_flow_betweenness(ring)) == 16
    assert run.pagerank(simple, personalization=torch.ones(128, 2)).shape == (128, 2)


def test_similarity():
    run, graph = tg.algorithms, tg.generators.rmat(7)
    pairs = torch.tensor([[0, 1], [2, 3]])
    found = (run.jaccard, run.overlap, run.sorensen, run.cosine, run.common_neighbors, run.adamic_adar)
    found = (*found, run.resource_allocation, run.preferential_attachment)
    assert all(len(function(graph, pairs)) == 2 for function in found)
    assert run.most_similar(graph, 3)[0].shape == (graph.num_vertices, 3)
    assert run.simrank(graph).shape == (128, 128) and len(run.approximate_simrank(graph, 0, epsilon=0.5)) == 128
    assert tg.multiply(graph, graph, mask=graph).num_arcs <= graph.num_arcs


def test_structure():
    run, graph = tg.algorithms, tg.generators.rmat(7)
    n = graph.num_vertices
    assert len(run.k_hop(graph, 0, 1)) == run.ego_graph(graph, 0).num_vertices == int(graph.out_degree[0]) + 1
    assert run.induced_subgraph(graph, [0, 1]).num_vertices == 2 and run.line_graph(graph)[0].num_arcs > 0
    for combine in (run.compose, run.intersection, run.difference, run.symmetric_difference):
        assert combine(graph, graph).num_arcs in (0, graph.num_arcs)
    labelled = tg.Graph(graph.offset, graph.neighbors, vertices=torch.arange(n) + n, directed=False)
    assert run.union(graph, labelled).num_vertices == run.disjoint_union(graph, graph).num_vertices == 2 * n
    assert run.complement(graph).num_arcs == n * (n - 1) - graph.num_arcs
    assert run.quotient_graph(graph, torch.zeros(n, dtype=torch.int64)).num_vertices == 1
    values = torch.arange(n)
    assert -1 <= run.degree_assortativity(graph) <= 1 and -1 <= run.numeric_assortativity(graph, values) <= 1
    assert run.attribute_assortativity(graph, values) < 1 == run.reciprocity(graph)
    assert len(run.average_neighbor_degree(graph)) == n == int(run.degree_distribution(graph).sum())
    law = run.power_law_fit(graph.out_degree)
    assert isinstance(law, run.PowerLaw) and 0 <= run.power_law_p_value(graph.out_degree, law) <= 1


def test_components_and_orders():
    run, simple = tg.algorithms, tg.generators.rmat(7)
    ascending = tg.generators.rmat(6, directed=True).to_edge_index().sort(0)[0]
    dag = tg.Graph.from_edges(*ascending[:, ascending[0] != ascending[1]])
    assert len(run.scc(dag)) == len(run.attracting_components(dag)) == dag.num_vertices
    assert run.condensation(dag)[0].num_vertices == dag.num_vertices and run.is_dag(dag)
    assert len(run.biconnected_components(simple)) == 2 and len(run.biconnected_edges(simple)) == simple.num_arcs
    assert len(run.articulation_points(simple)) and len(run.bridges(simple)) == 2
    assert len(run.topological_sort(dag)) == len(run.topological_generations(dag)) and not len(run.find_cycle(dag))
    assert run.dag_longest_path_length(dag) + 1 == len(run.dag_longest_path(dag))
    assert run.transitive_closure(dag).num_arcs > run.transitive_reduction(dag).num_arcs > 0
    assert len(run.greedy_color(simple)) == simple.num_vertices and not run.is_bipartite(simple)
    assert len(run.odd_cycle(simple)) % 2 and len(run.bipartite_color(tg.generators.grid2d(2, 2))) == 4


@pytest.mark.parametrize(
    "program",
    [
        tg.algorithms.BFS(0),
        tg.algorithms.SSSP(0),
        tg.algorithms.WidestPath(0),
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
    assert "aggregate" in str(tg.explain(GRAPH, values))


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


@pytest.mark.parametrize("name", tg.formats.LAYOUTS)
def test_layouts(name):
    graph = tg.generators.rmat(7)  # without weights, which not every layout holds
    held = graph.to_format(name, **({"min_density": 0} if name == "wsb" else {}))
    assert torch.equal(tg.algorithms.wcc(held), tg.algorithms.wcc(graph))


def test_recommendations(tmp_path, monkeypatch):
    monkeypatch.setenv("TGRAPH_CACHE", str(tmp_path))
    assert tg.tune(GRAPH, columns=4) and tg.advise(GRAPH, features=4, layouts=("csr", "sell"))


def test_streams(tmp_path):
    path, edges = tmp_path / "parts.tg", tmp_path / "edges.txt"
    tg.stream.write_partitioned(GRAPH, path, tg.stream.partition(GRAPH, 3))
    graph = tg.stream.open(path, memory="1MB")
    features = torch.ones(graph.num_vertices, 2)
    summed = tg.stream.aggregate(graph, features, tmp_path / "summed.npy")
    halved = tg.stream.apply(summed, lambda rows: rows / 2, tmp_path / "halved.npy")
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


def test_walks():
    run, graph = tg.algorithms, tg.generators.rmat(7)
    for function in (run.random_walks, run.node2vec_walks, run.walks_with_restart):
        assert function(graph, length=3, walks=2).shape == (256, 4)
    assert run.node2vec(graph, 4, length=3, walks=1).shape == (128, 4)
    assert run.spectral_embedding(graph, 3)[0].shape == (128, 3)
    assert tg.primitives.walks.random_walks(graph, [0, 1], 5, tg.random.key(0)).shape == (2, 6)


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
    """Whatever is exported by name occurs above."""
    tree = ast.parse(Path(__file__).read_text())
    named = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    named |= {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
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
        "distributed",
        "drawing",
        "errors",
        "primitives",
        "progress",
    }
    public = {*tg.__all__, *tg.algorithms.__all__, *tg.generators.__all__, *tg.nn.__all__, *tg.stream.__all__}
    public |= {*tg.sampling.__all__, *tg.dynamic.__all__, *tg.distributed.__all__}
    assert public - named - results == set()
