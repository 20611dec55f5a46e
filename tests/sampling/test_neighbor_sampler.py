"""Sampled neighbourhoods: arcs of the graph, as many as asked for, the same on all backends and threads."""

from collections import Counter

import pytest
import scipy.stats
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import citation_graph, same
from strategies import graphs, on_threads, random_graph, refused

import tgraph as tg
from tgraph.core import dispatch
from tgraph.errors import ArgumentError
from tgraph.sampling import NeighborSampler


def check(graph, sample, seeds, fanouts, replace=False):
    """Arcs of the graph between places in the list; as many for each vertex as its fan-out and degree allow."""
    node, row, col, edge = sample.node.tolist(), sample.row.tolist(), sample.col.tolist(), sample.edge.tolist()
    assert node[: len(seeds)] == list(seeds)
    assert len(set(node[len(seeds) :])) == len(node) - len(seeds) and not set(node[len(seeds) :]) & set(seeds)
    source = torch.arange(graph.num_vertices).repeat_interleave(graph.out_degree).tolist()
    target = graph.neighbors.tolist()
    ends = [(source[arc], target[arc]) if graph.directed else (target[arc], source[arc]) for arc in edge]
    assert ends == [(node[r], node[c]) for r, c in zip(row, col, strict=True)]
    degree = graph.in_degree.tolist()
    assert sum(sample.num_sampled_nodes) == len(node) and sum(sample.num_sampled_edges) == len(edge)
    drawn, begin = Counter(col), 0
    for fanout, size in zip(fanouts, sample.num_sampled_nodes, strict=False):
        for place in range(begin, begin + size):
            available = degree[node[place]]
            expected = available if fanout < 0 else (fanout if available else 0) if replace else min(fanout, available)
            assert drawn.get(place, 0) == expected
        begin += size
    if not replace:
        assert len(set(zip(col, edge, strict=True))) == len(edge)


@pytest.mark.parametrize("replace", [False, True])
@given(graphs(), st.data())
@settings(max_examples=min(30, settings().max_examples))
def test_samples_are_arcs_of_the_graph(replace, graph, data):
    if graph.num_vertices == 0:
        return
    vertices = st.integers(0, graph.num_vertices - 1)
    seeds = data.draw(st.lists(vertices, max_size=6))
    fanouts = data.draw(st.lists(st.integers(-1, 5), min_size=1, max_size=3))
    sample = NeighborSampler(graph, fanouts, replace=replace, seed=3).sample(torch.tensor(seeds, dtype=torch.int64))
    check(graph, sample, seeds, fanouts, replace)


def both(monkeypatch, sampler, *arguments, **named):
    """The sample of the compiled kernel and that of the portable one."""
    with dispatch.watched() as choices:
        found = sampler.sample(*arguments, draw=5, **named)
    assert choices[-1].is_by("native")
    with monkeypatch.context() as patch:
        patch.setenv("TGRAPH_NATIVE", "0")
        expected = sampler.sample(*arguments, draw=5, **named)
    return found, expected


OPTIONS = [
    {},
    {"replace": True},
    {"disjoint": True},
    {"direction": "out"},
    {"weighted": True},
    {"weighted": True, "replace": True},
    {"weighted": True, "disjoint": True},
]


@pytest.mark.covering(1)
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("directed", [True, False])
def test_backends_draw_the_same(monkeypatch, options, directed):
    graph = random_graph(200, 3000, dtype=torch.float32, directed=directed)
    for fanouts in ([5, 3], [-1, 2], [60, 1], [0, 4], [3]):
        sampler = NeighborSampler(graph, fanouts, seed=1, **options)
        same(*both(monkeypatch, sampler, torch.tensor([3, 7, 7, 199, 0])))


@pytest.mark.parametrize("options", OPTIONS)
def test_of_several_types(monkeypatch, options):
    graph = citation_graph()
    fanouts = {("paper", "cites", "paper"): [3, 2], ("author", "writes", "paper"): [2, -1]}
    sampler = NeighborSampler(graph, fanouts, **options)
    seeds = {"author": torch.tensor([3]), "paper": torch.tensor([1, 5, 39, 1])}
    if options.get("direction") == "out":
        seeds = {"paper": torch.tensor([1, 5, 39, 1])}
    found, expected = both(monkeypatch, sampler, seeds)
    same(found, expected)
    assert len(found.edge["paper", "by", "author"]) == 0 < len(found.edge["paper", "cites", "paper"])
    for (source, relation, target), edge in found.edge.items():
        arcs = graph[source, relation, target]
        order = arcs.permutation.argsort()[edge]
        kind = source, relation, target
        assert torch.equal(found.node[source][found.row[kind]], arcs.neighbors[order])
        assert torch.equal(found.node[target][found.col[kind]], arcs.row_of_arc()[order])


@pytest.mark.parametrize("strategy", ["uniform", "last"])
@pytest.mark.parametrize("of", ["node_time", "edge_time"])
@pytest.mark.parametrize("weighted", [False, True])
def test_nothing_is_later_than_the_seed(monkeypatch, strategy, of, weighted):
    graph = random_graph(100, 2000, dtype=torch.float64)
    generator = torch.Generator().manual_seed(2)
    time = torch.randint(50, (100 if of == "node_time" else graph.num_arcs,), generator=generator)
    sampler = NeighborSampler(graph, [4, 3], weighted=weighted, temporal_strategy=strategy, **{of: time})
    seeds, seed_time = torch.tensor([0, 5, 5, 80, 99]), torch.tensor([20, 0, 49, 7, 30])
    found, expected = both(monkeypatch, sampler, seeds, seed_time=seed_time)
    same(found, expected)
    latest = seed_time[found.batch[found.col]]
    times = time[found.edge] if of == "edge_time" else time[found.node[found.row]]
    assert len(times) and bool((times <= latest).all())
    if strategy == "last" and not weighted:
        arcs = torch.arange(graph.num_vertices).repeat_interleave(graph.out_degree), graph.neighbors
        for place in range(len(seeds)):
            drawn = found.edge[found.col == place]
            own = (arcs[1] == seeds[place]).nonzero().squeeze(1)
            when = time[own] if of == "edge_time" else time[arcs[0][own]]
            expected_times = when[when <= seed_time[place]].sort().values[-4:]
            found_times = (time[drawn] if of == "edge_time" else time[arcs[0][drawn]]).sort().values
            assert torch.equal(found_times, expected_times)


def test_seeds_have_the_times_of_their_vertices():
    graph = random_graph(100, 2000)
    time = torch.arange(100)
    found = NeighborSampler(graph, [3, 3], node_time=time).sample([50, 10])
    assert len(found.row) and bool((time[found.node] <= torch.tensor([50, 10])[found.batch]).all())


@pytest.mark.parametrize("directed", [True, False])
def test_induced_arcs_are_all_between_the_vertices(directed):
    graph = random_graph(60, 400, directed=directed)
    drawn = NeighborSampler(graph, [3, 2], seed=2).sample([4, 9, 4])
    found = NeighborSampler(graph, [3, 2], seed=2, induced=True).sample([4, 9, 4])
    assert torch.equal(found.node, drawn.node) and found.num_sampled_edges is None
    source = torch.arange(60).repeat_interleave(graph.out_degree)
    inside = torch.isin(source, found.node) & torch.isin(graph.neighbors, found.node)
    assert found.edge.sort().values.tolist() == (inside.nonzero().squeeze(1)).tolist()
    ends = (found.row, found.col) if directed else (found.col, found.row)
    assert torch.equal(found.node[ends[0]], source[found.edge])
    assert torch.equal(found.node[ends[1]], graph.neighbors[found.edge].long())


def test_induced_arcs_within_disjoint_trees():
    graph = random_graph(60, 400)
    drawn = NeighborSampler(graph, [3, 2], seed=2, disjoint=True).sample([4, 9, 4])
    found = NeighborSampler(graph, [3, 2], seed=2, disjoint=True, induced=True).sample([4, 9, 4])
    assert torch.equal(found.node, drawn.node) and torch.equal(found.batch, drawn.batch)
    assert torch.equal(found.batch[found.row], found.batch[found.col])
    source = torch.arange(60).repeat_interleave(graph.out_degree)
    for tree in range(3):
        node = found.node[found.batch == tree]
        inside = torch.isin(source, node) & torch.isin(graph.neighbors, node)
        of_tree = found.batch[found.row] == tree
        assert found.edge[of_tree].sort().values.tolist() == inside.nonzero().squeeze(1).tolist()
        assert torch.equal(found.node[found.row[of_tree]], source[found.edge[of_tree]])
        assert torch.equal(found.node[found.col[of_tree]], graph.neighbors[found.edge[of_tree]].long())


def counts_of(sampler, seed, draws, size):
    """How often each arc was drawn for one seed."""
    seeds = torch.full((draws,), seed)
    found = sampler.sample(seeds)
    return torch.bincount(found.edge, minlength=size)


@pytest.mark.parametrize("degree", [7, 60, 700])
def test_arcs_are_drawn_alike(degree):
    star = tg.Graph.from_edges([0] * degree, range(1, degree + 1), directed=True)
    for replace in (False, True):
        sampler = NeighborSampler(star, [5], replace=replace, disjoint=True, direction="out", seed=11)
        assert scipy.stats.chisquare(counts_of(sampler, 0, 4000, degree).numpy()).pvalue > 0.001


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64])
@pytest.mark.parametrize("degree", [7, 100, 1000])
def test_arcs_are_drawn_by_their_weights(degree, dtype):
    """With replacement; and without, the first of them."""
    weights = torch.randint(0, 9, (degree,), generator=torch.Generator().manual_seed(1)).to(dtype)
    star = tg.Graph.from_edges([0] * degree, range(1, degree + 1), weights, directed=True)
    chance = weights.double() / weights.double().sum()
    some = chance > 0
    for options in ({"replace": True, "num_neighbors": [5]}, {"replace": False, "num_neighbors": [1]}):
        sampler = NeighborSampler(star, weighted=True, disjoint=True, direction="out", seed=5, **options)
        counts = counts_of(sampler, 0, 5000, degree)
        assert int(counts[~some].sum()) == 0
        expected = chance[some] * counts.sum()
        assert scipy.stats.chisquare(counts[some].double().numpy(), expected.numpy()).pvalue > 0.001


def test_what_is_kept_of_weights_is_less_than_a_hundredth_of_the_graph():
    made = tg.generators.rmat(12, weighted=True)
    graph = tg.Graph(made.offset, made.neighbors, made.weights.float(), directed=False)
    (arcs,) = NeighborSampler(graph, [3], weighted=True)._arcs
    assert arcs.weights.data_ptr() == graph.weights.data_ptr() and int((arcs.bounds > -128).sum()) > 10
    assert arcs.sums.nbytes + arcs.bounds.nbytes < graph.nbytes / 100


def test_one_arc_with_nearly_all_of_the_mass(monkeypatch):
    """The others are drawn all the same, and those of weight 0 never."""
    weights = torch.full((300,), 1e-9, dtype=torch.float64)
    weights[7], weights[10:200] = 1.0, 0.0
    star = tg.Graph.from_edges([0] * 300, range(1, 301), weights, directed=True)
    sampler = NeighborSampler(star, [20], weighted=True, direction="out")
    found, expected = both(monkeypatch, sampler, torch.tensor([0]))
    same(found, expected)
    drawn = set(found.edge.tolist())
    assert len(drawn) == 20 and 7 in drawn and not drawn & set(range(10, 200))
    everything = NeighborSampler(star, [200], weighted=True, direction="out").sample([0])
    assert len(everything.edge) == 110


def test_depends_on_the_seed_and_on_the_call_alone():
    graph = random_graph(5000, 100_000)
    seeds = torch.arange(0, 4096)
    first, *others = on_threads(lambda: NeighborSampler(graph, [10, 10], seed=3).sample(seeds))
    for other in others:
        same(other, first)
    sampler = NeighborSampler(graph, [10, 10], seed=3)
    same(sampler.sample(seeds), first)
    again = sampler.sample(seeds)
    assert not torch.equal(again.edge, first.edge)
    same(sampler.sample(seeds, draw=0), first)
    assert not torch.equal(NeighborSampler(graph, [10, 10], seed=4).sample(seeds).edge, first.edge)


def test_disjoint_trees_share_nothing():
    graph = random_graph(50, 1000)
    found = NeighborSampler(graph, [5, 5], disjoint=True).sample([4, 4, 9])
    assert found.batch[:3].tolist() == [0, 1, 2]
    assert torch.equal(found.batch[found.row], found.batch[found.col])
    pairs = torch.stack((found.batch, found.node)).t().tolist()
    assert len({tuple(pair) for pair in pairs}) == len(pairs)


@pytest.mark.parametrize(
    ("arguments", "named", "message"),
    [
        (([-2],), {}, r"num_neighbors: got -2 in hop 0; -1 takes all"),
        (([1],), {"weighted": True}, "graph: has no weights"),
        (([1],), {"temporal_strategy": "first"}, "temporal_strategy: expected 'uniform' or 'last', got 'first'"),
        (([1],), {"direction": "up"}, "direction: expected"),
        (([1],), {"node_time": torch.zeros(3)}, r"node_time: expected int64 \[4\]"),
        (([1],), {"node_time": torch.zeros(4).long(), "edge_time": torch.zeros(2).long()}, "exclude each other"),
        (({("a", "b", "c"): [1]},), {}, r"num_neighbors: the graph has no edges \('a', 'b', 'c'\)"),
    ],
)
def test_refused_samplers(arguments, named, message):
    graph = tg.Graph.from_edges([0, 1], [1, 2], num_vertices=4)
    with pytest.raises(ArgumentError, match=message):
        NeighborSampler(graph, *arguments, **named)


def test_refused_seeds():
    graph = tg.Graph.from_edges([0, 1], [1, 2], [1.0, -2.0], num_vertices=4)
    sampler = NeighborSampler(graph, [1])
    refused(r"seeds\[1\] is 4; vertices are 0 to 3", sampler.sample, [0, 4])
    refused("seeds: expected indices of vertices, got dict", sampler.sample, {"vertex": torch.tensor([1])})
    refused("the sampler has no times", sampler.sample, [0], torch.tensor([1]))
    with pytest.raises(ArgumentError, match="required, one for each seed"):
        NeighborSampler(graph, [1], edge_time=torch.zeros(2).long()).sample([0])
    with pytest.raises(
        ArgumentError, match=r"seed_time: expected int64 \[1\], one for each seed, got torch.int64 \[2\]"
    ):
        NeighborSampler(graph, [1], edge_time=torch.zeros(2).long()).sample([0], torch.tensor([1, 2]))
    refused(r"weights\[1\] is -2.0", NeighborSampler, graph, [1], weighted=True)
    assert len(sampler.sample([]).node) == 0
    assert sampler.sample([3]).num_sampled_nodes == [1, 0]
