"""Random calls of the functions that run here: graphs of every kind, and arguments by the names of parameters.

A call is drawn from a seed, so that the same call is made twice, from objects of its own each time.
"""

import inspect
import math
import sys
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Any

import networkx as nx
import numpy as np
import pandas
import scipy.sparse

KINDS = (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph)
ABSENT = ("absent", -17, 2.75, ("no", 1), None, [1])  # None may not be a node, a list cannot be looked up

LABELS: dict[str, Callable[[int], Any]] = {
    "numbers": lambda i: i,
    "shuffled": lambda i: (i * 7 + 3) % 101,
    "negative": lambda i: i - 3,
    "strings": lambda i: "node" + "abcdefghijklmnop"[i],
    "tuples": lambda i: (i // 3, i % 3),
    "floats": lambda i: i / 2,
    "mixed": lambda i: (True, "a", (1, 2), -4, 2.5, frozenset({3}), 7, "1", (True, "b"), 0, b"x", 3.0, "c")[i % 13],
}
WEIGHTS: dict[str, Callable[[Random], Any]] = {
    "int": lambda chance: chance.randrange(1, 6),
    "float": lambda chance: chance.choice((0.5, 1.25, 2.0, 3.5)),
    "random": lambda chance: chance.uniform(0.1, 3),
    "int and float": lambda chance: chance.choice((1, 2, 3, 0.5, 2.0)),
    "bool": lambda chance: True,
    "bool and int": lambda chance: chance.choice((True, 1, 2)),
    "int64": lambda chance: np.int64(chance.randrange(1, 6)),
    "int32": lambda chance: np.int32(chance.randrange(1, 6)),
    "uint8": lambda chance: np.uint8(chance.randrange(1, 6)),
    "float64": lambda chance: np.float64(chance.choice((0.5, 1.25, 2.0))),
    "float32": lambda chance: np.float32(chance.choice((0.5, 1.25, 0.1))),
    "float16": lambda chance: np.float16(chance.choice((0.5, 1.25))),
    "bool_": lambda chance: np.True_,
    "fraction": lambda chance: Fraction(chance.randrange(1, 6), 3),
    "decimal": lambda chance: Decimal(chance.randrange(1, 6)),
    "text": lambda chance: chance.choice(("1", "2")),
    "none": lambda chance: chance.choice((None, 1)),
}
USUAL = ("int", "float", "random", "int and float")


def _edges(chance: Random, n: int) -> list[tuple[int, int]]:
    """Pairs of numbers below n, in no order: of a random graph, or of one with a structure that functions ask for."""
    shape = chance.choice(("random",) * 5 + ("tree", "dag", "bipartite", "tournament", "cycle", "complete", "cliques"))
    order = chance.sample(range(n), n)
    if n == 0:
        return []
    if shape == "random":
        density = chance.choice((0.5, 1, 1.5, 2.5))
        loops = chance.random() < 0.5
        pairs = [(chance.randrange(n), chance.randrange(n)) for _ in range(int(density * n))]
        return pairs if loops else [(u, v) for u, v in pairs if u != v]
    places = [(i, j) for j in range(n) for i in range(j)]
    if shape == "tree":
        places = [(chance.randrange(j), j) for j in range(1, n)]
    elif shape == "dag":
        places = [pair for pair in places if chance.random() < 0.4]
    elif shape == "bipartite":
        places = [(i, j) for i, j in places if i < n // 2 <= j and chance.random() < 0.7]
    elif shape == "tournament":
        places = [pair if chance.random() < 0.5 else pair[::-1] for pair in places]
    elif shape == "cycle":
        places = [(i, (i + 1) % n) for i in range(n)]
    elif shape == "cliques":
        places = [(i, j) for i, j in places if i // 3 == j // 3 or (i % 3 == 0 and j == i + 3)]
    chance.shuffle(places)
    return [(order[i], order[j]) for i, j in places]


def draw_graph(chance: Random, kind: type[nx.Graph] | None = None, n: int | None = None, labels: str = "") -> nx.Graph:
    """A graph of `kind` with up to a dozen nodes: isolated ones, loops, parallel edges, attributes of every type."""
    G = (kind or chance.choice(KINDS))()
    n = chance.choice((0, 1, 2, 3, 4, 5, 5, 6, 6, 7, 8, 9, 12)) if n is None else n
    label = LABELS[labels or chance.choice((*LABELS, "numbers", "numbers"))]
    nodes = [label(i) for i in range(n)]
    for i in chance.sample(range(n), n) if chance.random() < 0.5 else range(n):
        G.add_node(nodes[i])
    for node in G:
        if chance.random() < 0.9:
            G.add_node(node, color=chance.choice(("red", "blue", 1, True)), size=chance.choice((1, 2, 3.5)))
    every = chance.random() < 0.7
    for node in G:
        if every or chance.random() < 0.8:
            G.add_node(node, community=chance.randrange(3), percolation=chance.random())
    if chance.random() < 0.2:
        G.graph["name"] = "drawn"
    style = {
        name: (WEIGHTS[chance.choice((*WEIGHTS, *USUAL * 4))], chance.choice((0, 0.7, 1, 1)))
        for name in ("weight", "length", "capacity", "distance")
    }
    for u, v in _edges(chance, n):
        data = {name: draw(chance) for name, (draw, share) in style.items() if chance.random() < share}
        key = {"key": chance.choice(("k", 5, 0))} if G.is_multigraph() and chance.random() < 0.1 else {}
        G.add_edge(nodes[u], nodes[v], **key, **data)
    return G


def _equal_object(chance: Random, node: Any, nodes: list[Any]) -> Any:
    """Another object that equals a node, if one of numpy's is comparable with all nodes."""
    if any(isinstance(other, (tuple, frozenset)) for other in nodes):
        return node
    if isinstance(node, int):
        return chance.choice((float(node), np.int64(node), np.float64(node), bool(node) if node in (0, 1) else node))
    return np.float64(node) if isinstance(node, float) else np.str_(node) if isinstance(node, str) else node


def draw_node(chance: Random, nodes: list[Any]) -> Any:
    luck = chance.random()
    if not nodes or luck < 0.06:
        return chance.choice(ABSENT)
    node = chance.choice(nodes)
    return _equal_object(chance, node, nodes) if luck < 0.16 else node


def draw_nodes(chance: Random, nodes: list[Any], most: int | None = None) -> Any:
    """Some nodes, also twice, absent ones among them, in a container of some kind; now and then a node alone."""
    if chance.random() < 0.1:
        return draw_node(chance, nodes)
    share = chance.sample(nodes, chance.randrange(len(nodes) + 1))
    if nodes and chance.random() < 0.3:
        share += chance.choices(nodes, k=2)
    if chance.random() < 0.2:
        share.append(draw_node(chance, nodes))
    share = share[:most]
    kind = chance.choice((list, list, list, tuple, set, iter, dict.fromkeys))
    try:
        return kind(share)
    except TypeError:
        return share


def _partition(chance: Random, nodes: list[Any]) -> Any:
    parts: list[Any] = [set() for _ in range(chance.randrange(1, 4))]
    for node in nodes:
        if chance.random() < 0.97:
            chance.choice(parts).add(node)
        if chance.random() < 0.03:
            chance.choice(parts).add(node)
    if chance.random() < 0.07:
        parts[0].add("absent")
    return [chance.choice((set, set, list, frozenset))(part) for part in parts]


def _values(chance: Random, nodes: list[Any]) -> Any:
    """A number for each node, or for some."""
    share = 1 if chance.random() < 0.7 else 0.6
    return {node: chance.choice((1, 0.5, 2)) for node in nodes if chance.random() < share}


def _pairs(chance: Random, nodes: list[Any]) -> Any:
    pairs = [tuple(chance.choices([*nodes, "absent"], k=2)) for _ in range(chance.randrange(5))]
    return chance.choice((list, iter, tuple))(pairs)


def _edge(chance: Random, nodes: list[Any]) -> Any:
    return draw_node(chance, nodes), draw_node(chance, nodes)


def _one_of(*values: Any) -> Callable[[Random, list[Any]], Any]:
    return lambda chance, nodes: chance.choice(values)


ATTRIBUTE = _one_of("weight", "length", "distance", "capacity", "nothing", None)
SOLVERS = nx.algorithms.flow
# How an argument is drawn, by the name of its parameter, or by that of the function and its own.
PARAMETERS: dict[str, Callable[[Random, list[Any]], Any]] = {
    **dict.fromkeys(("weight", "distance"), ATTRIBUTE),
    "capacity": _one_of("capacity", "capacity", "weight", "nothing"),
    **dict.fromkeys(
        ("source", "target", "u", "v", "s", "t", "n", "node", "node1", "node2", "_s", "_t", "root"), draw_node
    ),
    **dict.fromkeys(
        ("sources", "targets", "S", "T", "nbunch", "nbunch1", "nbunch2", "nodes", "nodelist", "row_order"), draw_nodes
    ),
    **dict.fromkeys(("column_order", "top_nodes"), draw_nodes),
    **dict.fromkeys(("partition", "communities", "scc"), _partition),
    **dict.fromkeys(("nstart", "personalization", "dangling", "core_number", "states"), _values),
    **dict.fromkeys(("ebunch", "pairs"), _pairs),
    **dict.fromkeys(
        (
            *("normalized", "endpoints", "wf_improved", "reverse", "count_zeros", "heuristic", "return_seen", "keys"),
            *("usebounds", "center", "undirected", "copy", "ignore_nan", "interchange", "periodic", "separate_nodes"),
        ),
        _one_of(True, False),
    ),
    "cutoff": _one_of(0, 1, 2, 3, 1.5, 2.0, -1, math.inf, None, np.int64(2), True),
    "depth_limit": _one_of(0, 1, 2, 3, None, np.int64(2)),
    "k": _one_of(0, 1, 2, 3, 2.0),
    "name": _one_of("color", "size", "weight", "length", "nothing"),
    "attribute": _one_of("color", "size", "community", "percolation", "nothing"),
    "community": _one_of("community", "color", "nothing"),
    "default": _one_of(None, 0, "x"),
    "data": _one_of(True, False, "weight"),
    "x": _one_of("in", "out", "in+out"),
    "y": _one_of("in", "out", "in+out"),
    "method": _one_of("dijkstra", "bellman-ford", "unweighted", "other", None),
    "alpha": _one_of(0.5, 0.9, 0.05, 1, 0),
    "beta": _one_of(1, 0.5, np.float64(2)),
    "delta": _one_of(0.1, 1, 0, -1),
    "tol": _one_of(1e-4, 1e-8),
    "max_iter": _one_of(1, 50, 500),
    "max_iterations": _one_of(1, 2, 5, 500),
    "tolerance": _one_of(1e-3, 1e-6),
    "importance_factor": _one_of(0.5, 0.8),
    "resolution": _one_of(1, 0.5, 2.0),
    "max_level": _one_of(None, 1, 0),
    "threshold": _one_of(1e-7, 0.1),
    "seed": _one_of(1, 2),
    "radius": _one_of(0, 1, 2, 1.5),
    "first_label": _one_of(0, 3, -2),
    "ordering": _one_of("default", "sorted", "increasing degree"),
    "label_attribute": _one_of(None, "old"),
    "mapping": lambda chance, nodes: {node: chance.choice((f"{node}!", node, "same")) for node in nodes[::2]},
    "rename": _one_of(("a", "b"), (None, "b"), ()),
    "strategy": _one_of("largest_first", "smallest_last", "other"),
    "algorithm": _one_of("kruskal", "prim", "boruvka", "other"),
    "flow_func": _one_of(None, SOLVERS.edmonds_karp, SOLVERS.dinitz, SOLVERS.preflow_push),
    "edge": _edge,
    "dtype": _one_of(None, float, int, np.float32),
    "format": _one_of("csr", "csc", "coo", "other"),
    "order": _one_of(None, "F"),
    "multigraph_weight": _one_of(sum, min, max),
    "nonedge": _one_of(0.0, np.nan, -1),
    "walk_type": _one_of(None, "random", "lazy", "pagerank", "other"),
    "solver": _one_of("full", "lu", "cg", "other"),
    "default_weight": _one_of(1, 2, 0.5),
    "r": _one_of(None, 2.0),
    "Q": _one_of(2),
    "wiener_index": _one_of(None, 10, 2.5),
    "start_with": draw_node,
    "descendants_at_distance.distance": _one_of(0, 1, 2, 1.0, -1),
    "average_neighbor_degree.source": _one_of("in", "out", "in+out", "other"),
    "average_neighbor_degree.target": _one_of("in", "out", "in+out"),
    "average_degree_connectivity.source": _one_of("in", "out", "in+out", "other"),
    "average_degree_connectivity.target": _one_of("in", "out", "in+out"),
    "k_core.k": _one_of(0, 1, 2, 3, None),
    "betweenness_centrality.k": _one_of(1, 2, 3, 0),
    "edge_betweenness_centrality.k": _one_of(1, 2, 3),
    "eccentricity.v": draw_nodes,
    "is_simple_path.nodes": lambda chance, nodes: [draw_node(chance, nodes) for _ in range(chance.randrange(4))],
    "google_matrix.weight": _one_of("weight", "length", None),
}
CLASSES = (None, None, *KINDS)


def _count(chance: Random, nodes: list[Any]) -> Any:
    return chance.choice((0, 1, 2, 3, 4, 5, 5, -1, 2.0, ["a", "b", "c"], "ab"))


def _matrix(chance: Random, nodes: list[Any]) -> Any:
    n = chance.randrange(1, 5)
    width = n + (chance.random() < 0.2)
    values = [[chance.choice((0, 0, 1, 2)) for _ in range(width)] for _ in range(n)]
    kind = chance.choice((int, float, np.float32, bool))
    return scipy.sparse.csr_array(np.array(values, dtype=kind)).asformat(chance.choice(("csr", "csc", "coo", "dok")))


def _frame(chance: Random, nodes: list[Any]) -> Any:
    n = chance.randrange(1, 6)
    ends = {name: [chance.choice((0, 1, 2, "a")) for _ in range(n)] for name in ("source", "target")}
    return pandas.DataFrame({**ends, "weight": [chance.choice((1, 0.5)) for _ in range(n)]})


# How an argument is drawn for functions without a graph.
COUNTS: dict[str, Callable[[Random, list[Any]], Any]] = {
    **dict.fromkeys(("n", "m", "k", "r", "h", "m1", "m2", "n1", "n2", "l", "num_cliques", "clique_size"), _count),
    "create_using": lambda chance, nodes: chance.choice((*CLASSES, nx.Graph())),
    "offsets": _one_of([1], [1, 2], [-1, 3]),
    "default": _one_of(nx.Graph, nx.MultiDiGraph),
    "A": _matrix,
    "df": _frame,
    "d": lambda chance, nodes: {i: [chance.randrange(5) for _ in range(chance.randrange(3))] for i in range(4)},
    "edge_attr": _one_of(None, "weight", "nothing", True),
    "edge_attribute": _one_of("weight", "other"),
    "parallel_edges": _one_of(False, True),
    "periodic": _one_of(False, True),
}
NEVER = {"backend", "heap", "auxiliary", "residual", "sort_neighbors", "neighbors", "topo_order", "sp", "e", "paths"}
NEVER |= {"cliques", "pos"}
LIKELY = {"weight", "distance", "sources", "nodes", "source", "target", "capacity", "cutoff"}


class Call:
    """A call of a function of networkx, drawn from a seed.

    function : as networkx dispatches it. arguments : by name, for a random number `seed` an int. graphs : the names of
    those that are graphs.
    """

    def __init__(self, dispatched: Any, seed: str):
        chance = Random(seed)
        module = sys.modules[dispatched.orig_func.__module__]
        self.function = getattr(module, dispatched.orig_func.__name__)  # with networkx's decorators
        self.arguments: dict[str, Any] = {}
        kind = chance.choice(KINDS)
        graphs = dispatched.graphs
        self.graphs: list[str] = []
        nodes: list[Any] = []
        labels = chance.choice((*LABELS, "numbers", "numbers"))
        for name in graphs:
            if name in dispatched.optional_graphs:
                continue
            self.graphs.append(name)
            first = not nodes
            other = kind if first or chance.random() < 0.9 else None
            n = None if first or chance.random() < 0.4 else len(nodes)
            if name in dispatched.list_graphs:
                self.arguments[name] = [draw_graph(chance, kind, labels=labels) for _ in range(chance.randrange(4))]
            else:
                self.arguments[name] = draw_graph(chance, other, n, labels)
                nodes = list(self.arguments[name]) if first else nodes
        for parameter in inspect.signature(dispatched.orig_func).parameters.values():
            if parameter.name in graphs or parameter.name in NEVER:
                continue
            draw = PARAMETERS.get(f"{dispatched.name}.{parameter.name}") or PARAMETERS.get(parameter.name)
            draw = draw if graphs else COUNTS.get(parameter.name)
            if draw is None or parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
                continue
            share = 1 if parameter.default is parameter.empty else 0.5 if parameter.name in LIKELY else 0.3
            if chance.random() < share:
                self.arguments[parameter.name] = draw(chance, nodes)
        if "seed" in inspect.signature(dispatched.orig_func).parameters:
            self.arguments["seed"] = 1

    def __repr__(self) -> str:
        parts = ", ".join(f"{name}={_told(value)}" for name, value in self.arguments.items())
        return f"{self.function.__name__}({parts})"


def _told(value: Any) -> str:
    if isinstance(value, list) and value and isinstance(value[0], nx.Graph):
        return f"[{', '.join(map(_told, value))}]"
    if not isinstance(value, nx.Graph):
        return getattr(value, "__name__", None) or repr(value)
    edges = list(value.edges(data=True, keys=True) if value.is_multigraph() else value.edges(data=True))
    return f"{type(value).__name__}({dict(value.nodes(data=True))}, {edges})"
