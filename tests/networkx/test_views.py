"""Each method and attribute that reads a graph, beside networkx's own."""

import pickle
from itertools import pairwise

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_graph import KINDS, converted, dicts, graphs

import tgraph.networkx as tnx
from tgraph.errors import ArgumentError
from tgraph.networkx.views import BLOCK

CHANGES = {"add_edge", "add_edges_from", "add_node", "add_nodes_from", "add_weighted_edges_from", "clear"}
CHANGES |= {"clear_edges", "remove_edge", "remove_edges_from", "remove_node", "remove_nodes_from", "update"}


def text(view, write=str):
    """What is written, but for the order of the attributes of a node or an edge."""
    return sorted(write(view))


def edges_by(name):
    """Ways to read a view of edges."""
    return {
        f"{name}": lambda g, u, v, bunch: list(getattr(g, name)),
        f"{name} of some": lambda g, u, v, bunch: list(getattr(g, name)(bunch, data=True)),
        f"{name} of a node": lambda g, u, v, bunch: list(getattr(g, name)(u)),
        f"{name} data": lambda g, u, v, bunch: list(getattr(g, name).data()),
        f"{name} value": lambda g, u, v, bunch: list(getattr(g, name)(data="weight", default=7)),
        f"{name} values": lambda g, u, v, bunch: list(getattr(g, name).data("any")),
        f"{name} no value": lambda g, u, v, bunch: list(getattr(g, name).data("none", default=2)),
        f"{name} lengths": lambda g, u, v, bunch: [len(getattr(g, name)), len(getattr(g, name)(data="weight"))],
        f"{name} has": lambda g, u, v, bunch: [(u, v) in getattr(g, name), (u, v) in getattr(g, name)(data=False)],
        f"{name} one": lambda g, u, v, bunch: getattr(g, name)[(u, v, 0) if g.is_multigraph() else (u, v)],
        f"{name} pickled": lambda g, u, v, bunch: text(pickle.loads(pickle.dumps(getattr(g, name)(data=True)))),
        f"{name} text": lambda g, u, v, bunch: [text(getattr(g, name)), text(getattr(g, name)(data=True))],
        f"{name} sets": lambda g, u, v, bunch: [set(getattr(g, name)), getattr(g, name) - [(u, v)]],
    }


def degrees_by(name):
    """Ways to read a view of degrees."""
    return {
        f"{name}": lambda g, u, v, bunch: list(getattr(g, name)),
        f"{name} of some": lambda g, u, v, bunch: list(getattr(g, name)(bunch)),
        f"{name} of a node": lambda g, u, v, bunch: [getattr(g, name)[u], str(getattr(g, name)(u))],
        f"{name} weights": lambda g, u, v, bunch: list(getattr(g, name)(weight="weight")),
        f"{name} weight": lambda g, u, v, bunch: str(getattr(g, name)(u, weight="weight")),
        f"{name} text": lambda g, u, v, bunch: [text(getattr(g, name)), text(getattr(g, name), repr)],
        f"{name} pickled": lambda g, u, v, bunch: text(pickle.loads(pickle.dumps(getattr(g, name)(bunch)))),
    }


def rows_by(name):
    """Ways to read a view of neighbours."""
    return {
        f"{name}": lambda g, u, v, bunch: [(n, dict(row)) for n, row in getattr(g, name).items()],
        f"{name} row": lambda g, u, v, bunch: [
            list(getattr(g, name)[u]),
            getattr(g, name)[u],
            len(getattr(g, name)[u]),
        ],
        f"{name} edge": lambda g, u, v, bunch: [getattr(g, name)[u][v], getattr(g, name)[u].get("none")],
        f"{name} text": lambda g, u, v, bunch: [text(getattr(g, name)), text(getattr(g, name), repr)],
        f"{name} has": lambda g, u, v, bunch: [u in getattr(g, name), v in getattr(g, name)[u]],
        f"{name} copy": lambda g, u, v, bunch: getattr(g, name).copy(),
        f"{name} pickled": lambda g, u, v, bunch: text(pickle.loads(pickle.dumps(getattr(g, name)))),
    }


READS = {
    "adj": rows_by("adj"),
    "succ": rows_by("succ"),
    "pred": rows_by("pred"),
    "edges": edges_by("edges"),
    "out_edges": edges_by("out_edges"),
    "in_edges": edges_by("in_edges"),
    "degree": degrees_by("degree"),
    "in_degree": degrees_by("in_degree"),
    "out_degree": degrees_by("out_degree"),
    "adjacency": lambda g, u, v, bunch: [(n, list(row.items())) for n, row in g.adjacency()],
    "copy": lambda g, u, v, bunch: [nx.utils.graphs_equal(g.copy(), g), dicts(g.copy(as_view=True))],
    "edge_subgraph": lambda g, u, v, bunch: dicts(g.edge_subgraph(list(g.edges)[::2])),
    "get_edge_data": lambda g, u, v, bunch: [g.get_edge_data(u, v), g.get_edge_data(u, [], 3)],
    "graph": lambda g, u, v, bunch: g.graph,
    "has_edge": lambda g, u, v, bunch: g.has_edge(u, v),
    "has_node": lambda g, u, v, bunch: [g.has_node(u), g.has_node([])],
    "has_predecessor": lambda g, u, v, bunch: g.has_predecessor(u, v),
    "has_successor": lambda g, u, v, bunch: g.has_successor(u, v),
    "is_directed": lambda g, u, v, bunch: g.is_directed(),
    "is_multigraph": lambda g, u, v, bunch: g.is_multigraph(),
    "name": lambda g, u, v, bunch: g.name,
    "nbunch_iter": lambda g, u, v, bunch: [list(g.nbunch_iter(each)) for each in (bunch, u, None)],
    "neighbors": lambda g, u, v, bunch: list(g.neighbors(u)),
    "new_edge_key": lambda g, u, v, bunch: g.new_edge_key(u, v),
    "nodes": lambda g, u, v, bunch: [
        list(g.nodes),
        list(g.nodes.data("any", default=3)),
        text(g.nodes, repr),
        g.nodes[u],
    ],
    "number_of_edges": lambda g, u, v, bunch: [g.number_of_edges(), g.number_of_edges(u, v)],
    "number_of_nodes": lambda g, u, v, bunch: g.number_of_nodes(),
    "order": lambda g, u, v, bunch: g.order(),
    "predecessors": lambda g, u, v, bunch: list(g.predecessors(u)),
    "reverse": lambda g, u, v, bunch: [dicts(g.reverse()), list(g.reverse(copy=False).edges)],
    "size": lambda g, u, v, bunch: [g.size(), g.size("weight")],
    "subgraph": lambda g, u, v, bunch: [dicts(g.subgraph(bunch)), dicts(g.subgraph(u))],
    "successors": lambda g, u, v, bunch: list(g.successors(u)),
    "to_directed": lambda g, u, v, bunch: [dicts(g.to_directed()), list(g.to_directed(as_view=True).edges)],
    "to_undirected": lambda g, u, v, bunch: [dicts(g.to_undirected()), list(g.to_undirected(as_view=True).nodes)],
    "of networkx": {
        "subgraph_view": lambda g, u, v, bunch: seen(nx.subgraph_view(g, filter_node=lambda n: n != u)),
        "edges of a view": lambda g, u, v, bunch: seen(nx.subgraph_view(g, filter_edge=lambda *e: {*e[:2]} != {u, v})),
        "reverse_view": lambda g, u, v, bunch: seen(nx.reverse_view(g)),
        "restricted_view": lambda g, u, v, bunch: seen(nx.restricted_view(g, [u], [])),
        "induced_subgraph": lambda g, u, v, bunch: seen(nx.induced_subgraph(g, bunch)),
        "edge_subgraph": lambda g, u, v, bunch: seen(nx.edge_subgraph(g, list(g.edges)[::2])),
        "generic_graph_view": lambda g, u, v, bunch: seen(nx.graphviews.generic_graph_view(g)),
        "degree_histogram": lambda g, u, v, bunch: nx.degree_histogram(g),
        "non_edges": lambda g, u, v, bunch: len(list(nx.non_edges(g))),
        "non_neighbors": lambda g, u, v, bunch: set(nx.non_neighbors(g, u)),
        "attributes": lambda g, u, v, bunch: [nx.get_node_attributes(g, "any"), nx.get_edge_attributes(g, "weight")],
        "is_weighted": lambda g, u, v, bunch: nx.is_weighted(g),
        "selfloops": lambda g, u, v, bunch: [list(nx.nodes_with_selfloops(g)), nx.number_of_selfloops(g)],
        "path_weight": lambda g, u, v, bunch: nx.path_weight(g, [u, v], "weight"),
        "relabelled": lambda g, u, v, bunch: dicts(nx.Graph(g).to_undirected()),
        "python": lambda g, u, v, bunch: [len(g), list(g), u in g, [] in g, str(g), list(g[u]), g[u]],
    },
}


def seen(view):
    """What a view of networkx shows, and what a function makes of it."""
    return dicts(view), sorted(map(text, view.edges(data=True))), len(view), view.number_of_edges(), dict(view.degree)


def outcome(call, graph, *arguments):
    try:
        return call(graph, *arguments)
    except Exception as fault:
        return type(fault).__name__, str(fault)


@given(G=graphs(), data=st.data())
def test_all_that_reads_a_graph(G, data):
    H = converted(G)
    some = st.sampled_from([*G, "absent", -1])
    arguments = data.draw(some), data.draw(some), data.draw(st.lists(some, max_size=3))
    for name, calls in READS.items():
        for what, call in ({name: calls} if callable(calls) else calls).items():
            found, expected = outcome(call, H, *arguments), outcome(call, G, *arguments)
            assert found == expected, what


@given(G=graphs())
@settings(max_examples=min(30, settings().max_examples))
def test_views_equal_networkxs(G):
    H = converted(G)
    for view in ("nodes", "adj", "succ", "pred"):
        if hasattr(G, view):
            assert getattr(H, view) == getattr(G, view) and getattr(G, view) == getattr(H, view)
    for view in ("edges", "in_edges", "out_edges"):
        if hasattr(G, view):
            ours, theirs = getattr(H, view), getattr(G, view)
            assert set(ours) == set(theirs) and ours == theirs and ours | [] == theirs | [] and ours & theirs == theirs
            assert type(ours).__name__ == type(theirs).__name__ and isinstance(ours, type(theirs))
    assert pickle.loads(pickle.dumps(H)).edges == G.edges and dict(H.degree) == dict(G.degree)
    assert nx.utils.graphs_equal(nx.subgraph_view(H).copy(), G)


@pytest.mark.parametrize("kind", KINDS)
def test_no_method_is_forgotten(kind):
    public = {name for name in dir(kind) if not name.startswith("_")}
    others = public - CHANGES - set(READS)
    assert all(name.endswith(("_factory", "directed_class")) for name in others), others
    ours = getattr(tnx, kind.__name__)
    assert public <= set(dir(ours))
    for name in CHANGES:
        with pytest.raises(nx.NetworkXError, match="cannot be changed"):
            getattr(ours([(0, 1)]), name)(0)
    assert nx.is_frozen(ours()) and not nx.is_frozen(ours().to_networkx())


@pytest.mark.parametrize("kind", KINDS)
def test_views_of_many_blocks(kind):
    """Rows are read in blocks of arcs; a node with more arcs than that is a block of its own."""
    G = kind()
    G.add_edges_from((0, i) for i in range(1, 1000))
    G.add_edges_from((i, i * i % 997, {"weight": i}) for i in range(1000))
    H = converted(G)
    rows = H._adj
    assert list(rows.blocks()) == [(0, 1000)] and BLOCK > 1000
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tgraph.networkx.views.BLOCK", 50)
        blocks = list(rows.blocks())
        assert blocks[0][0] == 0 and blocks[-1][1] == 1000 and len(blocks) > 10
        assert all(end == begin for (_, end), (begin, _) in pairwise(blocks))
        for call in (*READS["edges"].values(), *READS["adj"].values(), READS["adjacency"], *READS["degree"].values()):
            assert outcome(call, H, 0, 5, [0, 3]) == outcome(call, G, 0, 5, [0, 3])


def test_functions_take_views_of_views():
    G = nx.gnm_random_graph(60, 200, seed=4)
    view = nx.subgraph_view(tnx.Graph(G), filter_node=lambda node: node % 3)
    expected = G.subgraph([node for node in G if node % 3])
    assert nx.pagerank(view, backend="tgraph") == pytest.approx(nx.pagerank(expected, backend="networkx"))
    assert nx.number_connected_components(view) == nx.number_connected_components(expected)


@pytest.mark.parametrize("shown", [{(1, 2)}, {(0, 1), (1, 2), (2, 0)}])
def test_a_view_that_shows_an_edge_from_one_end_only(shown):
    view = nx.subgraph_view(converted(nx.cycle_graph(3)), filter_edge=lambda *edge: edge in shown)
    with pytest.raises(ArgumentError, match=r"edge of node [01] is in the dict of only one .* same for \(u, v\)"):
        view.number_of_edges()
