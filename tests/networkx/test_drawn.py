"""Random calls of all functions come to the same as in networkx: value, type, order, exception."""

import random
import warnings
from typing import Any

import networkx as nx
import numpy as np
import pytest
from drawing import Call
from equality import FREE, Outcome

from tgraph.networkx import convert_from_nx, functions, history
from tgraph.networkx.registry import FUNCTIONS

ALGORITHMS = nx.utils.backends._registered_algorithms
functions.load()
DRAWS = 200  # of each function, in the long run


WITHOUT = {"leiden_communities"}  # networkx has no code for it
NAMES = [name for name in sorted(FUNCTIONS) if name not in WITHOUT and not name.endswith("__new__")]


def is_unique(name: str, arguments: dict[str, Any]) -> bool:
    """Whether the result is determined: hubs are, by a largest singular value that no other one equals."""
    if name != "hits" or len(arguments["G"]) < 2:
        return True
    weights = nx.to_numpy_array(arguments["G"], dtype=float)
    first, second, *_ = np.linalg.svd(weights, compute_uv=False)
    return first > 1.001 * second


def in_tensors(value: Any) -> Any:
    """A graph, or the graphs in a list, as graphs of `tgraph.networkx`."""
    if isinstance(value, list):
        return list(map(in_tensors, value))
    every = ("preserve_edge_attrs", "preserve_node_attrs", "preserve_graph_attrs")
    return convert_from_nx(value, **dict.fromkeys(every, True))


def differences(name: str, draws: range) -> tuple[int, list[str]]:
    """(calls that ran here, how those of these draws differ)"""
    ran, found = 0, []
    for draw in draws:
        seed = f"{name} {draw}"
        call, other = (Call(ALGORITHMS[name], seed) for _ in range(2))
        before = history.calls().get(name, 0)
        if draw % 3 == 2:
            call.arguments.update({key: in_tensors(call.arguments[key]) for key in call.graphs})
        here = Outcome(call.function, call.arguments, backend="tgraph")
        if isinstance(here.fault, NotImplementedError) and here.began is None:
            continue  # left to networkx
        there = Outcome(other.function, other.arguments, backend="networkx")
        reached = history.calls().get(name, 0) > before
        ran += reached
        try:
            assert reached or there.fault is not None, "it did not run here"
            constant = name.endswith("assortativity_coefficient") and here.result != here.result  # 0 / 0, or rounding
            if is_unique(name, other.arguments) and not constant:
                here.same(there, free=FREE.get(name))
        except AssertionError as fault:
            found.append(f"{seed}: {' '.join(str(fault).split())[:300]}")
    return ran, found


@pytest.fixture(autouse=True)
def unwarned():
    with warnings.catch_warnings(), np.errstate(all="ignore"), nx.config(cache_converted_graphs=False):
        warnings.simplefilter("ignore")
        yield


def test_as_networkx():
    found = [differences(name, range(1)) for name in NAMES]
    assert not [each for _, some in found for each in some]
    assert sum(ran for ran, _ in found) > len(NAMES) / 2


@pytest.mark.thorough
@pytest.mark.parametrize("name", NAMES)
def test_as_networkx_at_length(name):
    """Other calls each time; the message names them: Call(ALGORITHMS[name], "name number") is the same again."""
    start = random.randrange(10**9)
    ran, found = differences(name, range(start, start + DRAWS))
    assert not found
    assert ran


TRIANGLE = [(0, 1), (1, 2), (2, 0)]
LENGTHS = nx.DiGraph([(0, 1, {"weight": 1}), (1, 2, {"weight": 0.5})])


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (nx.edge_connectivity, {"G": nx.MultiGraph(TRIANGLE * 2)}),
        (nx.edge_connectivity, {"G": nx.MultiGraph([(0, 1)] * 4)}),
        (nx.edge_connectivity, {"G": nx.Graph([(0, 1), (0, 0), (1, 1)])}),
        (nx.average_clustering, {"G": nx.Graph([*TRIANGLE, (2, 3)]), "nodes": [0, 0, 3]}),
        (nx.overall_reciprocity, {"G": nx.path_graph(3)}),
        (nx.reciprocity, {"G": nx.path_graph(3), "nodes": [0, 1]}),
        (nx.numeric_assortativity_coefficient, {"G": nx.Graph(), "attribute": "x"}),
        (nx.adamic_adar_index, {"G": nx.path_graph(2), "ebunch": [(0, 0)]}),
        (nx.node_connected_component, {"G": nx.path_graph(2), "n": 7}),
        (nx.closeness_centrality, {"G": nx.path_graph(2), "u": 7}),
        (nx.bipartite.node_redundancy, {"G": nx.cycle_graph(4), "nodes": [7]}),
        (nx.simrank_similarity, {"G": nx.cycle_graph(4), "max_iterations": 2}),
        (nx.single_source_shortest_path_length, {"G": nx.path_graph(3), "source": np.int64(2)}),
        (nx.single_source_dijkstra, {"G": nx.path_graph(3), "source": True, "target": 2.0}),
        (nx.bidirectional_shortest_path, {"G": nx.path_graph(3), "source": 0.0, "target": True}),
        (nx.single_source_dijkstra_path_length, {"G": LENGTHS, "source": 0}),
        (nx.maximum_flow_value, {"flowG": nx.empty_graph(2), "_s": 0, "_t": 1}),
        (nx.adjacency_matrix, {"G": nx.Graph([(0, 1, {"weight": True})])}),
        (nx.adjacency_matrix, {"G": nx.Graph([(0, 0, {"weight": True})])}),
        (nx.to_numpy_array, {"G": nx.MultiGraph([(0, 1, {"weight": True})] * 2)}),
        (nx.adjacency_matrix, {"G": nx.MultiGraph([(0, 1, {"weight": 1.5})] * 2), "dtype": int}),
        (nx.cut_size, {"G": nx.Graph([(0, 1, {"weight": 0.0})]), "S": [0], "T": [1], "weight": "weight"}),
        (nx.cut_size, {"G": nx.path_graph(2), "S": [0], "T": [[1]]}),
        (nx.dijkstra_path_length, {"G": nx.path_graph(2), "source": 0, "target": [1]}),
        (nx.shortest_simple_paths, {"G": nx.path_graph(2), "source": 7, "target": 0}),
        (nx.multi_source_dijkstra_path, {"G": nx.path_graph(2), "sources": [1, 1.0]}),
        (nx.edge_boundary, {"G": nx.path_graph(2), "nbunch1": [True]}),
        (nx.community.modularity, {"G": nx.Graph([(0, 1)], name="drawn"), "communities": [{0}]}),
        (nx.bipartite.hopcroft_karp_matching, {"G": nx.path_graph(2), "top_nodes": [7]}),
        (nx.floyd_warshall, {"G": nx.Graph([(0, 0, {"weight": 0.0})])}),
        (nx.community.louvain_communities, {"G": nx.Graph([(0, 1, {"weight": 0.0})]), "seed": 1}),
    ],
)
def test_what_reports_found(function, arguments):
    here = Outcome(function, arguments, backend="tgraph")
    if not isinstance(here.fault, NotImplementedError):
        here.same(Outcome(function, arguments, backend="networkx"))


def test_hubs_of_a_double_singular_value_are_not_negative():
    for scores in nx.hits(nx.path_graph(3), backend="tgraph"):
        assert min(scores.values()) >= 0


def test_weights_of_narrow_types_are_left_to_networkx():
    """It adds them up as they are, rounded or wrapped."""
    G = nx.path_graph(3)
    nx.set_edge_attributes(G, np.float32(0.1), "weight")
    with pytest.raises(NotImplementedError):
        nx.dijkstra_path_length(G, 0, 2, backend="tgraph")


def test_what_cannot_run_says_so_before_an_iterator_is_returned():
    """Later, networkx could not run it instead."""
    G = nx.path_graph(3)
    nx.set_edge_attributes(G, "a text", "weight")
    with pytest.raises(NotImplementedError):
        nx.all_pairs_dijkstra(G, backend="tgraph")
