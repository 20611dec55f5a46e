"""Properties of every algorithm: equal results in any layout and on any number of threads, and refused graphs."""

import inspect

import pytest
import torch
from strategies import grid, on_threads, random_graph
from test_smoke import ALGORITHMS, N, arguments, graphs

import tgraph as tg
from tgraph.core.building import sorting
from tgraph.errors import ArgumentError, TGraphError

A, make = tg.algorithms, tg.generators

# Those that take no other graphs.
UNDIRECTED = """
    adamic_adar articulation_points biconnected_components biconnected_edges bridges common_neighbors cosine
    current_flow_betweenness current_flow_closeness densest_subgraph ecg edge_current_flow_betweenness greedy_color
    heavy_matching information jaccard k_clique_count k_truss laplacian_centrality matching_weight max_clique
    maximal_clique_sizes maximal_cliques maximal_independent_set maximal_matching maximum_bipartite_matching
    maximum_spanning_forest minimum_spanning_forest minimum_vertex_cover most_similar motif_counts onion_layers
    overlap preferential_attachment resource_allocation rich_club_coefficient semi_synchronous_label_propagation
    sorensen spectral_embedding square_clustering stoer_wagner subgraph_centrality truss_number vertex_cover
"""
DIRECTED = """
    attracting_components condensation dag_longest_path dag_longest_path_length topological_generations topological_sort
    transitive_closure transitive_reduction
"""
WEIGHTED = """
    betweenness closeness community_cuts current_flow_betweenness current_flow_closeness dag_longest_path
    dag_longest_path_length ecg edge_betweenness edge_current_flow_betweenness harmonic information label_propagation
    laplacian_centrality leiden load louvain louvain_levels modularity node2vec node2vec_walks percolation random_walks
    semi_synchronous_label_propagation simrank spectral_embedding walks_with_restart
"""

# Of each kind of kernel one or more.
WIDE = """
    articulation_points betweenness closeness edge_betweenness greedy_color is_bipartite is_dag label_propagation leiden
    louvain maximal_clique_sizes maximal_independent_set random_walks scc square_clustering triangle_count truss_number
    wcc
"""


def refusals(graph, words, **options):
    """The algorithms that do not take a graph, in these words."""
    found = set()
    for name, function in ALGORITHMS.items():
        if options.keys() <= inspect.signature(function).parameters.keys():
            try:
                function(graph, **arguments(function, graph), **options)
            except ArgumentError as error:
                found |= {name} if words in str(error) else set()
    return found


def test_graphs_of_the_other_kind_are_refused():
    undirected, directed, *_ = graphs()
    assert refusals(directed, "graph.to_undirected()") == set(UNDIRECTED.split())
    assert refusals(undirected, "this is for directed graphs") == set(DIRECTED.split())


def test_weights_that_are_not_there_are_refused():
    path = make.path(N)
    graphs = path, tg.Graph.from_edges(torch.arange(N - 1), torch.arange(1, N))
    found = (refusals(graph, "weighted: the graph has no weights", weighted=True) for graph in graphs)
    assert set.union(*found) == set(WEIGHTED.split())


def parts(result):
    """The tensors and numbers of a result."""
    if isinstance(result, tg.Graph):
        return [part for part in (result.offset, result.neighbors, result.weights) if part is not None]
    if isinstance(result, (list, tuple)) or inspect.isgenerator(result):
        return [part for each in result for part in parts(each)]
    return [result]


@pytest.mark.covering(1)
@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize("layout", ["cbm", "sell", "virtual"])
def test_a_graph_in_a_layout(name, layout):
    check_held(name, lambda graph: graph.to_format(layout))


def check_held(name, hold, **close):
    """The same for graphs that are held in another way."""
    for graph in graphs():
        given = arguments(ALGORITHMS[name], graph)
        try:
            expected, held = parts(ALGORITHMS[name](graph, **given)), hold(graph)
        except TGraphError:
            continue
        found = parts(ALGORITHMS[name](held, **given))
        torch.testing.assert_close(found, expected, **{"rtol": 1e-5, "atol": 1e-7, **close}, equal_nan=True)


@pytest.mark.parametrize("name", WIDE.split())
def test_wide_neighbours(monkeypatch, name):
    """As in graphs of 2^31 vertices and more, which most kernels leave to the portable backend."""

    def wide(graph):
        monkeypatch.setattr(sorting, "index_dtype", lambda num_vertices: torch.int64)
        held = tg.Graph(graph.offset, graph.neighbors, graph.weights, directed=graph.directed)
        assert held.neighbors.dtype == torch.int64
        return held

    check_held(name, wide, rtol=1e-12, atol=0)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_another_default_device(name):
    """As a script sets it that computes on a GPU; "meta" has no data, and no operation goes on with it."""
    for graph in graphs():
        given = arguments(ALGORITHMS[name], graph)
        try:
            expected = parts(ALGORITHMS[name](graph, **given))
        except TGraphError:
            continue
        with torch.device("meta"):
            found = parts(ALGORITHMS[name](graph, **given))
        torch.testing.assert_close(found, expected, equal_nan=True)


# By name, a graph of which several threads have parts, and a call.
ON_THREADS = {
    "betweenness": (lambda: random_graph(6000, 80_000), lambda g: A.betweenness(g, [0, 17, 5000], batch=1)),
    "betweenness of an undirected graph": (
        lambda: random_graph(6000, 80_000, directed=False),
        lambda g: A.betweenness(g, [0, 17, 5000], batch=3),
    ),
    "betweenness over weights": (
        lambda: random_graph(2000, 40_000, dtype=torch.int32),
        lambda g: [f(g, [0, 17, 1500], weighted=True) for f in (A.betweenness, A.edge_betweenness)],
    ),
    "betweenness over weights of an undirected graph": (
        lambda: random_graph(2000, 40_000, directed=False, dtype=torch.int32),
        lambda g: [f(g, [0, 17, 1500], weighted=True) for f in (A.betweenness, A.edge_betweenness)],
    ),
    "bfs": (lambda: make.uniform(17, 8, seed=3), lambda g: A.bfs(g, 5, mode="push")),
    "biconnected_edges": (lambda: make.rmat(12, 4).to_undirected(), A.biconnected_edges),
    "cdlp": (lambda: make.rmat(17, 4, seed=8), lambda g: A.cdlp(g, iterations=4)),
    "cliques": (lambda: make.rmat(10, 16), lambda g: [A.maximal_cliques(g), A.max_clique(g)]),
    "clustering": (
        lambda: make.rmat(12, weighted=True),
        lambda g: [A.clustering(g, weighted=True), A.square_clustering(g)],
    ),
    "core_number": (lambda: make.rmat(17, 4, seed=8), A.core_number),
    "ecg": (
        lambda: random_graph(3000, 40000, seed=6, directed=False, dtype=torch.float32),
        lambda g: A.ecg(g, weighted=True, ensemble_size=2),
    ),
    "label_propagation": (
        lambda: random_graph(5000, 60000, seed=6, directed=False),
        A.semi_synchronous_label_propagation,
    ),
    "matchings": (lambda: make.rmat(12, weighted=True), lambda g: [A.maximal_matching(g), A.heavy_matching(g)]),
    "maximal_independent_set": (lambda: make.rmat(12), A.maximal_independent_set),
    "minimum_spanning_forest": (lambda: make.rmat(12, weighted=True), A.minimum_spanning_forest),
    "minimum_spanning_forest of a grid": (lambda: grid(200, 200, torch.int64), A.minimum_spanning_forest),
    "onion_layers": (lambda: make.rmat(12), A.onion_layers),
    "scc": (lambda: make.rmat(13, 8, directed=True), A.scc),
    "sssp": (lambda: make.rmat(14, weighted=True), lambda g: A.sssp(g, int(g.out_degree.argmax()))),
    "truss_number": (lambda: make.rmat(11), A.truss_number),
}


@pytest.mark.parametrize("name", ON_THREADS)
def test_the_number_of_threads_changes_no_bit(name):
    make_graph, call = ON_THREADS[name]
    graph = make_graph()
    one, *others = (parts(found) for found in on_threads(lambda: call(graph)))
    assert all(torch.equal(*pair) for other in others for pair in zip(other, one, strict=True))
