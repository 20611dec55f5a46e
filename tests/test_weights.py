"""Weights that are NaN, infinite, 0 or negative: a function answers as its definition says, or names the arc."""

import inspect
import math
import random
import types

import networkx as nx
import numpy as np
import pytest
import torch
import weighted_calls
from strategies import BACKENDS

import tgraph as tg
from tgraph import algorithms
from tgraph.errors import ArgumentError, NegativeCycleError, TGraphError
from tgraph.primitives.weights import KINDS

NAN, INF = math.nan, math.inf


def test_the_page_is_what_calls_find():
    found = weighted_calls.TABLE.search(weighted_calls.PAGE.read_text(encoding="utf-8"))
    assert found[0] == weighted_calls.table(), "run python tests/weighted_calls.py, if it is meant"


# What is computed with numbers as they are, which go on to results as torch's do; and rows of tensors, without a graph
# whose arcs could be named, that callers have checked.
UNCHECKED = {"gauss_seidel", "linear", "row_similarity", "search", "weights"}


def steps():
    """The functions of `tg.primitives` that take weights, by name."""
    for module in vars(tg.primitives).values():
        if isinstance(module, types.ModuleType) and module.__name__.startswith("tgraph.primitives."):
            for name, step in vars(module).items():
                own = inspect.isfunction(step) and step.__module__ == module.__name__ and not name.startswith("_")
                if own and weighted_calls.takes_weights(step):
                    yield f"{module.__name__.rpartition('.')[2]}.{name}", step


@pytest.mark.parametrize(("name", "step"), [each for each in steps() if each[0].partition(".")[0] not in UNCHECKED])
def test_steps_refuse_what_is_not_a_number(name, step):
    errors = []
    for directed in (True, False):
        given = weighted_calls.graph(directed, {**weighted_calls.WEIGHTS, weighted_calls.ODD: NAN})
        errors.append(weighted_calls.answer(name, step, given))
    assert any("weights: nan at position" in str(error) and "arc 'b' -> 'c'; " in str(error) for error in errors), (
        errors
    )


PROGRAMS = {
    "SSSP": lambda: algorithms.SSSP(0),
    "WidestPath": lambda: algorithms.WidestPath(0),
    **{
        name: lambda name=name: getattr(algorithms, name)(weighted=True)
        for name in ("PageRank", "HITS", "Katz", "Eigenvector")
    },
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_refuse_what_is_not_a_number(name):
    given = weighted_calls.graph(True, {**weighted_calls.WEIGHTS, weighted_calls.ODD: NAN})
    with pytest.raises(ArgumentError, match=r"weights: nan at position 1, arc 'b' -> 'c'; "):
        tg.run(PROGRAMS[name](), given)


def test_each_program_with_weights_is_tried():
    programs = {name for name in algorithms.__all__ if inspect.isclass(getattr(algorithms, name))}
    weighted = {name for name in programs if weighted_calls.takes_weights(getattr(algorithms, name))}
    assert weighted | {"SSSP", "WidestPath"} == set(PROGRAMS)


# ---- random graphs against networkx ---------------------------------------------------------------------------------


def by_vertex(values):
    return [values[v] for v in range(len(values))]


def bare(G, weight=INF):
    """Without the edges of this weight."""
    H = nx.create_empty_copy(G)
    H.add_edges_from((u, v, d) for u, v, d in G.edges(data=True) if d["w"] != weight)
    return H


def lengths(G, source, search=nx.single_source_dijkstra_path_length):
    found = search(bare(G), source, weight="w")
    return [found.get(v, INF) for v in G]


def signed_lengths(G, source):
    return lengths(G, source, nx.single_source_bellman_ford_path_length)


def widths(G):
    best = dict.fromkeys(G, -INF) | {0: INF}
    arcs = [*G.to_directed().edges(data="w")]
    for _ in G:
        for u, v, w in arcs:
            best[v] = max(best[v], min(best[u], w))
    return by_vertex(best)


def forest(found):
    return found.weights.sort().values[::2]


def networkx_forest(G, minimum):
    find = nx.minimum_spanning_edges if minimum else nx.maximum_spanning_edges
    return sorted(w["w"] for *_, w in find(G, weight="w"))


def matched(graph):
    """The weight of a matching that no edge of positive weight can be added to."""
    mate = algorithms.heavy_matching(graph).tolist()
    held = {(u, v): w for u, v, w in zip(*graph.to_edge_index().tolist(), graph.weights.tolist(), strict=True)}
    assert all(other < 0 or (mate[other] == v and held[v, other] > 0) for v, other in enumerate(mate))
    assert not any(w > 0 and u != v and mate[u] < 0 and mate[v] < 0 for (u, v), w in held.items())
    return sum(held[v, other] for v, other in enumerate(mate) if v < other)


def halves(G):
    return [set(range(0, len(G), 2)), set(range(1, len(G), 2))]


def cut(G):
    return min(sum(w for u, v, w in G.edges(data="w") if (u in S) != (v in S)) for S in subsets(G))


def subsets(G):
    """All sets of vertices that have the first, but not all."""
    return [{0, *(v for v in range(1, len(G)) if bits >> (v - 1) & 1)} for bits in range(2 ** (len(G) - 1) - 1)]


def laplacian(G):
    """networkx's, which gives up where the weights add up to 0."""
    if G.size("w") == 0:
        raise ZeroDivisionError
    return by_vertex(nx.laplacian_centrality(G, normalized=False, weight="w"))


A = algorithms
POWER = {"tol": 1e-12, "max_iterations": 10_000, "weighted": True}
W = {"weighted": True}
N = {"weight": "w"}

# By the name of a function: the kind of its weights, for which graphs it is, how it is called, and networkx's answer.
ORACLES = {
    "sssp": ("lengths", "du", lambda g: A.sssp(g, 0), lambda G: lengths(G, 0)),
    "shortest_path_length": (
        "lengths",
        "du",
        lambda g: A.shortest_path_length(g, 0, 1, **W),
        lambda G: lengths(G, 0)[1],
    ),
    "bellman_ford": ("signed lengths", "d", lambda g: A.bellman_ford(g, 0)[0], lambda G: signed_lengths(G, 0)),
    "floyd_warshall": (
        *("signed lengths", "d", lambda g: A.floyd_warshall(g)[0]),
        lambda G: [signed_lengths(G, v) for v in G],
    ),
    "all_pairs": (
        *("signed lengths", "d", lambda g: torch.cat([part[1] for part in A.all_pairs(g, **W)])),
        lambda G: [signed_lengths(G, v) for v in G],
    ),
    "widest_path": ("ranks", "du", lambda g: A.widest_path(g, 0), widths),
    "closeness": (
        *("lengths", "du", lambda g: A.closeness(g, **W)),
        lambda G: by_vertex(nx.closeness_centrality(bare(G), distance="w")),
    ),
    "betweenness": (
        *("positive lengths", "du", lambda g: A.betweenness(g, **W)),
        lambda G: by_vertex(nx.betweenness_centrality(bare(G), **N)),
    ),
    "load": (
        *("positive lengths", "u", lambda g: A.load(g, **W)),
        lambda G: by_vertex(nx.load_centrality(bare(G), **N)),
    ),
    "pagerank": (
        *("measures", "du", lambda g: A.pagerank(g, dtype=torch.float64, **POWER)),
        lambda G: by_vertex(nx.pagerank(G, tol=1e-14, max_iter=10_000, **N)),
    ),
    "katz": (
        *("numbers", "du", lambda g: A.katz(g, alpha=0.01, **POWER)),
        lambda G: by_vertex(nx.katz_centrality_numpy(G, alpha=0.01, **N)),
    ),
    "clustering": ("numbers", "du", lambda g: A.clustering(g, **W), lambda G: by_vertex(nx.clustering(G, **N))),
    "laplacian_centrality": (
        *("numbers", "u", lambda g: A.laplacian_centrality(g, normalized=False, **W)),
        laplacian,
    ),
    "average_neighbor_degree": (
        *("numbers", "du", lambda g: A.average_neighbor_degree(g, **W)),
        lambda G: by_vertex(nx.average_neighbor_degree(G, **N)),
    ),
    "modularity": (
        *("measures", "du", lambda g: A.modularity(g, torch.arange(g.num_vertices) % 2, **W)),
        lambda G: nx.community.modularity(G, halves(G), **N),
    ),
    "stoer_wagner": ("measures", "u", lambda g: A.stoer_wagner(g)[0], cut),
    "maximum_flow": (
        *("lengths", "du", lambda g: A.maximum_flow_value(g, 0, 1)),
        lambda G: nx.maximum_flow_value(G, 0, 1, capacity="w"),
    ),
    "minimum_spanning_forest": (
        *("ranks", "u", lambda g: forest(A.minimum_spanning_forest(g))),
        lambda G: networkx_forest(G, True),
    ),
    "maximum_spanning_forest": (
        *("ranks", "u", lambda g: forest(A.maximum_spanning_forest(g))),
        lambda G: networkx_forest(G, False),
    ),
    "dag_longest_path_length": (
        *("gains", "dag", lambda g: A.dag_longest_path_length(g, **W)),
        lambda G: nx.dag_longest_path_length(bare(G, -INF), **N),
    ),
    "current_flow_closeness": (
        *("conductances", "u", lambda g: A.current_flow_closeness(g, method="cg", **W)),
        lambda G: by_vertex(nx.current_flow_closeness_centrality(G, **N)),
    ),
    "current_flow_betweenness": (
        *("conductances", "u", lambda g: A.current_flow_betweenness(g, method="cg", **W)),
        lambda G: by_vertex(nx.current_flow_betweenness_centrality(G, **N)),
    ),
}
ALL = [0.0, -0.0, 0.5, 1.0, 2.0, 3.0, 1e-290, 5e-324, -1.0, -2.5, INF, -INF, NAN]


def drawn(chance, kind, directed, acyclic):
    """A graph of networkx whose weights are mostly of the kind, and whether all are."""
    fits = KINDS[kind][1]
    pool = [w for w in ALL if fits(w, w)] if chance.random() < 0.8 else ALL
    if kind in ("positive lengths", "conductances", "numbers"):  # added to others, the smallest are lost
        pool = [w for w in pool if not 0 < w < 0.1]
    pool = chance.choice([pool, chance.sample(pool, min(2, len(pool)))])
    G = nx.empty_graph(chance.randint(2, 7), nx.DiGraph if directed else nx.Graph)
    for _ in range(chance.randint(1, 12)):
        u, v = sorted(chance.sample(range(len(G)), 2)) if acyclic else chance.sample(range(len(G)), 2)
        G.add_edge(u, v, w=chance.choice(pool))
    return G, all(fits(w, w) for *_, w in G.edges(data="w"))


def tried(name, seed):
    """One random graph: whether its weights were of the kind."""
    chance = random.Random(f"{name} {seed}")
    kind, graphs, call, oracle = ORACLES[name]
    acyclic = graphs == "dag"
    directed = acyclic or chance.choice(graphs) == "d"
    G, fits = drawn(chance, kind, directed, acyclic)
    source, target, weights = zip(*G.edges(data="w"), strict=True)
    held = torch.tensor(weights, dtype=torch.float64)
    graph = tg.Graph.from_edges(source, target, held, num_vertices=len(G), directed=directed)
    try:
        expected = oracle(G) if fits else None
    except (nx.NetworkXException, nx.NetworkXUnbounded, ZeroDivisionError):
        expected = None
    try:
        found = call(graph)
    except TGraphError as error:
        named = "weights: " in str(error) and "arc " in str(error)
        assert named if not fits else expected is None or named, (list(G.edges(data="w")), str(error), expected)
        lost = "rounded away" in str(error) or any(0 < w < 1e-300 for w in weights)
        assert not fits or expected is None or lost or max(weights) == 0
        return fits
    assert fits, (list(G.edges(data="w")), found)
    if expected is not None:
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9, err_msg=str(list(G.edges(data="w"))))
    return fits


@pytest.mark.parametrize("name", ORACLES)
@pytest.mark.parametrize("count", [12, pytest.param(2000, marks=pytest.mark.thorough)])
def test_random_weights(name, count):
    assert sum(tried(name, seed) for seed in range(count)) > count // 2


@pytest.mark.parametrize("count", [10, pytest.param(2000, marks=pytest.mark.thorough)])
def test_heavy_matchings(count):
    for seed in range(count):
        G, fits = drawn(random.Random(seed), "ranks", False, False)
        source, target, weights = zip(*G.edges(data="w"), strict=True)
        graph = tg.Graph.from_edges(source, target, torch.tensor(weights, dtype=torch.float64), directed=False)
        if not fits:
            with pytest.raises(ArgumentError, match="weights: nan at position"):
                algorithms.heavy_matching(graph)
            continue
        best = nx.max_weight_matching(
            nx.Graph((u, v, d) for u, v, d in G.edges(data=True) if 0 < d["w"] < INF), weight="w"
        )
        assert matched(graph) >= sum(G[u][v]["w"] for u, v in best) / 2


# ---- what is the same in other units, however small or large -------------------------------------------------------

SCALED = {
    "pagerank": lambda g: A.pagerank(g, dtype=torch.float64, **POWER),
    "hits": lambda g: A.hits(g, **W)[0],
    "eigenvector": lambda g: A.eigenvector(g, tol=1e-12, max_iterations=10_000, **W),
    "laplacian_centrality": lambda g: A.laplacian_centrality(g, **W),
    "degree_assortativity": lambda g: A.degree_assortativity(g, **W),
    "average_neighbor_degree": lambda g: A.average_neighbor_degree(g, **W),
    "clustering": lambda g: A.clustering(g, **W),
    "simrank": lambda g: A.simrank(g, **W),
    "modularity": lambda g: A.modularity(g, torch.arange(g.num_vertices) % 2, **W),
    "louvain": lambda g: A.louvain(g, **W),
    "leiden": lambda g: A.leiden(g, **W),
    "current_flow_betweenness": lambda g: A.current_flow_betweenness(g, **W),
    "edge_current_flow_betweenness": lambda g: A.edge_current_flow_betweenness(g, method="cg", **W),
    "spectral_embedding": lambda g: A.spectral_embedding(g, **W)[1],
}


@pytest.mark.parametrize("name", SCALED)
def test_units_do_not_matter(name):
    weights = torch.tensor([3.0, 4.0, 1.0, 7.0, 2.0, 2.0, 5.0], dtype=torch.float64)
    found = [
        SCALED[name](tg.Graph.from_edges([0, 1, 2, 2, 3, 4, 5], [1, 2, 0, 3, 4, 5, 3], weights * unit, directed=False))
        for unit in (1.0, 2.0**-900, 2.0**900)
    ]
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=1e-6, atol=1e-9)


# ---- faults that were found ------------------------------------------------------------------------------------------


def edges(source, target, weights=None, directed=False):
    held = None if weights is None else torch.tensor(weights, dtype=torch.float64)
    return tg.Graph.from_edges(source, target, held, directed=directed)


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_infinite_arc_is_on_no_path(backend):
    graph, one = edges([0, 1], [1, 2], [INF, 1.0], directed=True), {"backend": backend}
    assert algorithms.sssp(graph, 0, parents=True, **one)[1].tolist() == [0, -1, -1]
    assert algorithms.bellman_ford(graph, 0, **one)[1].tolist() == [0, -1, -1]
    assert algorithms.floyd_warshall(graph)[1][0].tolist() == [-1, -1, -1]
    assert algorithms.shortest_path(graph, 0, 2, weighted=True, **one).tolist() == []
    assert algorithms.k_shortest_paths(graph, 0, 2, 3, weighted=True, **one) == []
    assert algorithms.predecessors(graph, 0, weighted=True, **one).num_arcs == 0


def test_ratios_to_a_largest_weight_that_is_negative_or_0():
    triangle = ([0, 1, 2], [1, 2, 0])
    assert algorithms.clustering(edges(*triangle, [-2.0, -1.0, -1.0]), weighted=True).tolist() == [2 ** (1 / 3)] * 3
    with pytest.raises(ArgumentError, match=r"weights: 0.0 at position 0, arc 0 -> 1; .*largest"):
        algorithms.average_clustering(edges(*triangle, [0.0, 0.0, 0.0]), weighted=True)


def test_currents_that_have_converged_rest():
    path = edges([0, 0, 2, 2], [1, 3, 3, 4])
    dense, steps = (algorithms.current_flow_closeness(path, method=method) for method in ("dense", "cg"))
    torch.testing.assert_close(steps, dense)


def test_conductances_in_any_unit_and_too_far_apart():
    tiny = algorithms.current_flow_closeness(edges([0, 1], [1, 2], [1e-300, 1e-300]), weighted=True)
    np.testing.assert_allclose(tiny, [1e-300 / 3, 1e-300 / 2, 1e-300 / 3])
    with pytest.raises(ArgumentError, match="too far apart"):
        algorithms.current_flow_closeness(edges([0, 1, 2], [1, 2, 3], [1.0, 1e-17, 1.0]), weighted=True)


@pytest.mark.parametrize("program", [algorithms.pagerank, algorithms.hits])
def test_sums_that_one_cannot_divide_by(program):
    with pytest.raises(ArgumentError, match="weights: those at vertex 0 sum to"):
        program(edges([0, 0], [1, 2], [5e-324, 5e-324], directed=True), weighted=True)
    with pytest.raises(ArgumentError, match="weights: sums of 2 weights as large as"):
        program(edges([0, 0], [1, 2], [1e308, 1e308], directed=True), weighted=True)


@pytest.mark.parametrize("bad", [NAN, INF, -INF])
def test_numbers_of_vertices_are_named(bad):
    graph, numbers = tg.generators.path(3), torch.tensor([1.0, bad, 1.0])
    for name, call in {
        "personalization": lambda: algorithms.pagerank(graph, personalization=numbers),
        "states": lambda: algorithms.percolation(graph, numbers),
        "beta": lambda: algorithms.katz(graph, beta=numbers),
        "start": lambda: algorithms.eigenvector(graph, start=numbers),
        "values": lambda: algorithms.numeric_assortativity(graph, numbers),
    }.items():
        with pytest.raises(ArgumentError, match=f"{name}: {bad} at position 1; expected numbers that are finite"):
            call()
    with pytest.raises(ArgumentError, match=rf"personalization: {bad} at position \[1, 0\]; "):
        algorithms.pagerank(graph, personalization=numbers[:, None])


def test_neighbours_in_common_are_others():
    graph = edges([0, 0, 1, 2], [1, 2, 2, 2])
    G = nx.Graph([(0, 1), (0, 2), (1, 2), (2, 2)])
    pairs = torch.tensor([[0, 2], [0, 1], [1, 2]])
    for ours, theirs in (
        (algorithms.adamic_adar, nx.adamic_adar_index),
        (algorithms.resource_allocation, nx.resource_allocation_index),
    ):
        expected = [value for *_, value in theirs(G, pairs.tolist())]
        np.testing.assert_allclose(ours(graph, pairs), expected)


def test_a_negative_cycle_is_no_fault_of_one_arc():
    with pytest.raises(NegativeCycleError):
        algorithms.bellman_ford(edges([0], [1], [-1.0]), 0)
