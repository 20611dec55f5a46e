"""Files of networkx are read as it reads them, and it reads what is written."""

import json

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import edge_lists

import tgraph as tg

TEXT = st.text(st.characters(codec="ascii", categories=("L", "N", "P", "S"), exclude_characters="#,:\"'\\"), min_size=1)


def node_link(path):
    return nx.node_link_graph(json.loads(open(path).read()))


def cytoscape(path):
    return nx.relabel_nodes(nx.cytoscape_graph(json.loads(open(path).read())), str)


def to_json(convert):
    def write(G, path):
        with open(path, "w") as file:
            json.dump(convert(G), file)

    return write


def simple(read):
    """Without what networkx adds: the ids of GEXF, the label beside them, places in Pajek."""

    def plain(path):
        G = read(path)
        for _, data in G.nodes(data=True):
            for name in ("label", "id"):
                data.pop(name, None)
        return G

    return plain


KINDS = {  # extension: (networkx' writer, its reader, whether there is data, and parallel edges)
    ".graphml": (nx.write_graphml_xml, nx.read_graphml, True, False),
    ".gexf": (nx.write_gexf, simple(nx.read_gexf), True, False),
    ".gml": (nx.write_gml, nx.read_gml, True, True),
    ".json": (to_json(nx.node_link_data), node_link, True, True),
    ".adjacency.json": (to_json(nx.adjacency_data), None, True, False),
    ".cytoscape.json": (to_json(nx.cytoscape_data), None, False, False),
    ".net": (nx.write_pajek, simple(nx.read_pajek), False, True),
    ".adjlist": (nx.write_adjlist, lambda path: nx.read_adjlist(path, create_using=nx.DiGraph), False, False),
    ".edgelist": (nx.write_edgelist, None, True, False),
    ".g6": (nx.write_graph6, nx.read_graph6, False, False),
    ".s6": (nx.write_sparse6, nx.read_sparse6, False, True),
}
DIRECTED = {".adjlist": True, ".g6": False, ".s6": False, ".net": None}  # where the format decides


def edges(G, data):
    return sorted((str(u), str(v), sorted(held.items()) if data else []) for u, v, held in undirected(G))


def undirected(G):
    for u, v, held in G.edges(data=True):
        held = {name: value for name, value in held.items() if name not in ("id", "key")}
        yield (u, v, held) if G.is_directed() else (*sorted((str(u), str(v))), held)


def nodes(G, data):
    return sorted((str(v), sorted(held.items()) if data else []) for v, held in G.nodes(data=True))


def same(G, H, data=True):
    assert G.is_directed() == H.is_directed()
    assert nodes(G, data) == nodes(H, data) and edges(G, data) == edges(H, data)


@pytest.mark.parametrize("extension", KINDS)
@given(st.data())
@settings(max_examples=8)
def test_both_read_the_same(tmp_path_factory, extension, data):
    path = tmp_path_factory.getbasetemp() / f"a{extension}"
    write, read, has_data, parallel = KINDS[extension]
    n, pairs = data.draw(edge_lists())
    directed = DIRECTED.get(extension, data.draw(st.booleans()))
    directed = data.draw(st.booleans()) if directed is None else directed
    names = [f"v{text}" for text in data.draw(st.lists(TEXT, min_size=n, max_size=n, unique=True))]
    if extension in (".g6", ".s6"):
        names = list(range(n))
    if extension == ".s6" and n == 1:
        pairs = []  # a vertex takes 0 bits in nauty, and 1 in networkx
    if extension == ".g6":
        pairs = [(u, v) for u, v in pairs if u != v]
    if not pairs and extension == ".net":
        directed = False
    kinds = {
        (False, False): nx.Graph,
        (True, False): nx.DiGraph,
        (False, True): nx.MultiGraph,
        (True, True): nx.MultiDiGraph,
    }
    G = kinds[directed, parallel]()
    G.add_nodes_from((name, {"size": i, "what": "a<b"} if has_data else {}) for i, name in enumerate(names))
    for i, (u, v) in enumerate(pairs):
        G.add_edge(names[u], names[v], **({"weight": i + 0.5, "kind": f"k{i} &"} if has_data else {}))
    write(G, path)
    options = {"directed": directed} if extension in (".adjlist", ".edgelist") and pairs else {}
    if extension == ".edgelist" and not pairs:
        return
    found = tg.read(path, **options)
    if extension == ".edgelist":
        G.remove_nodes_from(list(nx.isolates(G)))
        for _, held in G.nodes(data=True):
            held.clear()
    same(G, found.to_networkx(), has_data)
    if read is None:
        return
    tg.write(tg.from_networkx(G, columns=has_data), path)
    same(read(path), G, has_data)
