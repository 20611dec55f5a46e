"""Communities and the quality of partitions. Where chance has a part it is not that of networkx: a seed gives another
partition, of the same quality."""

from __future__ import annotations

from typing import Any

import networkx as nx
from networkx.algorithms.community.quality import NotAPartition
from torch import Tensor

import tgraph as tg
from tgraph import algorithms
from tgraph.networkx.functions._arcs import structure
from tgraph.networkx.functions._weights import of_kind, refuse_extreme
from tgraph.networkx.functions.graphs.small import labels_of
from tgraph.networkx.functions.groups.components import groups
from tgraph.networkx.registry import implements

SEEDED = "the partition of another chance than networkx's"


def _check_level(max_level: int | None) -> None:
    if max_level is not None and max_level <= 0:
        raise ValueError("max_level argument must be a positive integer or None")


def _require_weight(graph: tg.Graph) -> None:
    total = 1.0 if graph.weight_dtype is None else graph.mean_weight * graph.num_edges
    if total * total == 0:
        raise ZeroDivisionError("division by zero")


def _options(G: Any, weight: Any, resolution: float, seed: Any) -> dict[str, Any]:
    weighted = structure(G, weight).weight_dtype is not None
    if weighted and structure(G, weight).num_arcs:
        _require_weight(structure(G, weight))
    return {"weighted": weighted, "resolution": resolution, "seed": seed.getrandbits(31)}


def _levels(G: Any, weight: Any, resolution: float, max_level: int | None, seed: Any) -> list[Tensor]:
    options = _options(G, weight, resolution, seed)
    return algorithms.louvain_levels(structure(G, weight), max_level=max_level, **options)


@implements(cost="superlinear", only={"threshold": 1e-07}, gaps=SEEDED)
def louvain_communities(G, weight="weight", resolution=1, threshold=1e-07, max_level=None, seed=None):
    _check_level(max_level)
    return list(groups(G, _levels(G, weight, resolution, max_level, seed)[-1]))


@implements(cost="superlinear", only={"threshold": 1e-07}, gaps=SEEDED)
def louvain_partitions(G, weight="weight", resolution=1, threshold=1e-07, seed=None):
    for level in _levels(G, weight, resolution, None, seed):
        yield list(groups(G, level))


if "leiden_communities" in nx.utils.backends._registered_algorithms:  # since networkx 3.5, for backends alone

    @implements(cost="superlinear")
    def leiden_communities(G, weight="weight", resolution=1, max_level=None, seed=None):
        _check_level(max_level)
        options = _options(G, weight, resolution, seed)
        iterations = 3 if max_level is None else max_level
        return list(groups(G, algorithms.leiden(structure(G, weight), iterations=iterations, **options)))


def _parts(G: Any, communities: Any) -> Tensor:
    """The part of each vertex. Raises NotAPartition where they are not in one each."""
    label = labels_of(G, communities)
    if label is None or bool((label < 0).any()) or sum(len(set(part)) for part in communities) != len(G):
        raise NotAPartition(G, communities)
    return label


@implements(gaps="negative weights")
def modularity(G, communities, weight="weight", resolution=1):
    communities = list(communities)
    label = _parts(G, communities)
    if not G.number_of_edges():
        raise ZeroDivisionError("division by zero")
    graph = structure(G, weight)
    graph = refuse_extreme(of_kind("measures", graph), weight)
    _require_weight(graph)
    options = {"weighted": graph.weight_dtype is not None, "resolution": resolution}
    return float(algorithms.modularity(graph, label, **options))


@implements()
def partition_quality(G, partition):
    found = algorithms.partition_quality(G.structure, _parts(G, list(partition)))
    if not G.number_of_edges() or (len(G) < 2 and not G.is_multigraph()):
        raise ZeroDivisionError("division by zero")
    return found.coverage, -1.0 if G.is_multigraph() else found.performance


@implements()
def is_partition(G, communities):
    communities = list(communities)
    nodes = {node for part in communities for node in part if node in G}
    return len(G) == len(nodes) == sum(map(len, communities))
