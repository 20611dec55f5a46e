"""Neighbours by random walks: as many visits as the walks of a vertex make, in the order of how many there are."""

import pytest
import scipy.stats
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import citation_graph, same, with_both
from strategies import graphs, on_threads, random_graph, refused

import tgraph as tg
from tgraph.core.csr import Csr
from tgraph.errors import ArgumentError
from tgraph.sampling import PinSAGESampler, blocks


@given(graphs(min_vertices=1, dtypes=(torch.float32, torch.float64)), st.booleans(), st.data())
@settings(max_examples=min(30, settings().max_examples))
def test_what_walks_visit(graph, weighted, data):
    seeds = data.draw(st.lists(st.integers(0, graph.num_vertices - 1), min_size=1, max_size=5))
    rule = {"num_random_walks": data.draw(st.integers(1, 9)), "num_traversals": data.draw(st.integers(1, 3))}
    rule |= {"weighted": weighted, "seed": data.draw(st.integers(0, 9))}
    sampler = PinSAGESampler(graph, [3, 2], termination_prob=0.3, **rule)
    found = with_both(sampler, seeds)
    node, row, col = found.node.tolist(), found.row.tolist(), found.col.tolist()
    assert node[: len(seeds)] == seeds and len(set(node[len(seeds) :]) | set(seeds)) == len(node[len(seeds) :]) + len(
        set(seeds)
    )
    assert found.num_sampled_nodes[0] == len(seeds) and sum(found.num_sampled_nodes) == len(node)
    assert len(set(zip(row, col, strict=True))) == len(row) == sum(found.num_sampled_edges)
    for place in range(len(node)):
        visits = found.weight[found.col == place]
        assert len(visits) <= (3 if place < len(seeds) else 2)
        assert visits.sum() <= rule["num_random_walks"] * rule["num_traversals"]
        assert bool((visits.diff() <= 0).all()) and bool((visits >= 1).all())


def test_the_distribution_of_where_walks_end(kernels):
    """A walk of one traversal ends at each neighbour alike, of two at those of these."""
    graph = random_graph(30, 300, directed=True)
    adjacency = torch.zeros(30, 30, dtype=torch.float64)
    source = torch.arange(30).repeat_interleave(graph.out_degree)
    adjacency.index_put_((graph.neighbors.long(), source), torch.ones(300, dtype=torch.float64), accumulate=True)
    step = adjacency / adjacency.sum(1, keepdim=True).clamp(min=1)
    sampler = PinSAGESampler(graph, [30], num_random_walks=4000, num_traversals=2, termination_prob=0.25, seed=2)
    found = sampler.sample([5])
    counts = torch.zeros(30, dtype=torch.float64).index_add_(0, found.node[found.row], found.weight.double())
    ends = step[5] * (step.sum(1) > 0)  # walks that go on
    expected = 4000 * (step[5] + 0.75 * ends @ step)
    assert bool((counts[expected == 0] == 0).all())
    # the visits of one walk are not independent, the pairs of them are few: a loose bound
    seen = expected > 0
    expected = expected[seen] * counts.sum() / expected.sum()
    assert scipy.stats.chisquare(counts[seen], expected).pvalue > 1e-4
    once = PinSAGESampler(graph, [30], num_random_walks=4000, num_traversals=1, seed=2).sample([5])
    counts = torch.zeros(30, dtype=torch.float64).index_add_(0, once.node[once.row], once.weight.double())
    assert scipy.stats.chisquare(counts[step[5] > 0], 4000 * step[5][step[5] > 0]).pvalue > 1e-4


def test_walks_follow_weights():
    """Also out of a hub, whose weights are summed in steps."""
    graph = random_graph(30, 3000, dtype=torch.float64)
    hub = int(graph.in_degree.argmax())
    assert graph.in_degree[hub] > 300
    for v in (5, hub):
        sampler = PinSAGESampler(graph, [30], num_random_walks=4000, num_traversals=1, weighted=True, seed=2)
        found = with_both(sampler, [v])
        counts = torch.zeros(30, dtype=torch.float64).index_add_(0, found.node[found.row], found.weight.double())
        source, inside = torch.arange(30).repeat_interleave(graph.out_degree), graph.neighbors == v
        mass = torch.zeros(30, dtype=torch.float64).index_add_(0, source[inside], graph.weights[inside])
        assert bool((counts[mass == 0] == 0).all())
        assert scipy.stats.chisquare(counts[mass > 0], 4000 * (mass / mass.sum())[mass > 0]).pvalue > 1e-4


def test_the_most_visited_are_kept(kernels):
    graph = random_graph(40, 400)
    options = {"num_random_walks": 50, "num_traversals": 3, "seed": 1}
    every = PinSAGESampler(graph, [40], **options).sample([0, 3], draw=0)
    some = PinSAGESampler(graph, [4], **options).sample([0, 3], draw=0)
    for place in (0, 1):
        kept = some.node[some.row[some.col == place]]
        assert torch.equal(kept, every.node[every.row[every.col == place]][:4])
        assert torch.equal(some.weight[some.col == place], every.weight[every.col == place][:4])


def test_walks_round_a_metapath():
    graph = citation_graph()
    path = [("author", "writes", "paper"), ("paper", "by", "author")]
    sampler = PinSAGESampler(graph, [5, 3], metapath=path, num_random_walks=20, seed=3)
    found = with_both(sampler, list(range(40)))
    together = torch.zeros(40, 40, dtype=torch.bool)  # papers of which one has an author of the other
    writes, by = (graph[kind] for kind in path)
    for paper in range(40):
        for author in writes.neighbors[writes.offset[paper] : writes.offset[paper + 1]].tolist():
            together[paper, by.neighbors[by.offset[author] : by.offset[author + 1]]] = True
    reached = together | ((together.double() @ together.double()) > 0)  # by one traversal or two
    assert bool(reached[found.node[found.col], found.node[found.row]].all()) and len(found.row) > 40


def test_the_same_on_any_number_of_threads_and_another_at_each_call():
    sampler = PinSAGESampler(random_graph(500, 4000), [10, 5], seed=3)
    seeds = torch.arange(300)
    alone, *others = on_threads(lambda: sampler.sample(seeds, draw=1))
    assert all(torch.equal(alone.row, other.row) and torch.equal(alone.weight, other.weight) for other in others)
    first = sampler.sample(seeds)
    assert not torch.equal(first.row, sampler.sample(seeds).row)
    same(first, PinSAGESampler(random_graph(500, 4000), [10, 5], seed=3).sample(seeds))


def test_blocks_have_the_visits_as_weights():
    found = PinSAGESampler(random_graph(50, 500), [4, 3], seed=1).sample([1, 2])
    first, last = blocks(found)
    assert torch.equal(last.csr.weights, found.weight[: found.num_sampled_edges[0]]) and last.edge is None
    assert torch.equal(first.csr.weights, found.weight) and first.csr.num_rows == sum(found.num_sampled_nodes[:2])


def test_refusals():
    graph = tg.Graph.from_edges([0, 1], [1, 2])
    for options in ({"num_random_walks": 0}, {"num_traversals": 0}, {"termination_prob": 1.5}):
        with pytest.raises(ArgumentError, match=next(iter(options))):
            PinSAGESampler(graph, [3], **options)
    refused("has no weights", PinSAGESampler, graph, [3], weighted=True)
    refused("num_neighbors", PinSAGESampler, graph, [-1])
    refused(r"seeds\[1\] is 3", lambda: PinSAGESampler(graph, [3]).sample([0, 3]))
    refused("metapath: an ordinary graph", PinSAGESampler, graph, [3], metapath=[("a", "b", "c")])
    refused("do not come back", PinSAGESampler, Csr(torch.tensor([0, 1]), torch.tensor([2]), None, 3), [3])
    types = citation_graph()
    refused("needs one", PinSAGESampler, types, [3])
    refused("the graph has no edges", PinSAGESampler, types, [3], metapath=[("a", "b", "c")])
    refused("a walk is at 'author'", PinSAGESampler, types, [3], metapath=[("author", "writes", "paper")])
    fewer = types | {("paper", "by", "author"): Csr(torch.tensor([0, 1]), torch.tensor([2]), None, 40)}
    with pytest.raises(ArgumentError, match="has 15 vertices 'author'"):
        PinSAGESampler(fewer, [3], metapath=[("author", "writes", "paper"), ("paper", "by", "author")])
