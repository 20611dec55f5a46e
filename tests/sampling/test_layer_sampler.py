"""LADIES and FastGCN: sources by the probabilities of the papers, weights with the expected sums of all arcs."""

import numpy as np
import pytest
import scipy.stats
import torch
from hypothesis import given
from hypothesis import strategies as st
from samples import drawn_alike, with_both
from strategies import graphs, random_graph

import tgraph as tg
from tgraph.core.csr import Csr
from tgraph.errors import ArgumentError
from tgraph.sampling import LayerSampler, blocks


def arcs_of(graph, weighted):
    """(sources, destinations, entries) of the arcs by number, as arrays."""
    source = np.arange(graph.num_vertices).repeat(graph.out_degree.numpy())
    target = graph.neighbors.long().numpy()
    if not graph.directed:
        source, target = target, source  # rows are destinations
    received = np.bincount(target, minlength=graph.num_vertices)
    return source, target, graph.weights.double().numpy() if weighted else 1 / received[target]


def probabilities(graph, vertices, weighted, method):
    """Of each source, float64 [n], by the definition."""
    source, target, entry = arcs_of(graph, weighted)
    times = np.ones(graph.num_vertices)
    if method == "ladies":
        times = np.bincount(np.asarray(vertices, dtype=np.int64), minlength=graph.num_vertices)
    mass = np.bincount(source, entry**2 * times[target], minlength=graph.num_vertices)
    return mass / mass.sum() if mass.sum() else mass


@given(
    graphs(min_vertices=1, dtypes=(torch.float32,)), st.booleans(), st.sampled_from(["ladies", "fastgcn"]), st.data()
)
def test_all_arcs_from_drawn_sources_with_the_weights_of_the_papers(graph, weighted, method, data):
    seeds = data.draw(st.lists(st.integers(0, graph.num_vertices - 1), min_size=1, max_size=5))
    draws = data.draw(st.lists(st.integers(0, 6), min_size=1, max_size=3))
    found = with_both(LayerSampler(graph, draws, method=method, weighted=weighted, seed=3), seeds)
    source, target, entry = arcs_of(graph, weighted)
    assert found.node[: len(seeds)].tolist() == seeds
    numbers = found.edge.numpy()
    assert np.array_equal(source[numbers], found.node[found.row].numpy())
    assert np.array_equal(target[numbers], found.node[found.col].numpy())
    assert len(blocks(found)) == len(draws)
    first = place = 0
    for count, size, arcs in zip(draws, found.num_sampled_nodes, found.num_sampled_edges, strict=False):
        rows = found.node[place : place + size].tolist()
        chance = probabilities(graph, rows, weighted, method)
        edge, weight = numbers[first : first + arcs], found.weight[first : first + arcs].double().numpy()
        drawn = np.unique(source[edge])
        expected = [arc for v in rows for arc in np.flatnonzero(target == v) if source[arc] in drawn]
        assert edge.tolist() == expected
        times = {}
        for arc, value in zip(edge, weight, strict=True):
            if entry[arc]:
                times.setdefault(source[arc], []).append(value * count * chance[source[arc]] / entry[arc])
        whole = {u: round(values[0]) for u, values in times.items()}
        assert all(whole[u] >= 1 and np.allclose(values, whole[u], rtol=1e-4) for u, values in times.items())
        assert sum(whole.values()) == count or method == "fastgcn" or not chance.any()
        assert sum(whole.values()) <= count
        first, place = first + arcs, place + size


@pytest.mark.covering(1)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("method", ["ladies", "fastgcn"])
def test_sources_by_the_probabilities_of_the_papers(kernels, method, weighted):
    graph = random_graph(15, 90, dtype=torch.float32)
    seeds = list(range(15)) if method == "fastgcn" else [3, 4, 9]  # all vertices, so that each draw is seen
    sampler = LayerSampler(graph, [1], method=method, weighted=weighted, seed=1)
    source = arcs_of(graph, weighted)[0]
    counts = np.zeros(15)
    for draw in range(800):
        edge = sampler.sample(seeds, draw=draw).edge.numpy()
        if len(edge):
            counts[source[edge[0]]] += 1
    expected = probabilities(graph, seeds, weighted, method) * 800
    assert counts.sum() == 800 and not counts[expected == 0].any()
    seen = expected > 0
    assert scipy.stats.chisquare(counts[seen], expected[seen]).pvalue > 1e-4


@pytest.mark.covering(1)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("method", ["ladies", "fastgcn"])
def test_expected_sums_are_those_of_all_arcs(method, weighted):
    graph = random_graph(40, 400, dtype=torch.float32)
    data = torch.rand(40, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    seeds = torch.tensor([7, 1, 30, 12])
    source, target, entry = arcs_of(graph, weighted)
    exact = np.bincount(target, entry * data.numpy()[source], minlength=40)[seeds]
    sampler = LayerSampler(graph, [10], method=method, weighted=weighted, seed=5)
    sums = []
    for draw in range(1500):
        found = sampler.sample(seeds, draw=draw)
        received = torch.zeros(len(seeds), dtype=torch.float64)
        sums.append(received.index_add_(0, found.col, found.weight.double() * data[found.node[found.row]]))
    table = torch.stack(sums).numpy()
    assert table.std(0).min() > 0.01  # they do vary
    assert np.all(np.abs(table.mean(0) - exact) < 4.5 * table.std(0) / np.sqrt(len(table)))


def test_normalized_weights_sum_to_those_of_all_arcs(kernels):
    graph = random_graph(60, 900, dtype=torch.float32)
    for weighted in (False, True):
        found = LayerSampler(graph, [20, 15], weighted=weighted, normalize=True).sample([1, 2, 3, 4, 5])
        _, target, entry = arcs_of(graph, weighted)
        whole = torch.from_numpy(np.bincount(target, entry, minlength=60))
        sums = torch.zeros(len(found.node), dtype=torch.float64).index_add_(0, found.col, found.weight.double())
        reached = torch.bincount(found.col, minlength=len(found.node)) > 0
        assert int(reached.sum()) > 10
        assert torch.allclose(sums[reached], whole[found.node[reached]], rtol=1e-4)


@pytest.mark.parametrize("method", ["ladies", "fastgcn"])
def test_the_same_on_any_number_of_threads_and_another_at_each_call(method):
    drawn_alike(LayerSampler(random_graph(2000, 200_000), [300, 300], method=method, seed=3), torch.arange(900))


def test_refusals():
    graph = tg.Graph.from_edges([0, 1], [1, 2])
    for options, name in (
        ({"method": "gcn"}, "method"),
        ({"num_draws": [-1]}, "num_draws"),
        ({"weighted": True}, "no weights"),
        ({"graph": Csr(torch.tensor([0, 1]), torch.tensor([2]), None, 3)}, "rows and as columns"),
        ({"graph": tg.Graph.from_edges([0], [1], [float("nan")]), "weighted": True}, r"weights\[0\] is nan"),
    ):
        with pytest.raises(ArgumentError, match=name):
            LayerSampler(**{"graph": graph, "num_draws": [2]} | options)
    with pytest.raises(ArgumentError, match=r"seeds\[0\] is 7"):
        LayerSampler(graph, [2]).sample([7])
