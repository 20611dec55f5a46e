"""Every view beside that of networkx, on random graphs of the four classes."""

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

import tgraph.networkx as tnx

KINDS = [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]
LABELS = st.one_of(
    st.integers(-3, 6),
    st.text(max_size=2),
    st.tuples(st.integers(0, 2), st.booleans()),
    st.just(frozenset()),
    st.just(0.5),
)
VALUES = st.one_of(
    st.integers(-3, 3),
    st.floats(allow_nan=False),
    st.booleans(),
    st.just(2**70),
    st.none(),
    st.text(max_size=2),
    st.just([1]),
)


@st.composite
def attributes(draw):
    kinds = {"weight": st.integers(-9, 9), "cost": st.floats(allow_nan=False), "tolled": st.booleans(), "any": VALUES}
    return {name: draw(kind) for name, kind in kinds.items() if draw(st.booleans())}


@st.composite
def graphs(draw, kinds=KINDS):
    """Isolated nodes, self-loops, parallel edges with keys of their own, attributes that some lack."""
    G = draw(st.sampled_from(kinds))(**draw(st.dictionaries(st.sampled_from(["name", "year"]), VALUES, max_size=2)))
    if draw(st.booleans()):
        nodes = list(range(draw(st.integers(0, 6))))
    else:
        nodes = draw(st.lists(LABELS, max_size=6, unique=True))
    if draw(st.booleans()):
        G.add_nodes_from((node, draw(attributes())) for node in nodes)
    if not nodes:
        return G
    node = st.sampled_from(nodes)
    same = draw(st.one_of(st.none(), attributes()))
    for u, v in draw(st.lists(st.tuples(node, node), max_size=12)):
        key = {"key": draw(st.one_of(st.none(), st.sampled_from(["a", 0, 1, 2])))} if G.is_multigraph() else {}
        G.add_edge(u, v, **key, **(draw(attributes()) if same is None else same))
    return G


def dicts(G):
    """All that networkx keeps of a graph, with the order and the types of everything."""

    def plain(entry):
        if isinstance(entry, dict) or hasattr(entry, "items"):
            return [(key, plain(value)) for key, value in entry.items()]
        return type(entry), entry

    def edges(adjacency):
        for node, row in adjacency.items():
            for neighbour, values in row.items():
                parallel = values.items() if G.is_multigraph() else [(None, values)]
                yield from ((node, neighbour, key, sorted(map(repr, plain(each)))) for key, each in parallel)

    nodes = [(node, sorted(map(repr, plain(each)))) for node, each in G._node.items()]
    rows = [list(edges(G._adj)), list(edges(G._pred)) if G.is_directed() else None]
    return type(G).__name__, G.graph, nodes, rows


@given(G=graphs())
def test_round_trip(G):
    H = tnx.convert_from_nx(G, preserve_edge_attrs=True, preserve_node_attrs=True, preserve_graph_attrs=True)
    assert dicts(H) == dicts(G)
    back = tnx.convert_to_nx(H)
    assert type(back) is type(G) and dicts(back) == dicts(G)
    assert back._adj == G._adj and back._node == G._node
    for u, v in G.edges() if not G.is_directed() else ():
        assert back._adj[u][v] is back._adj[v][u]
