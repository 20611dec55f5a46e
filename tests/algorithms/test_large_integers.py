"""Functions of integer weights near the limits of their dtype and of float64: the exact value, or an error.

The same arcs with the same weights in Python's integers, through networkx or brute force, tell what is exact."""

import math
import random
from itertools import pairwise

import networkx as nx
import pytest
import torch
from strategies import arcs, merged_twin

import tgraph as tg
from tgraph import algorithms as A
from tgraph.algorithms.cohesion.motifs import _triples
from tgraph.errors import ArgumentError, TGraphError

DTYPES = (torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64)
LIMITS = (2**31, 2**53, 2**62, 2**63 - 1)


def numbers(chance: random.Random, dtype: torch.dtype, negative: bool) -> list[int]:
    """Integers near a limit of the dtype, or small ones beside one that is near it; above zero unless `negative`."""
    info = torch.iinfo(dtype)
    limit = min(chance.choice([*LIMITS, info.max]), info.max)
    near = [limit, limit - chance.randrange(9), limit // 2, limit // 3 + 1, limit // 9]
    some = chance.choice([near, near[:1], [1, 2, 5, near[1]], [1, 2, 3]])
    return some + [-each for each in some] + [info.min] * chance.randrange(2) if negative and info.min else some


def random_graph(seed, *, directed=None, negative=False, acyclic=False, connected=False):
    """(graph, the same for networkx with the least of parallel arcs) of some vertices."""
    chance = random.Random(seed)
    directed = chance.random() < 0.5 if directed is None else directed
    n, dtype = chance.randint(2, 8), chance.choice(DTYPES)
    some = numbers(chance, dtype, negative and chance.random() < 0.7)
    ends = [(chance.randrange(v), v) for v in range(1, n)]
    ends += [(v, u) for u, v in ends] if directed and connected else []
    ends += [(chance.randrange(n), chance.randrange(n)) for _ in range(chance.randrange(2 * n))]
    if acyclic:
        ends = [(min(pair), max(pair)) for pair in ends if pair[0] != pair[1]]
    weights = [chance.choice(some) for _ in ends]
    graph = tg.Graph.from_edges(
        *zip(*ends, strict=True), torch.tensor(weights, dtype=dtype), directed=directed, num_vertices=n
    )
    return graph


def distances(graph, source):
    return nx.single_source_dijkstra_path_length(merged_twin(graph, min), source)


def listed(found, unreached=-1):
    """Distances as {vertex: number}."""
    return {v: far for v, far in enumerate(found.tolist()) if far != unreached}


def sssp(graph):
    assert listed(A.sssp(graph, 0)) == distances(graph, 0)


def bellman_ford(graph):
    G = merged_twin(graph, min)
    try:
        found = listed(A.bellman_ford(graph, 0)[0], 2**63 - 1)
    except tg.errors.NegativeCycleError:
        with pytest.raises(nx.NetworkXUnbounded):
            nx.single_source_bellman_ford_path_length(G, 0)
        return
    assert found == nx.single_source_bellman_ford_path_length(G, 0)


def potentials_and_cycles(graph):
    found = A.negative_cycle(graph).tolist()
    assert bool(found) == nx.negative_edge_cycle(merged_twin(graph, min))


def floyd_warshall(graph):
    try:
        found = A.floyd_warshall(graph)[0].tolist()
    except tg.errors.NegativeCycleError:
        assert nx.negative_edge_cycle(merged_twin(graph, min))
        return
    expected = nx.floyd_warshall(merged_twin(graph, min))
    assert found == [[expected[u][v] for v in range(graph.num_vertices)] for u in range(graph.num_vertices)]


def all_pairs(graph):
    try:
        found = [row for _, rows in A.all_pairs(graph, weighted=True) for row in rows.tolist()]
    except tg.errors.NegativeCycleError:
        assert nx.negative_edge_cycle(merged_twin(graph, min))
        return
    expected, missing = nx.floyd_warshall(merged_twin(graph, min)), math.inf if graph.weight_range[0] < 0 else -1
    for u, row in enumerate(found):
        assert row == [missing if expected[u][v] == math.inf else expected[u][v] for v in range(graph.num_vertices)]


def shortest_path(graph):
    expected = distances(graph, 0)
    for v in range(graph.num_vertices):
        assert A.shortest_path_length(graph, 0, v, weighted=True) == expected.get(v, math.inf)
        path = A.shortest_path(graph, 0, v, weighted=True).tolist()
        for bound in (torch.zeros(graph.num_vertices), torch.full((graph.num_vertices,), -(2**63))):
            other = A.astar_path(graph, 0, v, bound).tolist()
            assert length_of(graph, other) == length_of(graph, path) == expected.get(v, 0)


def length_of(graph, path):
    G = merged_twin(graph, min)
    return sum(G[u][v]["weight"] for u, v in pairwise(path))


def k_shortest_paths(graph):
    found = A.k_shortest_paths(graph, 0, graph.num_vertices - 1, 4, weighted=True)
    paths = nx.all_simple_paths(merged_twin(graph, min), 0, graph.num_vertices - 1)
    expected = sorted(length_of(graph, path) for path in paths)
    if graph.num_vertices > 1:
        assert [length for _, length in found] == expected[:4]
    assert [length_of(graph, path.tolist()) for path, _ in found] == [length for _, length in found]


def predecessors(graph):
    before = A.predecessors(graph, 0, weighted=True)
    expected = nx.dijkstra_predecessor_and_distance(merged_twin(graph, min), 0)[0]
    found = {}
    for v, u, _ in arcs(before):
        found.setdefault(v, set()).add(u)
    assert found == {v: set(each) for v, each in expected.items() if each}


def widest_path(graph):
    width, info = A.widest_path(graph, 0).tolist(), torch.iinfo(graph.weights.dtype)
    best = {0: info.max}
    for _ in range(graph.num_vertices):
        for u, v, weight in arcs(graph):
            if u in best:
                best[v] = max(best.get(v, info.min), min(best[u], weight))
    assert width == [best.get(v, info.min) for v in range(graph.num_vertices)]


def longest_path(graph):
    G = merged_twin(graph, max)
    length = A.dag_longest_path_length(graph, weighted=True)
    path = A.dag_longest_path(graph, weighted=True).tolist()
    assert length == sum(G[u][v]["weight"] for u, v in pairwise(path)) == nx.dag_longest_path_length(G)


def eccentricities(graph):
    values = [max(distances(graph, v).values()) for v in range(graph.num_vertices)]
    assert A.eccentricity(graph, weighted=True).tolist() == values
    assert (A.radius(graph, weighted=True), A.diameter(graph, weighted=True)) == (min(values), max(values))
    assert A.center(graph, weighted=True).tolist() == [v for v, far in enumerate(values) if far == min(values)]
    assert A.periphery(graph, weighted=True).tolist() == [v for v, far in enumerate(values) if far == max(values)]


def closeness(graph):
    expected = nx.closeness_centrality(merged_twin(graph, min), distance="weight")
    assert A.closeness(graph, weighted=True).tolist() == pytest.approx(list(expected.values()), rel=1e-12)
    expected = nx.harmonic_centrality(merged_twin(graph, min), distance="weight")
    assert A.harmonic(graph, weighted=True).tolist() == pytest.approx(
        [*map(expected.get, graph.everything().ids.tolist())]
    )


def betweenness(graph):
    G = merged_twin(graph, min)
    for function, theirs in (
        (A.betweenness, nx.betweenness_centrality),
        (A.load, nx.load_centrality),
        (A.percolation, nx.percolation_centrality),
    ):
        if function is A.percolation:
            if graph.num_vertices < 3:
                continue
            expected = theirs(G, states=dict.fromkeys(G, 1), weight="weight")
        else:
            expected = theirs(G, weight="weight")
        assert function(graph, weighted=True).tolist() == pytest.approx([expected[v] for v in G], abs=1e-12)


def total_of(graph, side):
    return sum(weight for u, v, weight in arcs(graph) if side[u] and not side[v])


def maximum_flow(graph):
    target = graph.num_vertices - 1
    G = merged_twin(graph, sum)
    expected = nx.maximum_flow_value(G, 0, target, capacity="weight")
    value, flow = A.maximum_flow(graph, 0, target)
    assert value == expected == A.maximum_flow_value(graph, 0, target)
    source, ends = graph.to_edge_index().tolist()
    assert sum(f * ((u == 0) - (v == 0)) for u, v, f in zip(source, ends, flow.tolist(), strict=True)) == value
    cut, side = A.minimum_cut(graph, 0, target)
    assert cut == value == total_of(graph, side.tolist())


def stoer_wagner(graph):
    value, side = A.stoer_wagner(graph)
    G = merged_twin(graph, sum)
    assert type(value) is int and value == total_of(graph, side.tolist()) and 0 < int(side.sum()) < graph.num_vertices
    assert value == (nx.stoer_wagner(G)[0] if nx.is_connected(G) else 0)


def spanning_forests(graph):
    for function, theirs, best in (
        (A.minimum_spanning_forest, nx.minimum_spanning_tree, min),
        (A.maximum_spanning_forest, nx.maximum_spanning_tree, max),
    ):
        weights = sorted(weight for u, v, weight in arcs(function(graph)) if u < v)
        expected = theirs(merged_twin(graph, best))
        assert weights == sorted(weight for *_, weight in expected.edges.data("weight"))


def heavy_matching(graph):
    mate = A.heavy_matching(graph).tolist()
    G = merged_twin(graph, max)
    found = sum(G[v][other]["weight"] for v, other in enumerate(mate) if v < other)
    best = nx.max_weight_matching(G)
    assert 2 * found >= sum(G[u][v]["weight"] for u, v in best if u != v)


def quotient(graph):
    labels = torch.arange(graph.num_vertices) % 2
    expected: dict[tuple[int, int], int] = {}
    for u, v, weight in arcs(graph):
        if graph.directed or u <= v:
            pair = (u % 2, v % 2) if graph.directed else tuple(sorted((u % 2, v % 2)))
            expected[pair] = expected.get(pair, 0) + weight
    found = {(u, v): weight for u, v, weight in arcs(A.quotient_graph(graph, labels)) if graph.directed or u <= v}
    assert found == expected


def community_cuts(graph):
    labels = [v % 2 for v in range(graph.num_vertices)]
    cuts = A.community_cuts(graph, torch.tensor(labels), weighted=True)
    leaving = [sum(w for u, v, w in arcs(graph) if u % 2 == side and v % 2 != side) for side in (0, 1)]
    assert cuts.external.tolist() == leaving


def combined(graph):
    half = torch.full((graph.num_arcs,), 0.5, dtype=torch.float64)
    other = tg.Graph(graph.offset, graph.neighbors, half, directed=graph.directed)
    G = merged_twin(graph, lambda weights: weights[0])
    for function, expected in (
        (A.compose, lambda u, v: 0.5),
        (A.intersection, lambda u, v: G[u][v]["weight"]),
    ):
        assert all(weight == expected(u, v) for u, v, weight in arcs(function(graph, other)))


def products(graph):
    n = graph.num_vertices
    dense = [[0] * n for _ in range(n)]
    for u, v, weight in arcs(graph):
        dense[u][v] += weight
    square = [[sum(dense[i][k] * dense[k][j] for k in range(n)) for j in range(n)] for i in range(n)]
    found = [[0] * n for _ in range(n)]
    for u, v, weight in arcs(tg.multiply(graph, graph)):
        found[u][v] = weight
    assert found == square


def products_with_data(graph):
    data = graph.weights[: graph.num_vertices].tolist()
    data += [1] * (graph.num_vertices - len(data))
    for reduce, edge in (
        ("sum", "copy"),
        ("sum", "mul"),
        ("sum", "add"),
        ("min", "add"),
        ("max", "mul"),
        ("sum", "max"),
    ):
        expected: dict[int, list[int]] = {}
        for u, v, weight in arcs(graph):
            message = {"copy": data[u], "mul": data[u] * weight, "add": data[u] + weight, "max": max(data[u], weight)}
            expected.setdefault(v, []).append(message[edge])
        for dtype in {torch.int64, graph.weights.dtype}:
            try:
                found = tg.aggregate(graph, torch.tensor(data, dtype=dtype), reduce, edge=edge).tolist()
            except TGraphError:
                continue
            known = {"sum": sum, "min": min, "max": max}[reduce]
            assert [found[v] for v in expected] == [known(each) for each in expected.values()]


def walks(graph):
    """Of length 3, by a program."""

    class Walks(tg.Program):
        rounds = 3

        def init(self, graph):
            return torch.ones(graph.num_vertices, dtype=graph.weight_dtype), graph.everything()

        def compute(self, sub, values, active):
            return tg.update(values, active, tg.aggregate(sub, values, "sum", edge="mul"))

    counts = [1] * graph.num_vertices
    for _ in range(3):
        onward = [0] * graph.num_vertices
        for u, v, weight in arcs(graph):
            onward[v] += counts[u] * weight
        counts = onward
    assert tg.run(Walks(), graph).values.tolist() == counts


# function: (what graphs it takes, how it is checked)
POSITIVE = {
    sssp: {},
    shortest_path: {},
    k_shortest_paths: {},
    predecessors: {},
    eccentricities: {"connected": True},
    closeness: {},
    betweenness: {},
    maximum_flow: {},
    stoer_wagner: {"directed": False},
    heavy_matching: {"directed": False},
    community_cuts: {},
}
SIGNED = {
    bellman_ford: {},
    potentials_and_cycles: {},
    floyd_warshall: {},
    all_pairs: {},
    widest_path: {},
    longest_path: {"directed": True, "acyclic": True},
    spanning_forests: {"directed": False},
    quotient: {},
    combined: {},
    products: {},
    products_with_data: {},
    walks: {},
}
CHECKS = {function: {"negative": False, **graphs} for function, graphs in POSITIVE.items()}
CHECKS |= {function: {"negative": True, **graphs} for function, graphs in SIGNED.items()}


def check(function, seed):
    """Whether it gave a value, which is exact then."""
    try:
        function(random_graph(seed, **CHECKS[function]))
    except TGraphError as error:
        assert len(str(error)) < 250
        return False
    return True


@pytest.mark.parametrize("function", CHECKS, ids=lambda function: function.__name__)
def test_exact_or_refused(kernels, function):
    check(function, random.randrange(10**6))


@pytest.mark.thorough
@pytest.mark.parametrize("function", CHECKS, ids=lambda function: function.__name__)
def test_many_exact_or_refused(kernels, function):
    given = [check(function, seed) for seed in range(1000)]
    assert sum(given) > 100


def refused(function, *arguments, match, **options):
    with pytest.raises(ArgumentError, match=match):
        function(*arguments, **options)


def test_what_does_not_fit_says_by_how_much():
    star = tg.Graph.from_edges([0] * 10, range(1, 11), torch.tensor([10**18] * 10), directed=False)
    refused(
        tg.aggregate, star, torch.ones(11, dtype=torch.int64), edge="mul", match="a sum of 10000000000000000000 does"
    )
    refused(A.maximum_flow, tg.Graph.from_edges([0] * 10, [1] * 10, [10**18] * 10), 0, 1, match="10000000000000000000")
    path = tg.Graph.from_edges([0, 1], [1, 2], [5 * 10**18] * 2)
    refused(A.dag_longest_path, path, weighted=True, match="as large as 5000000000000000000 may exceed int64")
    refused(A.floyd_warshall, path, match=r"may exceed 2\*\*53")
    refused(tg.multiply, path, path, match=r"entries as large as 2.5e\+37 may not fit int64")
    refused(A.stoer_wagner, star, match="all together are 20000000000000000000")


def test_an_update_does_not_narrow():
    ring = tg.Graph.from_edges([0, 1, 2], [1, 2, 0])
    for dtype, values in ((torch.int8, [1, 128, 3]), (torch.int32, [1, 2, 2**31])):
        received = tg.Received(torch.tensor(values), torch.tensor([2, 0, 1]))
        with pytest.raises(ArgumentError, match=rf"gave {max(values)} at vertex [01], which {dtype} vertex data"):
            tg.update(torch.zeros(3, dtype=dtype), ring.everything(), received)
        fitting = tg.Received(torch.tensor([1, 2, 3]))
        assert tg.update(torch.zeros(3, dtype=dtype), ring.everything(), fitting)[0].dtype == dtype


def test_a_wide_star_has_more_triples_than_int64_holds():
    degree = torch.tensor([4_000_000, *[1] * 7])
    assert _triples(degree) == math.comb(4_000_000, 3) > 2**63


def test_closeness_of_far_vertices():
    path = tg.Graph.from_edges(range(2999), range(1, 3000), torch.full((2999,), 10**13), directed=False)
    assert A.closeness(path, [0], weighted=True).item() == pytest.approx(2999 / (10**13 * 2999 * 1500))


@pytest.mark.parametrize("k", [2**31, 2**63 - 1, 2**63, 2**70, -(2**63) - 1])
def test_counts_that_no_int64_holds(k):
    graph = tg.generators.complete(5)
    everything = 5 if k < 0 else 0
    assert A.k_core(graph, k).num_vertices == A.k_truss(graph, k).num_vertices == everything
    assert A.k_shell(graph, k).num_vertices == 0
    if k > 0:
        assert A.k_clique_count(graph, k) == 0
        assert len(A.k_shortest_paths(graph, 0, 4, k)) == 16
        assert A.bfs(graph, 0, max_depth=k).tolist() == [0, 1, 1, 1, 1]
    if abs(k) > 2**63 - 1:
        refused(
            tg.aggregate, graph, torch.ones(5, dtype=torch.int8), edge="mul", weights=k, match="not fit torch.int64"
        )
