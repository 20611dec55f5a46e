"""Strongly connected components against networkx and scipy; labels are smallest vertices."""

import networkx as nx
import pytest
import torch
from hypothesis import given
from scipy.sparse.csgraph import connected_components
from strategies import BACKENDS, graphs, least_members, random_graph, twin

import tgraph as tg
from tgraph.algorithms import attracting_components, condensation, scc


@given(graphs())
def test_labels_equal_networkx(graph):
    label = least_members(nx.strongly_connected_components(twin(graph)), graph.num_vertices)
    for backend in BACKENDS:
        found = scc(graph, backend=backend)
        assert found.dtype == torch.int64 and found.tolist() == label
    graph.transpose()
    assert scc(graph).tolist() == label


@pytest.mark.parametrize("graph", [tg.generators.rmat(11, 8, directed=True), random_graph(3000, 7000, seed=2)])
def test_larger_graphs(graph, backend, monkeypatch):
    from tgraph.kernels.native.components import components

    groups = connected_components(graph.to_scipy(), connection="strong")[1]
    least = torch.full((graph.num_vertices,), graph.num_vertices)
    label = least.scatter_reduce(0, torch.tensor(groups).long(), torch.arange(len(least)), "amin")[groups]
    assert torch.equal(scc(graph, backend=backend), label)
    graph.transpose()  # the largest component is searched for first, now
    monkeypatch.setattr(components, "LARGE", 1)
    assert torch.equal(scc(graph, backend=backend), label)


def test_long_cycles_and_paths():
    order = torch.randperm(20_000, generator=torch.Generator().manual_seed(0))
    cycle = tg.Graph.from_edges(order, order.roll(1))
    assert not scc(cycle).any()
    assert torch.equal(scc(tg.Graph.from_edges(order[:-1], order[1:])), torch.arange(20_000))


@given(graphs(directed=True))
def test_condensation_equals_networkx(graph):
    dag, component = condensation(graph)
    reference = nx.condensation(nx.DiGraph(twin(graph)))
    name = {c: int(component[min(members)]) for c, members in reference.nodes("members")}
    assert {(name[a], name[b]) for a, b in reference.edges} == set(zip(*dag.to_edge_index().tolist(), strict=True))
    assert dag.num_vertices == len(name) and dag.num_arcs == reference.number_of_edges() and dag.weights is None
    assert tg.algorithms.is_dag(dag)


@given(graphs(directed=True))
def test_attracting_components_equal_networkx(graph):
    members = {v: min(found) for found in nx.attracting_components(twin(graph)) for v in found}
    assert attracting_components(graph).tolist() == [members.get(v, -1) for v in range(graph.num_vertices)]
