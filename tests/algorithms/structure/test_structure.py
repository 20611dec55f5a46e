"""Structure against networkx; fits of power laws against igraph."""

import math

import networkx as nx
import numpy
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import arcs, close, graphs, random_graph, thread_count

import tgraph as tg
from tgraph import algorithms as run
from tgraph.core.dispatch import BACKENDS, PORTABLE

few = settings(max_examples=settings().max_examples)


def simple(graph):
    """The graph for networkx, self-loops included, without parallel edges."""
    G = nx.DiGraph() if graph.directed else nx.Graph()
    G.add_nodes_from(range(graph.num_vertices))
    G.add_weighted_edges_from(arcs(graph))
    return G


def edges(graph):
    return {(u, v) for u, v, _ in arcs(graph)}


def both_ways(G):
    return {*G.edges} if G.is_directed() else {*G.edges} | {(v, u) for u, v in G.edges}


def same(found, expected):
    """Numbers equal but for rounding, NaN equal to NaN."""
    return close([found], [expected]) or (math.isnan(found) and math.isnan(expected))


@few
@given(graphs(min_vertices=1), st.integers(0, 4), st.booleans(), st.booleans())
def test_surroundings_equal_networkx(graph, radius, center, undirected):
    G = simple(graph)
    found = run.ego_graph(graph, 0, radius, center=center, undirected=undirected)
    expected = nx.ego_graph(G, 0, radius, center=center, undirected=undirected)
    members = found.ids(torch.arange(found.num_vertices)).tolist() if found.num_vertices else []
    assert members == sorted(expected)
    assert {(members[u], members[v]) for u, v in edges(found)} == both_ways(expected)
    lengths = nx.multi_source_dijkstra_path_length(G, {0, graph.num_vertices - 1}, cutoff=radius, weight=None)
    assert run.k_hop(graph, [0, graph.num_vertices - 1], radius).tolist() == sorted(lengths)
    assert run.induced_subgraph(graph, members).num_arcs == sum(
        u in members and v in members for u, v, _ in arcs(graph)
    )


@st.composite
def two_graphs(draw):
    """Two graphs without original ids, or with ids of which they share some, in any order; weights in some."""
    first = draw(graphs(dtypes=(None, torch.int64, torch.float32)))
    second = draw(graphs(directed=first.directed, dtypes=(None, torch.int64, torch.float64)))
    name = draw(st.sampled_from([None, lambda v: 3 - v, lambda v: (v, "x") if v % 2 else v]))
    if name is None:
        return first, second
    most = max(first.num_vertices, second.num_vertices)
    ids = [[*map(name, draw(st.permutations(range(most))))][: graph.num_vertices] for graph in (first, second)]
    pairs = zip((first, second), ids, strict=True)
    return tuple(tg.Graph(graph.offset, graph.neighbors, graph.weights, its, graph.directed) for graph, its in pairs)


def by_ids(graph):
    """(vertices, {(u, v): weight of the first arc}) by original ids, of a valid graph."""
    ids = [graph.validate().ids(v) for v in range(graph.num_vertices)]
    return ids, {(ids[u], ids[v]): w for u, v, w in reversed(arcs(graph))}


COMBINED = {
    "first": lambda a, b: a,
    "last": lambda a, b: b,
    "sum": lambda a, b: a + b,
    "min": min,
    "max": max,
    torch.mul: lambda a, b: a * b,
}


@few
@given(two_graphs(), st.sampled_from(list(COMBINED)))
def test_sets_of_arcs_equal_networkx(both, combine):
    (nodes, mine), (others, theirs) = map(by_ids, both)
    G, H = (nx.DiGraph() if both[0].directed else nx.Graph() for _ in both)
    G.add_nodes_from(nodes), H.add_nodes_from(others)
    G.add_edges_from(mine), H.add_edges_from(theirs)
    weighted = any(graph.weights is not None for graph in both)
    common = {
        pair: COMBINED[combine](mine[pair], theirs[pair]) if weighted else 1 for pair in mine.keys() & theirs.keys()
    }
    united = nx.compose(G, H)
    G_all, H_all = nx.compose(nx.create_empty_copy(H), G), nx.compose(nx.create_empty_copy(G), H)
    for name, expected, weights, options in (
        ("compose", united, {**mine, **theirs, **common}, {"combine": combine}),
        ("intersection", nx.intersection(G, H), common, {"combine": combine}),
        ("difference", nx.difference(G_all, H_all).subgraph(nodes), mine, {}),
        ("symmetric_difference", nx.symmetric_difference(G_all, H_all), {**mine, **theirs}, {}),
    ):
        found = getattr(run, name)(*both, **options)
        vertices, weight = by_ids(found)
        assert vertices == [v for v in united if v in expected] and found.num_parallel_edges == 0
        assert weight == {pair: weights[pair] for pair in both_ways(expected)}


@few
@given(graphs(min_vertices=1), graphs(min_vertices=1, directed=True))
def test_graphs_side_by_side_equal_networkx(first, other):
    second = other if first.directed else other.to_undirected()
    n, side = first.num_vertices, run.disjoint_union(first, second).validate()
    assert sorted(arcs(side)) == sorted([*arcs(first), *((u + n, v + n, w) for u, v, w in arcs(second))])
    assert edges(run.complement(first).validate()) == both_ways(nx.complement(simple(first)))


def test_sets_of_other_vertices():
    path, labelled = tg.Graph.from_edges([0], [1]), tg.Graph.from_edges([0], [1], vertices=["a", "b"])
    assert list(map(type, run.union(labelled, path).vertices)) == [str, str, int, int]
    large = tg.Graph.from_edges([0], [1], [2**62])
    for call, message in (
        (lambda: run.union(path, path), "disjoint_union numbers"),
        (lambda: run.union(labelled, labelled), "disjoint_union numbers"),
        (lambda: run.compose(path, path.to_undirected()), "other: is undirected and graph directed"),
        (lambda: run.compose(path, path, combine="mean"), "combine: 'mean' is neither 'first'"),
        (lambda: run.intersection(large, large, combine="sum"), "weights: those of parallel arcs"),
        (lambda: run.compose(large, large, combine=lambda a, b: 1), r"combine: .* each arc, \[1\], got 1"),
        (lambda: run.complement(tg.Graph.from_edges([], [], num_vertices=50_000)), "take a smaller"),
    ):
        with pytest.raises(tg.errors.ArgumentError, match=message):
            call()


@few
@given(graphs())
def test_line_graphs_equal_networkx(graph):
    found, pairs = run.line_graph(graph)
    found.validate()
    G = simple(graph)
    if graph.num_parallel_edges:
        assert found.num_vertices == graph.num_edges
        return
    expected = nx.line_graph(G)
    names = [tuple(pair) for pair in pairs.tolist()]
    named = {(names[u], names[v]) for u, v in edges(found)}
    ordered = (lambda pair: pair) if graph.directed else (lambda pair: tuple(sorted(pair)))
    assert sorted(names) == sorted(map(ordered, expected))
    assert named == {(ordered(a), ordered(b)) for a, b in both_ways(expected)}


def test_line_graphs_equal_the_portable_ones():
    graph = tg.generators.rmat(8, 8, seed=1).decoded()
    found, pairs = run.line_graph(graph)
    number = {pair: i for i, pair in enumerate(map(tuple, pairs.tolist()))}
    incident = torch.tensor([number[min(u, v), max(u, v)] for u, v, _ in arcs(graph)])
    offset, neighbors = PORTABLE.operators["line_rows"].run(graph.offset, incident, *pairs.unbind(1))
    assert torch.equal(found.offset, offset) and torch.equal(found.neighbors.long(), neighbors)


@few
@given(graphs(dtypes=(None, torch.int64)), st.booleans())
def test_quotients_sum_the_edges_between_groups(graph, loops):
    labels = torch.arange(graph.num_vertices) % 3 * 10
    found = run.quotient_graph(graph, labels, self_loops=loops).validate()
    names = labels.unique().tolist()
    expected = {}
    for u, v, w in arcs(graph):
        pair = (int(labels[u]), int(labels[v]))
        if (graph.directed or u <= v) and (loops or pair[0] != pair[1]):
            for key in {pair} if graph.directed else {pair, pair[::-1]}:
                expected[key] = expected.get(key, 0) + w
    assert {(names[u], names[v]): w for u, v, w in arcs(found)} == expected
    assert found.vertices.tolist() == names if names else True


@pytest.mark.filterwarnings("ignore:invalid value")
@few
@given(graphs(min_vertices=2))
def test_mixing_equals_networkx(graph):
    graph = tg.Graph.from_edges(*(torch.tensor([e[i] for e in sorted(edges(graph))]).long() for i in (0, 1)),
                                num_vertices=graph.num_vertices, directed=graph.directed, multi="first")  # fmt: skip
    G = simple(graph)
    values = torch.arange(graph.num_vertices) % 3
    nx.set_node_attributes(G, dict(enumerate(values.tolist())), "value")
    if graph.num_arcs:
        for x, y in (("out", "in"), ("in", "out"), ("out", "out")):
            expected = nx.degree_pearson_correlation_coefficient(G, x, y) if G.number_of_edges() > 1 else math.nan
            found = run.degree_assortativity(graph, x, y)
            assert same(found, expected) or math.isnan(found)
        expected = nx.attribute_assortativity_coefficient(G, "value")
        assert same(run.attribute_assortativity(graph, values), expected) or math.isnan(expected)
        expected = nx.numeric_assortativity_coefficient(G, "value")
        found = run.numeric_assortativity(graph, values)
        assert same(found, expected) or math.isnan(found) or math.isnan(expected)
    for source, target in (("out", "out"), ("in", "out"), ("out", "in"))[: 3 if graph.directed else 1]:
        expected = nx.average_neighbor_degree(G, source, target)
        assert close(run.average_neighbor_degree(graph, source, target), [expected[v] for v in G])
    assert run.degree_distribution(graph).sum() == graph.num_vertices
    H = nx.DiGraph(G)
    H.remove_edges_from(list(nx.selfloop_edges(H)))
    if H.number_of_edges():
        assert same(run.reciprocity(graph), nx.overall_reciprocity(H))
        expected = nx.reciprocity(H, H.nodes) if all(d for _, d in H.degree) else None
        if expected:
            assert close(run.reciprocity(graph, per_vertex=True), [expected[v] for v in H])


@pytest.mark.parametrize("threads", [1, 2])
def test_answered_arcs_equal_the_portable_ones(threads):
    for graph in (random_graph(40, 300, seed=1), tg.generators.rmat(13, 8, seed=1)):
        portable = PORTABLE.operators["count_mutual"].run(graph)
        with thread_count(threads):
            found = tg.primitives.mutual.counts(graph)
        assert all(map(torch.equal, found, portable))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("directed", [True, False])
def test_correlations_equal_the_portable_ones(directed, threads):
    graph = tg.generators.rmat(13, 8, seed=1, directed=directed)
    values = torch.rand(graph.num_vertices, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    values += graph.out_degree
    native, portable = (
        BACKENDS[name].operators["correlate_ends"].run(graph, values, values, not directed)
        for name in ("native", "portable")
    )
    assert close(native, portable)
    with thread_count(threads):
        found = tg.primitives.correlation.over_arcs(graph, values, values)
    assert found == native[0] / math.sqrt(native[1]) / math.sqrt(native[2])
    ends = values[torch.repeat_interleave(graph.out_degree)], values[graph.neighbors.long()]
    assert same(found, float(torch.corrcoef(torch.stack(ends))[0, 1]))


def test_weighted_mixing():
    graph = random_graph(40, 200, seed=1, dtype=torch.float64).to_undirected().without_self_loops()
    G = simple(graph)
    expected = nx.average_neighbor_degree(G, weight="weight")
    assert close(run.average_neighbor_degree(graph, weighted=True), [expected[v] for v in G])
    expected = nx.degree_pearson_correlation_coefficient(G, weight="weight")
    assert same(run.degree_assortativity(graph, weighted=True), expected)


def test_power_laws_equal_igraph():
    igraph = pytest.importorskip("igraph")
    degree = tg.generators.rmat(8, 8, seed=1).out_degree
    for xmin in (None, 6):
        found = run.power_law_fit(degree, xmin)
        expected = igraph.power_law_fit(degree[degree > 0].tolist(), xmin, method="discrete", p_precision=0.5)
        assert found.xmin == expected.xmin
        assert close([found.alpha, found.ks], [expected.alpha, expected.D], 1e-3)
        assert found.tail == int((degree >= found.xmin).sum()) and 0 < found.sigma < 1


def test_a_law_fits_what_follows_it_and_nothing_else():
    draw = numpy.random.default_rng(0)
    values = torch.from_numpy(draw.zipf(2.5, 5000))
    law = run.power_law_fit(values)
    assert run.power_law_p_value(values, law) > 0.1
    assert run.power_law_p_value(values, law, seed=1) == run.power_law_p_value(values, law, seed=1)
    others = torch.from_numpy(draw.poisson(20, 5000)), torch.from_numpy(draw.geometric(0.05, 5000))
    assert [run.power_law_p_value(each, run.power_law_fit(each, 5)) for each in others] == [0, 0]


@pytest.mark.thorough
def test_samples_of_a_law_are_as_far_from_theirs_as_from_each_other():
    """With xmin given, the value is uniform over 0..1."""
    found = []
    for seed in range(40):
        values = torch.from_numpy(numpy.random.default_rng(seed).zipf(2.2, 2000))
        found.append(run.power_law_p_value(values, run.power_law_fit(values, 1), seed=seed))
    assert 0.35 < sum(found) / len(found) < 0.65 and min(found) < 0.2 and max(found) > 0.8


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda graph: run.power_law_p_value(torch.arange(9), run.power_law_fit(torch.arange(9)), samples=0),
            "samples: expected at least one",
        ),
        (lambda graph: run.k_hop(graph, 0, -1), "k: a number of hops"),
        (lambda graph: run.quotient_graph(graph, torch.ones(5)), "labels: expected one integer per vertex"),
        (lambda graph: run.numeric_assortativity(graph, torch.ones(5)), "values: expected one per vertex"),
        (lambda graph: run.degree_assortativity(graph, "both"), "'both' is not 'in' or 'out'"),
        (lambda graph: run.degree_distribution(graph, "x"), "direction: 'x' is not"),
        (lambda graph: run.power_law_fit(torch.ones(4)), "values: expected a tensor of integers"),
        (lambda graph: run.power_law_fit(torch.ones(4, dtype=torch.int64)), "two different values from 1 on"),
    ],
)
def test_what_cannot_be_is_refused(call, message):
    with pytest.raises(tg.errors.ArgumentError, match=message):
        call(tg.Graph.from_edges([0], [1]))


def test_empty_graphs():
    empty = tg.Graph.from_edges([], [])
    assert run.complement(empty).num_vertices == run.line_graph(empty)[0].num_vertices == 0
    assert math.isnan(run.reciprocity(empty)) and math.isnan(run.degree_assortativity(empty))
