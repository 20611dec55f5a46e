"""Each function that runs here gives what networkx's own gives, the same exceptions included, and did run here."""

import inspect
import random
from collections.abc import Iterator
from itertools import islice, pairwise

import networkx as nx
import numpy as np
import pytest
from equality import same, same_of

from tgraph.networkx import history
from tgraph.networkx.interface import backend
from tgraph.networkx.registry import FUNCTIONS

ALGORITHMS = nx.utils.backends._registered_algorithms


def random_graph(kind: type, seed: int, n: int = 24, m: int = 60, loops: bool = True, prefix: str = "v") -> nx.Graph:
    """Nodes with names, edges in no order, some with weights, all with distances and attributes."""
    chance = random.Random(seed)
    G = kind()
    G.graph["name"] = "random"
    nodes = [f"{prefix}{i}" for i in range(n)]
    chance.shuffle(nodes)
    for i, node in enumerate(nodes):
        G.add_node(node, community=i % 3, color="red" if i % 2 else "blue", size=i)
    for _ in range(m):
        u, v = chance.choice(nodes[:-2]), chance.choice(nodes[:-2])
        if u != v or loops:
            G.add_edge(u, v, distance=chance.choice([0.5, 1.0, 1.5, 2.5]), length=chance.randrange(1, 6))
            if chance.random() < 0.7:
                G.add_edge(u, v, weight=chance.choice([1, 2, 3, 7])) if not G.is_multigraph() else None
    return G


def graphs() -> dict[str, nx.Graph]:
    connected = nx.karate_club_graph()
    tree = nx.random_labeled_tree(20, seed=3)
    tournament = nx.tournament.random_tournament(8, seed=1)
    return {
        "karate": connected,
        "tree": tree,
        "arborescence": nx.bfs_tree(tree, 0),
        "tournament": tournament,
        "undirected": random_graph(nx.Graph, 1),
        "no loops": random_graph(nx.Graph, 2, loops=False),
        "directed": random_graph(nx.DiGraph, 3),
        "directed, no loops": random_graph(nx.DiGraph, 5, loops=False),
        "multi": random_graph(nx.MultiGraph, 4),
        "multi directed": random_graph(nx.MultiDiGraph, 6),
        "cycle": nx.cycle_graph(5),
        "dag": nx.DiGraph((u, v) for u, v in random_graph(nx.DiGraph, 7).edges if u < v),
        "empty": nx.Graph(),
        "one": nx.empty_graph(1, nx.DiGraph),
    }


GRAPHS = graphs()

# Arguments by the names of parameters; a list has several calls.
ARGUMENTS = {
    "source": lambda G, nodes: nodes[0],
    "target": lambda G, nodes: nodes[len(nodes) // 2],
    "sources": lambda G, nodes: nodes[:2],
    "targets": lambda G, nodes: nodes[2:5],
    "u": lambda G, nodes: nodes[0],
    "v": lambda G, nodes: nodes[-1],
    "s": lambda G, nodes: nodes[0],
    "t": lambda G, nodes: nodes[-1],
    "n": lambda G, nodes: nodes[1],
    "node": lambda G, nodes: nodes[0],
    "node1": lambda G, nodes: nodes[1],
    "node2": lambda G, nodes: nodes[2],
    "S": lambda G, nodes: nodes[:5],
    "T": lambda G, nodes: nodes[4:9],
    "name": lambda G, nodes: "length" if G.is_directed() else "community",
    "nbunch": lambda G, nodes: nodes[:4],
    "nbunch1": lambda G, nodes: nodes[:4],
    "nodes": lambda G, nodes: nodes[:6],
    "row_order": lambda G, nodes: nodes[:4],
    "distance": lambda G, nodes: 2,
    "k": lambda G, nodes: 2,
    "partition": lambda G, nodes: [set(nodes[:7]), set(nodes[7:])],
    "communities": lambda G, nodes: [set(nodes[:7]), set(nodes[7:])],
    "mapping": lambda G, nodes: {node: f"{node} renamed" for node in nodes[::2]},
    "attribute": lambda G, nodes: "color",
    "walk_length": lambda G, nodes: 3,
    "_s": lambda G, nodes: nodes[0],
    "_t": lambda G, nodes: nodes[len(nodes) // 2],
}

# Options that are tried beside the defaults.
OPTIONS = {
    "weight": ["weight", None, "length"],
    "distance": [None, "distance"],
    "cutoff": [None, 2],
    "depth_limit": [None, 2],
    "reverse": [False, True],
    "normalized": [True, False],
    "endpoints": [False, True],
    "wf_improved": [True, False],
    "rename": [("a", "b")],
    "copy": [False],
    "center": [False],
    "radius": [2],
    "k": [2],
    "first_label": [3],
    "label_attribute": ["old"],
    "capacity": ["weight", "length", "distance"],
    "ignore_nan": [True],
}

OWN: dict[str, dict[str, object]] = {
    "numeric_assortativity_coefficient": {"attribute": "size"},
    "max_weight_clique": {"weight": None},
    "rich_club_coefficient": {"normalized": False},
}


def calls(name: str, G: nx.Graph, H: nx.Graph | None = None) -> Iterator[tuple[tuple, dict]]:
    """The calls of a function to compare: required arguments, then each option in turn."""
    dispatched = ALGORITHMS[name]
    parameters = inspect.signature(dispatched.orig_func).parameters
    nodes = list(G)
    required = {}
    for parameter in parameters.values():
        if parameter.name in dispatched.list_graphs:
            required[parameter.name] = [G, H]
        elif parameter.name in dispatched.optional_graphs:
            continue
        elif parameter.name in dispatched.graphs:
            required[parameter.name] = G if dispatched.graphs[parameter.name] == 0 else H
        elif parameter.name == "seed":
            required["seed"] = random.Random(4)
        elif parameter.kind is parameter.VAR_KEYWORD:
            continue
        elif parameter.default is parameter.empty or (name, parameter.name) in ALSO:
            required[parameter.name] = ARGUMENTS[parameter.name](G, nodes)
    required.update(OWN.get(name, {}))
    yield (), required
    for parameter in parameters.values():
        for value in OPTIONS.get(parameter.name, ()):
            if value != parameter.default and (name, parameter.name) not in ALSO and parameter.name not in required:
                yield (), {**required, parameter.name: value}
        if nodes and parameter.default is None and parameter.name in ARGUMENTS and parameter.name not in required:
            yield (), {**required, parameter.name: ARGUMENTS[parameter.name](G, nodes)}


ALSO: set[tuple[str, str]] = {(name, "T") for name in ("cut_size",)}


def outcome(function, arguments):
    """The result, generators as lists, or the type of the exception."""
    try:
        result = function(**arguments)
        return list(islice(result, 100_000)) if isinstance(result, Iterator) else result
    except (
        nx.NetworkXException,
        nx.NodeNotFound,
        ValueError,
        TypeError,
        KeyError,
        ZeroDivisionError,
        IndexError,
    ) as fault:
        return type(fault)
    except Exception as fault:
        if type(fault) is Exception:
            return Exception
        raise


def convert(name: str, arguments: dict) -> dict:
    """The arguments with graphs converted as networkx does for this function."""
    dispatched = ALGORITHMS[name]
    converted, named = dispatched.__wrapped__._convert_arguments(
        "tgraph", (), arguments, use_cache=False, mutations=None
    )
    bound = inspect.signature(dispatched.orig_func).bind(*converted, **named)
    return dict(bound.arguments)


def compared(name: str, G: nx.Graph, H: nx.Graph, options: bool = True) -> tuple[int, int]:
    """(calls that ran here, calls that were left to networkx)"""
    ran = left = 0
    dispatched = ALGORITHMS[name]
    for _, arguments in islice(calls(name, G, H), None if options else 1):
        fresh = {**arguments, "seed": random.Random(4)} if "seed" in arguments else arguments
        expected = outcome(dispatched.orig_func, fresh)
        fresh = {**arguments, "seed": random.Random(4)} if "seed" in arguments else arguments
        if backend.can_run(name, (), fresh) is not True:
            left += 1
            continue
        try:
            found = outcome(getattr(backend, name), convert(name, fresh))
        except NotImplementedError:
            left += 1
            continue
        what = {key: value for key, value in arguments.items() if not isinstance(value, nx.Graph)}
        same_of(name, found, expected, f"{name} {what}")
        ran += 1
    return ran, left


TOO_MANY = {"shortest_simple_paths"}  # paths, to list all


@pytest.mark.covering(1)
@pytest.mark.parametrize("weight", [None, "weight", "distance"])
@pytest.mark.parametrize("kind", ["karate", "undirected", "no loops", "directed", "dag", "cycle"])
def test_shortest_simple_paths(kind, weight):
    """The same lengths in the same order; of equally long paths networkx begins with another."""
    G, nodes = GRAPHS[kind], sorted(GRAPHS[kind])
    converted = backend.convert_from_nx(G, preserve_edge_attrs=True)

    def lengths(**arguments):
        found = list(islice(arguments.pop("function")(weight=weight, **arguments), 12))
        assert all(nx.is_simple_path(G, path) for path in found)
        assert len(set(map(tuple, found))) == len(found)
        return [sum(1 if weight is None else G[u][v].get(weight, 1) for u, v in pairwise(path)) for path in found]

    for source, target in zip(nodes, reversed(nodes), strict=True):
        ends = {"source": source, "target": target}
        found = outcome(lengths, {"function": backend.shortest_simple_paths, "G": converted, **ends})
        same(found, outcome(lengths, {"function": nx.shortest_simple_paths.orig_func, "G": G, **ends}))


PLACED = {"forceatlas2_layout"}  # elsewhere than networkx does


@pytest.mark.covering(1)
@pytest.mark.parametrize("kind", ["karate", "directed", "multi", "empty", "one"])
@pytest.mark.parametrize("options", [{}, {"linlog": True}, {"strong_gravity": True}, {"weight": "length"}, {"pos": 1}])
def test_forceatlas2_layout(kind, options):
    """A position for each node; edges are as short beside other pairs as in networkx's picture."""
    G = GRAPHS[kind]
    options = {**options, "pos": nx.circular_layout(G)} if "pos" in options else options
    converted = backend.convert_from_nx(G, preserve_edge_attrs=True)
    assert backend.can_run("forceatlas2_layout", (G,), options) is True
    found = backend.forceatlas2_layout(converted, seed=np.random.RandomState(1), **options)
    assert list(found) == list(G) and all(place.shape == (2,) for place in found.values())
    if G.number_of_edges():
        expected = nx.forceatlas2_layout.orig_func(G, seed=np.random.RandomState(1), **options)
        assert tension(G, found) < 1.3 * tension(G, expected)


def tension(G, places):
    """The mean length of an edge over the mean distance of two nodes."""
    points = np.array(list(places.values()))
    distance = np.linalg.norm(points[:, None] - points, axis=-1)
    return np.mean([np.linalg.norm(places[u] - places[v]) for u, v in G.edges()]) / distance.mean()


@pytest.mark.parametrize("options", [{"dim": 3}, {"node_size": {0: 2}}, {"store_pos_as": "at"}, {"pos": {0: (1, 2)}}])
def test_layouts_that_are_left_to_networkx(options):
    assert backend.can_run("forceatlas2_layout", (GRAPHS["karate"],), options) is not True


BY_CHANCE = {"louvain_communities", "louvain_partitions", "leiden_communities"}
SETS = {"maximal_independent_set", "dominating_set"}


@pytest.mark.parametrize("name", sorted(SETS))
def test_sets(name):
    for G in (GRAPHS["karate"], GRAPHS["no loops"], GRAPHS["tree"]):
        converted = backend.convert_from_nx(G)
        options = {"seed": random.Random(1)} if name == "maximal_independent_set" else {}
        found = getattr(backend, name)(converted, **options)
        assert nx.is_dominating_set(G, found)
        if name == "maximal_independent_set":
            assert isinstance(found, list) and not G.subgraph(found).edges


@pytest.mark.parametrize("name", sorted(BY_CHANCE & FUNCTIONS.keys()))
def test_communities(name):
    for G in (GRAPHS["karate"], GRAPHS["no loops"]):
        converted = backend.convert_from_nx(G, preserve_edge_attrs=True)
        found = getattr(backend, name)(converted, seed=random.Random(1))
        found = list(found)[-1] if name == "louvain_partitions" else found
        assert nx.community.is_partition(G, found)
        expected = nx.community.louvain_communities(G, seed=1)
        assert nx.community.modularity(G, found) > nx.community.modularity(G, expected) - 0.03


SOME = {"karate", "directed, no loops", "multi"}


@pytest.mark.parametrize("kinds", [SOME, pytest.param({*GRAPHS}, marks=pytest.mark.thorough)], ids=["some", "all"])
@pytest.mark.parametrize(
    "name",
    [
        name
        for name in sorted(FUNCTIONS)
        if ALGORITHMS[name].graphs and name not in BY_CHANCE | SETS | TOO_MANY | PLACED
    ],
)
def test_as_networkx(name, kinds):
    """On all graphs; with each option on graphs of these kinds."""
    history.forget()
    ran = 0
    required = [p for p in inspect.signature(ALGORITHMS[name].orig_func).parameters.values() if p.default is p.empty]
    for kind, G in GRAPHS.items():
        if (len(G) < 3 and len(required) > 1) or not takes(name, G) or (name, kind) in NOT_UNIQUE:
            continue
        try:
            here, _ = compared(name, G, random_graph(type(G), 11), kind in kinds)
        except AssertionError as fault:
            raise AssertionError(f"{kind}: {fault}") from fault
        ran += here
    assert ran
    assert history.calls().get(name)
    parts = FUNCTIONS[name].made_of
    assert not parts or any(history.calls().get(part) for part in parts)  # networkx's own code has called ours


NOT_UNIQUE = {
    ("hits", kind) for kind in ("tree", "arborescence", "cycle", "dag")
}  # the largest singular value is a double one
NOT_UNIQUE |= {
    ("degree_assortativity_coefficient", "arborescence")
}  # all degrees are equal: 0 / 0, or what rounding left


def takes(name: str, G: nx.Graph) -> bool:
    """Whether networkx's decorators let this kind of graph pass."""
    kinds = KINDS.get(name, "")
    return not (
        ("d" in kinds and G.is_directed())
        or ("u" in kinds and not G.is_directed())
        or ("m" in kinds and G.is_multigraph())
    )


def _kinds() -> dict[str, str]:
    """By the source of each function: "d", "u", "m" for not_implemented_for directed, undirected, multigraph."""
    found = {}
    for name in FUNCTIONS:
        function = ALGORITHMS[name].orig_func
        source = inspect.getsource(function).partition("def ")[0]
        found[name] = "".join(
            letter
            for letter, word in (("d", '"directed"'), ("u", '"undirected"'), ("m", '"multigraph"'))
            if "not_implemented_for" in source and word in source
        )
    return found


KINDS = _kinds()


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("name", ["floyd_warshall", "floyd_warshall_predecessor_and_distance"])
def test_more_nodes_than_a_block(name, directed):
    """Of equally long paths networkx's choice, also where the compiled kernel would go by blocks of 64 nodes."""
    G = nx.gnm_random_graph(90, 400, seed=1, directed=directed)
    nx.set_edge_attributes(G, {edge: 1 + sum(edge) % 3 for edge in G.edges}, "weight")
    same(getattr(nx, name)(G, backend="tgraph"), ALGORITHMS[name].orig_func(G), name)


@pytest.mark.parametrize("name", ["shortest_path", "shortest_path_length"])
def test_all_paths_by_weight_to_a_target_of_a_directed_graph(name):
    G = random_graph(nx.DiGraph, 8)
    target = next(iter(G))
    options = {"target": target, "weight": "distance"}
    history.forget()
    found = dict(getattr(nx, name)(G, **options, backend="tgraph"))
    assert name in history.calls()
    same(found, dict(ALGORITHMS[name].orig_func(G, **options)), name)
