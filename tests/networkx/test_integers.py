"""Weights that are integers too large for sums in int64, or in float64, through the backend: networkx's numbers, which
are Python's, or a call that is left to networkx."""

import inspect
import random
from collections.abc import Iterator, Mapping
from typing import Any

import networkx as nx
import pytest
from equality import same, same_of
from test_functions import ALGORITHMS, BY_CHANCE, PLACED, SETS, calls, convert, outcome, takes

from tgraph.networkx.interface import backend
from tgraph.networkx.registry import FUNCTIONS

NAMED = {"weight", "distance", "capacity"}
LIMITS = (2**31, 2**53, 2**62, 2**63 - 1)
KINDS = (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph)

# networkx itself adds these up in numpy's int64, which wraps, or solves a matrix that float64 does not hold.
BY_NUMPY = {"constraint", "effective_size", "laplacian_centrality", "degree_assortativity_coefficient"}
BY_NUMPY |= {"degree_pearson_correlation_coefficient", "current_flow_betweenness_centrality"}
BY_NUMPY |= {"current_flow_closeness_centrality"}

# Whose weights are all left to networkx, and one whose distance is a number of arcs.
LEFT = {"betweenness_centrality_subset", "global_reaching_centrality", "local_reaching_centrality", "max_weight_clique"}
BY_ARCS = {"descendants_at_distance"}

NAMES = [
    name
    for name in sorted(FUNCTIONS.keys() - BY_NUMPY - BY_CHANCE - SETS - PLACED - LEFT - BY_ARCS)
    if ALGORITHMS[name].graphs and NAMED & inspect.signature(ALGORITHMS[name].orig_func).parameters.keys()
]


def numbers(chance: random.Random, negative: bool) -> list[int]:
    """Some integers near a limit, or small ones beside one that is near it."""
    limit = chance.choice(LIMITS)
    near = [limit, limit - chance.randrange(9), limit // 2, limit // 3 + 1, limit // 9]
    few = chance.choice([near, near[:1], [1, 2, 5, near[1]]])
    return few + [-each for each in few] if negative else few


def random_graph(seed: int) -> nx.Graph:
    chance = random.Random(seed)
    kind = chance.choice(KINDS)
    G, n = kind(), chance.choice([9, 10, 12])
    G.add_nodes_from((v, {"community": v % 3, "color": v % 2, "size": v}) for v in range(n))
    some = numbers(chance, chance.random() < 0.2)
    acyclic = chance.random() < 0.3
    for v in range(1, n):
        G.add_edge(chance.randrange(v), v, weight=chance.choice(some))
    for _ in range(chance.randrange(2 * n)):
        u, v = chance.randrange(n), chance.randrange(n)
        if u != v or chance.random() < 0.3:
            G.add_edge(*((min(u, v), max(u, v)) if acyclic and u != v else (u, v)), weight=chance.choice(some))
    return G


def integers(found: Any) -> Iterator[int]:
    """All integers in a result that float64 may not hold."""
    if isinstance(found, nx.Graph):
        found = dict(found.adj)
    if isinstance(found, Mapping):
        found = [*found.keys(), *found.values()]
    if isinstance(found, (list, tuple, set)):
        for each in found:
            yield from integers(each)
    elif isinstance(found, int) and abs(found) > 2**53:
        yield found


def seeded(arguments: dict[str, Any]) -> dict[str, Any]:
    return {**arguments, "seed": random.Random(4)} if "seed" in arguments else dict(arguments)


def check(name: str, seed: int) -> int:
    """The number of calls that ran here."""
    G, ran = random_graph(seed), 0
    if not takes(name, G) or (name == "shortest_simple_paths" and nx.is_negatively_weighted(G)):
        return 0
    parameters = inspect.signature(ALGORITHMS[name].orig_func).parameters
    named = {key: "weight" for key in NAMED if key in parameters}
    for _, arguments in calls(name, G):
        arguments = {**arguments, **named}
        if backend.can_run(name, (), arguments) is not True:
            continue
        expected = outcome(ALGORITHMS[name].orig_func, seeded(arguments))
        try:
            found = outcome(getattr(backend, name), convert(name, seeded(arguments)))
        except NotImplementedError:
            continue
        same_of(name, found, expected, f"{name} seed {seed}")
        assert sorted(integers(found)) == sorted(integers(expected)), f"{name} seed {seed}"
        ran += 1
    return ran


def test_some_as_networkx():
    for name in random.sample(NAMES, 12):
        check(name, random.randrange(10**6))


@pytest.mark.thorough
@pytest.mark.parametrize("name", NAMES)
def test_many_as_networkx(name):
    assert sum(check(name, seed) for seed in range(200)) > 0


@pytest.mark.parametrize("name", sorted(LEFT))
def test_weights_that_are_left_to_networkx(name):
    for _, arguments in calls(name, random_graph(1)):
        assert backend.can_run(name, (), {**arguments, "weight": "weight"}) is not True


@pytest.mark.parametrize("distance", [2, 2.0, 1.5, "weight", None, float("nan"), 2 + 0j])
def test_descendants_at_distances_that_are_no_integers(distance):
    G = nx.path_graph(5)
    assert nx.descendants_at_distance(G, 0, distance, backend="tgraph") == nx.descendants_at_distance(G, 0, distance)


def test_sums_of_many_large_weights():
    """Sums that wrapped in int64, or were rounded to float64."""
    path, star = nx.path_graph(3000), nx.star_graph(10)
    nx.set_edge_attributes(path, 10**13, "d")
    nx.set_edge_attributes(star, 10**18, "d")
    star.add_edge(1, 2, d=10**18)
    light = nx.star_graph(10)
    nx.set_edge_attributes(light, 10**17, "d")
    for function, G, arguments in (
        (nx.closeness_centrality, path, {"u": 0, "distance": "d"}),
        (nx.wiener_index, light, {"weight": "d"}),
        (nx.volume, star, {"S": [0], "weight": "d"}),
        (nx.cut_size, star, {"S": [0], "weight": "d"}),
        (nx.mixing_expansion, star, {"S": [0], "weight": "d"}),
    ):
        found = outcome(getattr(backend, function.__name__), convert(function.__name__, {"G": G, **arguments}))
        same(found, function(G, **arguments))


@pytest.mark.parametrize("k", [2**63, 2**70, -(2**63) - 1])
@pytest.mark.parametrize("name", ["k_core", "k_shell", "k_crust", "k_corona", "k_truss"])
def test_counts_that_no_int64_holds(name, k):
    G = nx.complete_graph(5)
    found, expected = getattr(backend, name)(**convert(name, {"G": G, "k": k})), getattr(nx, name)(G, k)
    assert list(found) == list(expected)
    G = nx.path_graph(3)
    assert nx.is_k_regular(G, k, backend="tgraph") is nx.is_k_regular(G, k)
    assert nx.descendants_at_distance(G, 0, k, backend="tgraph") == nx.descendants_at_distance(G, 0, k)
