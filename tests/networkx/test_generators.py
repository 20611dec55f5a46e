"""Graphs that are made here, from numbers or from matrices, frames and lists, are those of networkx."""

import networkx as nx
import pytest
from equality import same

from tgraph.networkx.graph import CLASSES, DiGraph
from tgraph.networkx.interface import backend
from tgraph.networkx.registry import FUNCTIONS

ALGORITHMS = nx.utils.backends._registered_algorithms

ARGUMENTS = {
    "balanced_tree": [(2, 3)],
    "barbell_graph": [(4, 2)],
    "binomial_tree": [(4,)],
    "caveman_graph": [(3, 4)],
    "circulant_graph": [(8, [1, 3])],
    "circular_ladder_graph": [(5,)],
    "complete_bipartite_graph": [(3, 2), (2, 0, nx.MultiGraph)],
    "complete_graph": [(5,), (4, nx.DiGraph), (0,)],
    "complete_multipartite_graph": [(2, 3, 1)],
    "connected_caveman_graph": [(3, 4)],
    "cycle_graph": [(5,), (1,)],
    "dorogovtsev_goltsev_mendes_graph": [(3,)],
    "empty_graph": [(3,), ()],
    "full_rary_tree": [(2, 9)],
    "grid_2d_graph": [(3, 4)],
    "hypercube_graph": [(3,)],
    "kneser_graph": [(5, 2)],
    "ladder_graph": [(4,)],
    "lollipop_graph": [(4, 3)],
    "path_graph": [(6,), (0,), (4, nx.MultiGraph)],
    "ring_of_cliques": [(4, 3)],
    "star_graph": [(4,), (3, nx.MultiDiGraph)],
    "tadpole_graph": [(4, 3)],
    "turan_graph": [(7, 3)],
    "wheel_graph": [(6,)],
    "windmill_graph": [(3, 4)],
}
NAMES = [name for name, entry in FUNCTIONS.items() if entry.module.endswith(".generators") and "__new__" not in name]
KINDS = [None, *(cls._plain for cls in CLASSES.values())]


@pytest.mark.parametrize("name", NAMES)
def test_generators(name):
    for arguments in ARGUMENTS.get(name, [()]):
        assert backend.can_run(name, arguments, {}) is True
        same(getattr(backend, name)(*arguments), ALGORITHMS[name].orig_func(*arguments), name)


@pytest.mark.parametrize("create_using", KINDS)
def test_conversions(create_using):
    G = nx.karate_club_graph()
    matrix, frame, lists = nx.to_scipy_sparse_array(G), nx.to_pandas_edgelist(G), nx.to_dict_of_lists(G)
    calls = [("from_scipy_sparse_array", (matrix.asformat(form),), {}) for form in ("csr", "csc", "coo")]
    calls += [("from_pandas_edgelist", (frame,), {"edge_attr": name}) for name in (None, "weight")]
    calls += [("from_dict_of_lists", (lists,), {}), ("from_biadjacency_matrix", (matrix[:5, 5:12],), {})]
    for name, arguments, options in calls:
        options = {**options, "create_using": create_using}
        if backend.can_run(name, arguments, options) is True:
            found = getattr(backend, name)(*arguments, **options)
            same(found, ALGORITHMS[name].orig_func(*arguments, **options), name)


def test_what_is_left_to_networkx():
    assert "create_using" in backend.can_run("path_graph", (3, nx.Graph()), {})
    assert backend.can_run("path_graph", ("abc",), {}) == "n but count"
    assert backend.can_run("path_graph", (3, DiGraph), {}) is True


@pytest.mark.skipif("graph__new__" not in FUNCTIONS, reason="since networkx 3.6")
def test_classes():
    G = nx.DiGraph([(1, 2), (2, 3)], backend="tgraph", name="chain")
    assert type(G) is DiGraph and list(G.edges) == [(1, 2), (2, 3)] and G.graph == {"name": "chain"}
