"""networkx keeps what it converted with the graph; whatever networkx sees change the graph empties that cache."""

import warnings

import networkx as nx
import pytest

import tgraph.networkx as tnx

KINDS = [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]
CHANGES = {
    "add_node": lambda G: G.add_node("new"),
    "add_nodes_from": lambda G: G.add_nodes_from(["new", "newer"]),
    "remove_node": lambda G: G.remove_node(3),
    "remove_nodes_from": lambda G: G.remove_nodes_from([3, 4]),
    "add_edge": lambda G: G.add_edge(0, 4, weight=9),
    "add_edge of nodes": lambda G: G.add_edge("new", 0),
    "a weight by add_edge": lambda G: G.add_edge(1, 4, weight=50),
    "add_edges_from": lambda G: G.add_edges_from([(0, 4), (2, 4)], weight=8),
    "add_weighted_edges_from": lambda G: G.add_weighted_edges_from([(0, 4, 7.5)]),
    "remove_edge": lambda G: G.remove_edge(0, 1),
    "remove_edges_from": lambda G: G.remove_edges_from([(0, 1), (1, 2)]),
    "update": lambda G: G.update(edges=[(0, 4, {"weight": 6})], nodes=["new"]),
    "clear": lambda G: (G.clear(), G.add_edge(1, 2)),
    "clear_edges": lambda G: G.clear_edges(),
    "add_path": lambda G: nx.add_path(G, [4, 2, 0], weight=5),
    "add_cycle": lambda G: nx.add_cycle(G, [4, 2, 0], weight=4),
    "add_star": lambda G: nx.add_star(G, [4, 2, 0], weight=3),
    "set_edge_attributes": lambda G: nx.set_edge_attributes(G, 30, "weight"),
}


def ranks(G, backend):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # networkx says that it takes the cached graph
        return nx.pagerank(G, backend=backend)


def converted(G):
    """The graphs in tensors that networkx keeps with this one."""
    return list(G.__networkx_cache__.get("backends", {}).get("tgraph", {}).values())


def weighted(kind):
    G = nx.cycle_graph(6, create_using=kind)
    G.add_edge(1, 4)
    for i, (_, _, attributes) in enumerate(G.edges(data=True)):
        attributes["weight"] = i + 1
    G.__networkx_cache__.clear()
    return G


@pytest.mark.covering(1)
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", KINDS)
def test_changes_are_seen(kind, change):
    G = weighted(kind)
    before = ranks(G, "tgraph")
    (kept,) = converted(G)
    assert isinstance(kept, tnx.Graph) and ranks(G, "tgraph") == before and converted(G) == [kept]
    CHANGES[change](G)
    after = ranks(G, "tgraph")
    assert kept not in converted(G) and after == pytest.approx(ranks(G, "networkx"), abs=1e-5)
    assert after != pytest.approx(before, abs=1e-5)


@pytest.mark.parametrize(
    "change",
    [
        lambda G: G[0][1].update(weight=50),
        lambda G: G.edges[0, 1].update(weight=50),
        lambda G: nx.remove_edge_attributes(G, "weight"),
    ],
)
def test_what_networkx_does_not_see(change):
    """A dict of attributes tells nobody of its changes; the cache is emptied by hand."""
    G = weighted(nx.Graph)
    before = ranks(G, "tgraph")
    change(G)
    assert ranks(G, "tgraph") == before
    G.__networkx_cache__.clear()
    assert ranks(G, "tgraph") == pytest.approx(ranks(G, "networkx"), abs=1e-5) != before


def test_other_attributes_are_converted_anew():
    """A graph that is kept with some attributes serves calls that need no others."""
    G = weighted(nx.Graph)
    nx.set_edge_attributes(G, 2.0, "distance")
    ranks(G, "tgraph")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert nx.number_connected_components(G, backend="tgraph") == 1 and len(converted(G)) == 1
        nx.pagerank(G, weight="distance", backend="tgraph")
    assert len(converted(G)) == 2


def test_graphs_of_tensors_are_not_converted():
    G = tnx.Graph(weighted(nx.Graph))
    ranks(G, "tgraph")
    assert not converted(G)
