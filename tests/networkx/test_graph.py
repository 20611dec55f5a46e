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


def same(found, expected):
    """Equal results, and the same exception with the same message."""
    results = []
    for call in (found, expected):
        try:
            results.append(call())
        except Exception as fault:
            results.append((type(fault).__name__, str(fault)))
    assert results[0] == results[1]


def converted(G):
    return tnx.convert_from_nx(G, preserve_edge_attrs=True, preserve_node_attrs=True, preserve_graph_attrs=True)


@given(G=graphs(), data=st.data())
def test_views(G, data):
    H = converted(G)
    some = st.sampled_from([*G, "absent", -1])
    u, v, bunch = data.draw(some), data.draw(some), data.draw(st.lists(some, max_size=3))
    name = data.draw(st.sampled_from(["weight", "cost", "any"]))
    calls = [
        *(lambda g: list(g), len, str, lambda g: g.name, lambda g: u in g, lambda g: [] in g, lambda g: g[u]),
        *(lambda g: list(g.nodes), lambda g: list(g.nodes(data=True)), lambda g: list(g.nodes(data=name, default=7))),
        *(lambda g: g.nodes[u], lambda g: g.nodes[[]], lambda g: list(g.adjacency()), lambda g: dict(g.adj)),
        *(lambda g: list(g.neighbors(u)), lambda g: g.has_edge(u, v), lambda g: g.has_node(u)),
        *(lambda g: g.number_of_nodes(), lambda g: g.order(), lambda g: g.number_of_edges(), lambda g: g.size()),
        *(lambda g: g.number_of_edges(u, v), lambda g: g.get_edge_data(u, v, "none"), lambda g: g.adj[u][v]),
        *(lambda g: list(g.edges), lambda g: list(g.edges(data=True)), lambda g: list(g.edges(data=name, default=7))),
        *(lambda g: list(g.edges(bunch)), lambda g: len(g.edges), lambda g: (u, v) in g.edges, lambda g: g.edges[u, v]),
        *(lambda g: list(g.degree), lambda g: g.degree[u], lambda g: str(g.degree(u)), lambda g: list(g.degree(bunch))),
        *(lambda g: list(g.nbunch_iter(bunch)), lambda g: list(g.nbunch_iter(u)), lambda g: str(g.degree())),
        *(lambda g: dicts(g.to_directed()), lambda g: dicts(g.to_undirected())),
        *(lambda g: dicts(g.subgraph(bunch)), lambda g: dicts(g.edge_subgraph(list(g.edges)[::2]))),
        *(lambda g: nx.utils.graphs_equal(g, G), lambda g: g.is_directed(), lambda g: g.is_multigraph()),
        *(lambda g: list(nx.selfloop_edges(g, data=True)), lambda g: nx.density(g)),
    ]
    if not any("any" in each for _, _, each in G.edges(data=True)):
        calls += [lambda g: list(g.degree(weight="weight")), lambda g: g.size("weight")]
    if G.is_multigraph():
        calls += [lambda g: list(g.edges(keys=True, data=True)), lambda g: g.edges[u, v, 0], lambda g: g[u][v][0]]
        calls += [lambda g: g.has_edge(u, v, 0), lambda g: g.get_edge_data(u, v, 0), lambda g: g.new_edge_key(u, v)]
    if G.is_directed():
        calls += [
            lambda g: list(g.successors(u)),
            lambda g: list(g.predecessors(u)),
            lambda g: g.pred[u],
            lambda g: g.succ,
        ]
        calls += [
            lambda g: list(g.in_edges(data=True)),
            lambda g: list(g.in_edges(bunch)),
            lambda g: g.has_successor(u, v),
        ]
        calls += [lambda g: list(g.in_degree), lambda g: list(g.out_degree(bunch)), lambda g: g.has_predecessor(u, v)]
        calls += [lambda g: dicts(g.reverse()), lambda g: list(g.in_degree(bunch, weight="weight"))]
        calls += [lambda g: dicts(g.to_undirected(reciprocal=True))]
    assert dicts(H.copy()) == dicts(G)
    for call in calls:
        same(lambda call=call: call(H), lambda call=call: call(G))
