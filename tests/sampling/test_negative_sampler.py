"""Negative edges: pairs without an edge, all that there are, by the probabilities that were asked for."""

import pytest
import scipy.stats
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import graphs, random_graph, refused, same_on_threads

import tgraph as tg
from tgraph.core import dispatch
from tgraph.core.csr import Csr
from tgraph.errors import ArgumentError
from tgraph.sampling import NegativeSampler, negative_edges


def dense(graph):
    """Whether there is an edge between each pair."""
    found = torch.zeros(graph.num_vertices, graph.num_vertices, dtype=torch.bool)
    found[torch.arange(graph.num_vertices).repeat_interleave(graph.out_degree), graph.neighbors.long()] = True
    return found


@given(graphs(), st.booleans(), st.sampled_from(["uniform", "degree"]), st.integers(0, 9))
def test_pairs_have_no_edge(graph, self_loops, by, seed):
    edges = dense(graph)
    if not self_loops:
        edges.fill_diagonal_(True)
    if bool(edges.all()):
        return
    source, target = negative_edges(graph, 50, by=by, self_loops=self_loops, seed=seed)
    assert not bool(edges[source, target].any())
    free = (~edges.all(1)).nonzero().squeeze(1)
    pairs = negative_edges(graph, sources=free, by=by, self_loops=self_loops, seed=seed)
    assert torch.equal(pairs[0], free) and not bool(edges[free, pairs[1]].any())


@given(graphs(), st.booleans(), st.sampled_from(["uniform", "degree"]), st.integers(0, 9))
def test_the_same_from_all_backends(graph, self_loops, by, seed):
    found = []
    for backend in ("native", "portable"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("TGRAPH_NATIVE", "1" if backend == "native" else "0")
            sampler = NegativeSampler(graph, by=by, self_loops=self_loops, seed=seed)
            free = (sampler._free(torch.arange(graph.num_vertices)) > 0).nonzero().squeeze(1)
            with dispatch.watched() as choices:
                found.append([sampler.sample(40 if len(free) else 0), sampler.sample_for(free)])
        assert [choice.backend.name for choice in choices] == [backend] * 2
    assert all(torch.equal(one, other) for one, other in zip(*found, strict=True))


def test_the_same_on_any_number_of_threads():
    sampler = NegativeSampler(random_graph(500, 4000), by="degree", seed=3)
    alone = same_on_threads(lambda: sampler.sample(50_000, draw=1))
    assert not torch.equal(sampler.sample(50_000, draw=2), alone)


@pytest.mark.parametrize("self_loops", [False, True])
def test_all_pairs_alike(kernels, self_loops):
    graph = random_graph(12, 90)
    free = ~dense(graph)
    if not self_loops:
        free.fill_diagonal_(False)
    source, target = negative_edges(graph, 40_000, self_loops=self_loops, seed=4)
    counts = torch.zeros(12, 12).index_put_((source, target), torch.ones(40_000), accumulate=True)
    assert bool((counts[~free] == 0).all())
    assert scipy.stats.chisquare(counts[free]).pvalue > 1e-4
    of_one = negative_edges(graph, sources=torch.full((5000,), 3), self_loops=self_loops, seed=1)[1]
    counts = torch.bincount(of_one, minlength=12)
    assert bool((counts[~free[3]] == 0).all())
    assert scipy.stats.chisquare(counts[free[3]]).pvalue > 1e-4


def test_pairs_by_degree(kernels):
    graph = random_graph(12, 40)
    free = (~dense(graph)).fill_diagonal_(False)
    source, target = negative_edges(graph, 40_000, by="degree", seed=1)
    counts = torch.zeros(12, 12).index_put_((source, target), torch.ones(40_000), accumulate=True)
    edges = dense(graph).double()
    expected = edges.sum(1)[:, None] * edges.sum(0) * free
    expected *= 40_000 / expected.sum()
    seen = expected > 0
    assert bool((counts[~seen] == 0).all())
    assert scipy.stats.chisquare(counts.double()[seen], expected[seen]).pvalue > 1e-4


def test_edges_between_two_types(kernels):
    arcs = Csr(torch.tensor([0, 3, 3, 4]), torch.tensor([4, 0, 4, 2]), None, 5)  # rows neither sorted nor simple
    pairs = negative_edges(arcs, 2000, seed=2)
    found = set(map(tuple, pairs.t().tolist()))
    assert found == {(row, column) for row in range(3) for column in range(5)} - {(0, 4), (0, 0), (2, 2)}


def test_the_last_pair_is_found(kernels):
    ends = torch.ones(30, 30, dtype=torch.bool)
    ends[17, 4] = False
    graph = tg.Graph.from_edges(*ends.nonzero().t(), num_vertices=30)
    for by in ("uniform", "degree"):
        assert negative_edges(graph, 3, by=by).tolist() == [[17] * 3, [4] * 3]


@given(graphs(), st.booleans(), st.sampled_from(["uniform", "degree"]), st.floats(0, 1), st.integers(0, 9))
def test_distinct_pairs(graph, self_loops, by, share, seed):
    edges = dense(graph)
    if not self_loops:
        edges.fill_diagonal_(True)
    free = (~edges).sum(1)
    count = int(share * int(free.sum()))
    found = []
    for backend in ("native", "portable"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("TGRAPH_NATIVE", "1" if backend == "native" else "0")
            sampler = NegativeSampler(graph, by=by, self_loops=self_loops, distinct=True, seed=seed)
            wanted = (share * free).ceil().long()  # of each source, some of them all
            sources = torch.arange(graph.num_vertices).repeat_interleave(wanted)
            sources = sources[torch.randperm(len(sources), generator=torch.Generator().manual_seed(seed))]
            found.append((sampler.sample(count), sampler.sample_for(sources)))
    for pairs, others in zip(*found, strict=True):
        assert torch.equal(pairs, others)
        assert not bool(edges[pairs[0], pairs[1]].any())
        assert pairs.unique(dim=1).shape == pairs.shape
    assert found[0][0].shape == (2, count) and torch.equal(found[0][1][0], sources)


@pytest.mark.covering(1)
@pytest.mark.parametrize("count", [30, 70])  # fewer and more than half of all
def test_distinct_pairs_alike(kernels, count):
    graph = random_graph(12, 40)
    free = (~dense(graph)).fill_diagonal_(False)
    assert 2 * 30 < int(free.sum()) < 2 * 70
    sampler = NegativeSampler(graph, distinct=True, seed=2)
    counts = torch.zeros(12, 12)
    for draw in range(300):
        counts[tuple(sampler.sample(count, draw=draw))] += 1
    mean = 300 * count / int(free.sum())
    assert bool((counts[~free] == 0).all())
    spread = (mean * (1 - count / int(free.sum()))) ** 0.5
    assert float((counts[free] - mean).abs().max()) < 4.5 * spread


def test_distinct_pairs_by_degree_prefer_hubs(kernels):
    star = torch.arange(1, 40)
    graph = tg.Graph.from_edges(torch.cat((torch.zeros_like(star), star[:-1])), torch.cat((star, star[1:])))
    for count in (100, 1000):
        source = NegativeSampler(graph, by="degree", distinct=True, seed=1).sample(count)[0]
        alike = NegativeSampler(graph, distinct=True, seed=1).sample(count)[0]
        assert int((source == 39).sum()) < int((alike == 39).sum())  # which has no arc out of it


def test_refusals():
    with pytest.raises(ArgumentError, match="2 pairs without an edge, got 3"):
        negative_edges(tg.Graph.from_edges([0, 1, 0, 1], [1, 2, 2, 0]), 3, distinct=True)
    with pytest.raises(ArgumentError, match=r"sources\[0\]: vertex 0 occurs 2 times, and has no edge to 1"):
        negative_edges(tg.Graph.from_edges([0], [1], num_vertices=3), sources=[0, 0], distinct=True)
    whole = tg.Graph.from_edges(*torch.ones(3, 3).fill_diagonal_(0).nonzero().t(), num_vertices=3)
    refused("between all pairs", negative_edges, whole, 1)
    with pytest.raises(ArgumentError, match=r"sources\[1\]: vertex 2 has an edge to all"):
        negative_edges(tg.Graph.from_edges(torch.tensor([2, 2]), torch.tensor([0, 1])), sources=[0, 2])
    refused(r"sources\[0\] is 3", negative_edges, whole, sources=[3])
    refused("give one of both", negative_edges, whole)
    refused("by", negative_edges, whole, 1, by="rank")
    assert negative_edges(whole, 5, self_loops=True).diff(dim=0).tolist() == [[0] * 5]
