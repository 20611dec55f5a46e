"""Orders, cycles, longest paths, closures and reductions against networkx."""

from functools import partial

import networkx as nx
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import (
    BACKENDS,
    FLOATS,
    INTEGERS,
    arcs,
    edge_lists,
    exact_weights,
    graphs,
    merged_twin,
    on_threads,
    random_graph,
    same_on_threads,
    twin,
)

import tgraph as tg
from tgraph.algorithms import (
    dag_longest_path,
    dag_longest_path_length,
    find_cycle,
    is_dag,
    topological_generations,
    topological_sort,
    transitive_closure,
    transitive_reduction,
)
from tgraph.kernels.operators.dag import transitive


@st.composite
def dags(draw, weighted=False):
    """Arcs that ascend in a shuffled order of the vertices."""
    n, edges = draw(edge_lists())
    order = draw(st.permutations(range(n)))
    edges = [(order[min(u, v)], order[max(u, v)]) for u, v in edges if u != v]
    dtype = draw(st.sampled_from([d for d in (*INTEGERS, *FLOATS) if d != torch.uint8])) if weighted else None
    weights = exact_weights(draw, len(edges), dtype, lowest=-5) if weighted else None
    return tg.Graph.from_edges([u for u, _ in edges], [v for _, v in edges], weights, num_vertices=n)


@given(graphs(directed=True))
def test_cycles(graph):
    acyclic = nx.is_directed_acyclic_graph(twin(graph))
    for backend in BACKENDS:
        assert is_dag(graph, backend=backend) == acyclic
        cycle = find_cycle(graph, backend=backend).tolist()
        assert bool(cycle) != acyclic and len(set(cycle)) == len(cycle)
        held = {(u, v) for u, v, _ in arcs(graph)}
        assert all(arc in held for arc in zip(cycle, cycle[1:] + cycle[:1], strict=True))
        if cycle:
            with pytest.raises(tg.errors.ArgumentError, match=f"a cycle, of vertices {cycle[0]}"):
                topological_sort(graph, backend=backend)


@given(graphs(directed=False))
def test_cycles_without_directions(kernels, graph):
    """Of distinct edges, and found where there are as many edges as vertices in some component."""
    cycle = find_cycle(graph).tolist()
    edges = [(u, v) for u, v, _ in arcs(graph) if u <= v]
    G = nx.MultiGraph(edges)
    assert bool(cycle) == (len(edges) > 0 and not nx.is_forest(G))
    if not cycle:
        return
    assert len(set(cycle)) == len(cycle) and cycle[0] == min(cycle)
    used = nx.MultiGraph(zip(cycle, [*cycle[1:], cycle[0]], strict=True))
    assert all(G.number_of_edges(u, v) >= used.number_of_edges(u, v) for u, v in used.edges())


@given(dags())
def test_generations_equal_networkx(graph):
    expected = [0] * graph.num_vertices
    for number, members in enumerate(nx.topological_generations(twin(graph))):
        for v in members:
            expected[v] = number
    for backend in BACKENDS:
        assert topological_generations(graph, backend=backend).tolist() == expected
        order = topological_sort(graph, backend=backend).tolist()
        assert order == sorted(range(graph.num_vertices), key=lambda v: (expected[v], v))


@given(dags(weighted=True))
def test_longest_paths_equal_networkx(graph):
    G = merged_twin(graph, max)
    expected = nx.dag_longest_path_length(G)
    for backend in BACKENDS:
        assert dag_longest_path_length(graph, weighted=True, backend=backend) == expected
        assert dag_longest_path_length(graph, backend=backend) == nx.dag_longest_path_length(G, weight=None)
        path = dag_longest_path(graph, weighted=True, backend=backend).tolist()
        assert nx.path_weight(G, path, "weight") == expected if path else not len(G)
    assert path == dag_longest_path(graph, weighted=True).tolist()


@given(dags())
def test_closure_and_reduction_equal_networkx(graph):
    G = nx.DiGraph(twin(graph))
    for function, oracle in (
        (transitive_closure, nx.transitive_closure),
        (transitive_reduction, nx.transitive_reduction),
        (partial(transitive_reduction, backend="portable"), nx.transitive_reduction),
    ):
        found = function(graph)
        assert sorted(zip(*found.to_edge_index().tolist(), strict=True)) == sorted(oracle(G).edges)


def test_a_larger_graph(monkeypatch, backend):
    graph = random_graph(1000, 3000, seed=1)
    u, v = graph.to_edge_index()
    dag = tg.Graph.from_edges(u[u < v], v[u < v], num_vertices=1000)
    G = nx.DiGraph(twin(dag))
    assert dag_longest_path_length(dag, backend=backend) == nx.dag_longest_path_length(G, weight=None)
    monkeypatch.setattr(transitive, "BYTES", 1 << 17)  # several times over
    assert transitive_closure(dag, backend=backend).num_arcs == nx.transitive_closure_dag(G).number_of_edges()
    reductions = on_threads(lambda: transitive_reduction(dag, backend=backend))
    expected = sorted(nx.transitive_reduction(G).edges)
    assert all(sorted(zip(*found.to_edge_index().tolist(), strict=True)) == expected for found in reductions)
    same_on_threads(lambda: topological_generations(dag, backend=backend))


def test_the_smallest_graphs_layouts_and_refusals(backend):
    for n in (0, 1):
        graph = tg.Graph.from_edges([], [], num_vertices=n)
        assert is_dag(graph, backend=backend) and topological_sort(graph, backend=backend).tolist() == list(range(n))
        assert dag_longest_path(graph, backend=backend).tolist() == list(range(n))
        assert dag_longest_path_length(graph, backend=backend) == 0 and transitive_closure(graph).num_arcs == 0
    chain = tg.Graph.from_edges(range(9), range(1, 10), torch.ones(9))
    assert dag_longest_path(chain.to_format("virtual"), weighted=True, backend=backend).tolist() == list(range(10))
    undirected = random_graph(4, 4, directed=False)
    assert not is_dag(undirected)
