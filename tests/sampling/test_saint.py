"""What GraphSAINT draws: vertices by the probabilities of the paper."""

import pytest
import scipy.stats
import torch
from strategies import random_graph

import tgraph as tg
from tgraph.core import random
from tgraph.sampling import saint, saint_edges, saint_nodes, saint_walks


def edges_of(graph):
    return torch.arange(graph.num_vertices).repeat_interleave(graph.out_degree), graph.neighbors.long()


@pytest.mark.parametrize("drawn", [saint._few_edges, saint._many_edges])
def test_edges_by_the_degrees_of_their_ends(drawn):
    graph = random_graph(8, 30, directed=True)
    row, column = edges_of(graph)
    weight = 1 / graph.out_degree[row].double() + 1 / graph.in_degree[column].double()
    counts = torch.bincount(
        torch.cat([drawn(graph, 1, random.key(1, i)) for i in range(1500)]), minlength=graph.num_arcs
    )
    assert scipy.stats.chisquare(counts.double(), weight / weight.sum() * 1500).pvalue > 1e-4


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("count", [0, 5, 60, 1000])
def test_the_ends_of_different_edges(directed, count):
    graph = random_graph(50, 200, directed=directed)
    arcs = saint._few_edges(graph, min(count, graph.num_arcs), 3)
    assert len(arcs.unique()) == len(arcs) == min(count, graph.num_arcs)
    vertices = saint_edges(graph, count, 3)
    assert torch.equal(vertices, vertices.unique()) and len(vertices) <= 2 * count
    if count == 1000:
        assert torch.equal(vertices, torch.cat(edges_of(graph)).unique())


def test_vertices_by_degree_and_of_walks():
    graph = random_graph(50, 200, directed=True)
    counts = torch.zeros(50)
    for i in range(2000):
        counts[saint_nodes(graph, 1, i)] += 1
    seen = graph.out_degree > 0
    expected = graph.out_degree[seen].double() / graph.num_arcs * 2000
    assert bool((counts[~seen] == 0).all()) and scipy.stats.chisquare(counts[seen].double(), expected).pvalue > 1e-4
    walks = saint_walks(graph, 4, 3, 1)
    assert torch.equal(walks, walks.unique()) and 1 <= len(walks) <= 16
    assert torch.equal(walks, saint_walks(graph, 4, 3, 1)) and not torch.equal(walks, saint_walks(graph, 4, 3, 2))


def test_of_a_graph_without_edges():
    empty = tg.Graph.from_edges([], [], num_vertices=4)
    assert not len(saint_nodes(empty, 3, 0)) and not len(saint_edges(empty, 3, 0)) and len(saint_walks(empty, 3, 2, 0))
