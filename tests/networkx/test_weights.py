"""Weights that are NaN, infinite, 0, negative or the smallest that there are: each function that reads weights gives
what networkx's own gives, the same exceptions included, or leaves the call to it."""

import inspect
import math
import random
from collections.abc import Iterator
from itertools import pairwise

import networkx as nx
import pytest
from equality import same_of
from test_functions import ALGORITHMS, BY_CHANCE, PLACED, TOO_MANY, calls, convert, takes

from tgraph.networkx.interface import backend
from tgraph.networkx.registry import FUNCTIONS

INF, NAN = math.inf, math.nan
POOLS = [
    *([0], [0, 1, 2], [0, 1, -1], [0, 1, 2.5, -1], [0.0, -0.0, 1.5], [-1, -2, -3], [-0.5, -2.0]),
    *(
        [0.0, 1.0, INF],
        [1, INF, -1.0],
        [INF],
        [1.0, -INF, 2.0],
        [INF, -INF],
        [1.0, 2.0, NAN],
        [NAN],
        [5e-324, 1.0, 0.0],
    ),
]
MORE = [  # bool, int and float together, sums that round and those that overflow, and squares that do
    *([True, False], [True, 2.0], [1, 1.0], [0, 0.0], [0, -0.0], [0, 0.0, 1, -1.0, 1.0], [3, 0.1]),
    *([0.1, 0.2, 0.3, 0.7], [0.1, 0.2, 0.3, -0.3, -0.1], [1e-17, 1.0], [1e308], [1e-200, 1e200], [1e155, 1e-155, 3.0]),
]
ROUNDED = {"degree_mixing_dict"}  # the keys are sums, in networkx's order
IMPLICIT = {"subgraph_centrality", "estrada_index"}  # their code reads the attribute "weight"
PARAMETERS = {"weight", "distance", "capacity"}
# What is left out: sets of nodes that networkx does not take, and eigenvectors by ARPACK on matrices of NaN.
OTHERS = {"biadjacency_matrix", "hits", "directed_laplacian_matrix", "directed_combinatorial_laplacian_matrix"}
NAMES = sorted(
    name
    for name in FUNCTIONS
    if ALGORITHMS[name].graphs
    and (name in IMPLICIT or not PARAMETERS.isdisjoint(inspect.signature(ALGORITHMS[name].orig_func).parameters))
    and name not in BY_CHANCE | PLACED | TOO_MANY | OTHERS
)


def drawn(seed: str, pools: list[list[float]] = POOLS) -> nx.Graph:
    """A graph of four to nine nodes, each of whose attributes is of one of the pools."""
    chance = random.Random(seed)
    G = chance.choice([nx.Graph, nx.DiGraph, nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])()
    nodes = [f"v{i}" for i in range(chance.choice([4, 5, 7, 9]))]
    for i, node in enumerate(nodes):
        G.add_node(node, community=i % 3, color="rb"[i % 2], size=i)
    values = {attribute: chance.choice(pools) for attribute in ("weight", "length", "distance")}
    acyclic, loops = chance.random() < 0.3, chance.random() < 0.3
    edges = list(pairwise(nodes)) if chance.random() < 0.6 else []
    edges += [chance.choices(nodes, k=2) for _ in range(chance.choice([3, 8, 14]))]
    for u, v in edges:
        u, v = (min(u, v), max(u, v)) if acyclic else (u, v)
        if u != v or (loops and not acyclic):
            G.add_edge(u, v, **{attribute: chance.choice(pool) for attribute, pool in values.items()})
            if chance.random() < 0.1 and not G.is_multigraph():
                del G[u][v]["weight"]
    return G


def outcome(function, arguments):
    """The result, generators as lists, or the type of the exception: ours may be NotImplementedError."""
    try:
        result = function(**arguments)
        return list(result) if isinstance(result, Iterator) else result
    except Exception as fault:
        return type(fault)


def compared(name: str, seed: int, pools: list[list[float]] = POOLS) -> int:
    """The number of calls on a random graph that ran here."""
    G = drawn(f"{name} {seed}", pools)
    ran = 0
    if not takes(name, G):
        return 0
    for _, arguments in calls(name, G, type(G)(G)):
        given = {**arguments, "seed": random.Random(4)} if "seed" in arguments else arguments
        if backend.can_run(name, (), given) is not True:
            continue
        found = outcome(getattr(backend, name), convert(name, given))
        if found is NotImplementedError:
            continue
        expected = outcome(
            ALGORITHMS[name].orig_func, {**given, "seed": random.Random(4)} if "seed" in given else given
        )
        what = {key: value for key, value in arguments.items() if not isinstance(value, nx.Graph)}
        assert isinstance(found, type) == isinstance(expected, type), f"{name} {what} {seed}: {found} {expected}"
        if isinstance(found, type):
            assert found is expected or issubclass(expected, found), f"{name} {what} {seed}: {found} {expected}"
        else:
            same_of(name, found, expected, f"{name} {what} {seed}")
        ran += 1
    return ran


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("count", [1, pytest.param(200, marks=pytest.mark.thorough)])
def test_as_networkx_whatever_the_weights(name, count):
    ran = [compared(name, seed) for seed in range(count)]
    assert count == 1 or any(ran)


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted({*NAMES} - ROUNDED))
def test_as_networkx_whatever_the_kinds_of_weights(name):
    for seed in range(80):
        compared(name, seed, MORE)


# Graphs on which zeros had another type, sums cancelled, or numbers were too small for squares and for distances.
FOUND = {
    "average_degree_connectivity": (5, 6),
    "betweenness_centrality": (199,),
    "closeness_centrality": (39, 100),
    "clustering": (15, 52),
    "constraint": (29,),
    "cut_size": (55,),
    "degree_assortativity_coefficient": (309,),
    "degree_pearson_correlation_coefficient": (290, 518),
    "edge_betweenness_centrality": (117,),
    "floyd_warshall": (12, 108),
    "floyd_warshall_predecessor_and_distance": (23, 39),
    "harmonic_centrality": (1, 10),
    "laplacian_centrality": (163,),
    "maximum_flow": (196,),
    "percolation_centrality": (65, 86),
    "volume": (27,),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(FOUND))
def test_weights_that_gave_other_results(name):
    for seed in FOUND[name]:
        compared(name, seed)
