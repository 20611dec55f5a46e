"""Personalised PageRank by pushes: near that of networkx, the same on all backends; subgraphs of the highest scores."""

import networkx as nx
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import with_both
from strategies import graphs, on_threads, random_graph, refused, twin

import tgraph as tg
from tgraph.core.csr import Csr
from tgraph.errors import ArgumentError
from tgraph.sampling import PPRSampler


def pagerank(graph, seed, alpha):
    """Of walks against the arcs that stay where no arc leads on, float64 [n]."""
    walks = nx.DiGraph()
    walks.add_nodes_from(range(graph.num_vertices))
    for source, target, _ in twin(graph).edges:
        weight = walks.get_edge_data(target, source, {"weight": 0})["weight"]
        walks.add_edge(target, source, weight=weight + 1)
    walks.add_edges_from((v, v, {"weight": 1}) for v in range(graph.num_vertices) if not walks.out_degree(v))
    found = nx.pagerank(walks, 1 - alpha, personalization={seed: 1}, tol=1e-13, max_iter=2000)
    return torch.tensor([found[v] for v in range(graph.num_vertices)], dtype=torch.float64)


@given(graphs(min_vertices=1), st.data())
@settings(max_examples=min(30, settings().max_examples))
def test_scores_are_those_of_pagerank_but_for_the_residuals(graph, data):
    seed = data.draw(st.integers(0, graph.num_vertices - 1))
    alpha, epsilon = data.draw(st.sampled_from([0.15, 0.5])), data.draw(st.sampled_from([1e-2, 1e-6]))
    rows = PPRSampler(graph, 100, alpha=alpha, epsilon=epsilon).scores([seed])
    exact = pagerank(graph, seed, alpha)
    found = torch.zeros_like(exact).index_copy_(0, rows.neighbors.long(), rows.weights)
    found[seed] = exact[seed]
    # what is missing is what walks from the residuals have: those sum to less than epsilon for each arc
    arcs = graph.in_degree.clamp(min=1).sum()
    assert bool((found <= exact + 1e-9).all()) and float((exact - found).sum()) <= epsilon * float(arcs) + 1e-9
    assert bool((rows.weights.diff() <= 0).all()) and seed not in rows.neighbors


@pytest.mark.parametrize("directed", [True, False])
def test_backends_and_threads_find_the_same(monkeypatch, directed):
    graph = random_graph(300, 4000, directed=directed)
    sampler, seeds = PPRSampler(graph, 20, epsilon=1e-4), torch.tensor([3, 0, 3, 299])
    found = with_both(sampler, seeds)
    alone, *others = on_threads(lambda: sampler.scores(torch.arange(100)))
    for other in others:
        assert torch.equal(alone.neighbors, other.neighbors) and torch.equal(alone.weights, other.weights)
    monkeypatch.setenv("TGRAPH_NATIVE", "0")
    expected = sampler.scores(torch.arange(100))
    assert torch.equal(alone.offset, expected.offset) and torch.equal(alone.neighbors, expected.neighbors)
    assert torch.equal(alone.weights, expected.weights)
    assert found.num_sampled_nodes[0] == 4 and torch.equal(found.batch[:4], torch.arange(4))


def test_a_tree_has_all_arcs_between_its_vertices(kernels):
    graph = random_graph(60, 500)
    found = PPRSampler(graph, 8).sample([4, 9])
    source = torch.arange(60).repeat_interleave(graph.out_degree)
    for tree in (0, 1):
        vertices = found.node[found.batch == tree]
        assert len(vertices) == len(vertices.unique()) == 9
        inside = (torch.isin(source, vertices) & torch.isin(graph.neighbors.long(), vertices)).nonzero().squeeze(1)
        edges = found.edge[found.batch[found.row] == tree]
        assert torch.equal(edges.sort().values, inside)
    assert torch.equal(found.node[found.row], source[found.edge])
    assert torch.equal(found.node[found.col], graph.neighbors.long()[found.edge])
    assert torch.equal(found.batch[found.row], found.batch[found.col])


def test_refusals():
    graph = tg.Graph.from_edges([0, 1], [1, 2])
    for options, name in ((-1, {}), "num_neighbors"), ((2, {"alpha": 1}), "alpha"), ((2, {"epsilon": 0}), "epsilon"):
        with pytest.raises(ArgumentError, match=name):
            PPRSampler(graph, options[0], **options[1])
    refused(r"seeds\[0\] is 7", lambda: PPRSampler(graph, 2).sample([7]))
    refused("rows and as columns", PPRSampler, Csr(torch.tensor([0, 1]), torch.tensor([2]), None, 3), 3)
    alone = PPRSampler(tg.Graph.from_edges([], [], num_vertices=2), 5).sample([1])
    assert alone.node.tolist() == [1] and not len(alone.row)
