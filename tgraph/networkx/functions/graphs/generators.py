"""Classic graphs: large ones from tensors; small ones, and those with many options, by networkx's code and converted.

Graphs are made here where `create_using` is a class of networkx's own, or of `tgraph.networkx`, or None.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any

import networkx as nx
import torch

from tgraph.io.columns import Column
from tgraph.networkx.convert import convert_from_nx
from tgraph.networkx.functions._building import build, class_of_networkx, kind_of
from tgraph.networkx.graph import CLASSES, DiGraph, Graph, MultiDiGraph, MultiGraph
from tgraph.networkx.registry import implements


def _count(n: Any) -> bool:
    return type(n) is int and n >= 0


COUNT = {"n": _count, "create_using": class_of_networkx}


def _build(n: int, create_using: Any, edges: Any, **options: Any) -> Graph:
    kind = kind_of(create_using)
    assert kind is not None
    source, target = torch.as_tensor(edges, dtype=torch.int64).reshape(2, -1)
    return build(kind[0], range(n), source, target, multigraph=kind[1], **options)


@implements(only={**COUNT, "default": class_of_networkx})
def empty_graph(n=0, create_using=None, default=nx.Graph):
    return _build(n, default if create_using is None else create_using, [[], []])


@implements(only=COUNT)
def complete_graph(n, create_using=None):
    kind = kind_of(create_using)
    if kind is not None and kind[0]:
        ends = (~torch.eye(n, dtype=torch.bool)).nonzero().T
    else:
        ends = torch.triu_indices(n, n, 1)
    return _build(n, create_using, ends)


@implements(only=COUNT)
def path_graph(n, create_using=None):
    v = torch.arange(n)
    return _build(n, create_using, torch.stack((v[:-1], v[1:])))


@implements(only=COUNT)
def star_graph(n, create_using=None):
    spokes = torch.arange(1, n + 1)
    return _build(n + 1, create_using, torch.stack((torch.zeros_like(spokes), spokes)))


def _undirected_class_of_networkx(create_using):
    return kind_of(create_using) in ((False, False), (False, True))


@implements(only={"n1": _count, "n2": _count, "create_using": _undirected_class_of_networkx})
def complete_bipartite_graph(n1, n2, create_using=None):
    source, target = torch.arange(n1).repeat_interleave(n2), n1 + torch.arange(n2).repeat(n1)
    side = Column(torch.tensor([0] * n1 + [1] * n2))
    return _build(
        n1 + n2,
        create_using,
        torch.stack((source, target)),
        node_columns={"bipartite": side},
        attributes={"name": f"complete_bipartite_graph({n1}, {n2})"},
    )


def _by_networkx(name: str) -> None:
    """Register networkx's own code, which makes a graph that is then converted."""
    function = nx.utils.backends._registered_algorithms[name].orig_func
    signature = inspect.signature(function)
    takes_class = "create_using" in signature.parameters

    @functools.wraps(function)
    def run(*args: Any, **named: Any) -> Any:
        bound = signature.bind(*args, **named)
        if takes_class and (kind := kind_of(bound.arguments.get("create_using"))) is not None:
            bound.arguments["create_using"] = CLASSES[kind]._plain
        with nx.config(backend_priority=[]):
            G = function(*bound.args, **bound.kwargs)
        return convert_from_nx(G, preserve_edge_attrs=True, preserve_node_attrs=True, preserve_graph_attrs=True)

    run.__module__ = __name__
    implements(name=name, only={"create_using": class_of_networkx} if takes_class else None)(run)


CLASSIC = (
    *("cycle_graph", "wheel_graph", "ladder_graph", "circular_ladder_graph", "barbell_graph", "lollipop_graph"),
    *("tadpole_graph", "complete_multipartite_graph", "turan_graph", "caveman_graph", "connected_caveman_graph"),
    *("binomial_tree", "full_rary_tree", "balanced_tree", "circulant_graph", "grid_2d_graph", "hypercube_graph"),
    *("kneser_graph", "dorogovtsev_goltsev_mendes_graph", "windmill_graph", "ring_of_cliques"),
    *("bull_graph", "chvatal_graph", "cubical_graph", "desargues_graph", "diamond_graph", "dodecahedral_graph"),
    *("frucht_graph", "heawood_graph", "hoffman_singleton_graph", "house_graph", "house_x_graph"),
    *("icosahedral_graph", "krackhardt_kite_graph", "moebius_kantor_graph", "octahedral_graph", "pappus_graph"),
    *("petersen_graph", "sedgewick_maze_graph", "tetrahedral_graph", "truncated_cube_graph"),
    *("truncated_tetrahedron_graph", "tutte_graph", "karate_club_graph", "davis_southern_women_graph"),
    *("florentine_families_graph", "les_miserables_graph", "null_graph", "trivial_graph"),
)
for _name in CLASSIC:
    if _name in nx.utils.backends._registered_algorithms:
        _by_networkx(_name)


def _new(name: str, kind: type[Graph]) -> None:
    """Register a class: networkx calls its `__init__` next."""

    def run(cls, *args, **kwargs):
        return object.__new__(kind)

    def refuses(cls):
        return None if cls is kind._plain else "a class derived from networkx's, whose graphs can be changed"

    implements(name=name, refuses=refuses, gaps="classes derived from networkx's")(run)


for _name, _kind in (
    *(("graph__new__", Graph), ("digraph__new__", DiGraph)),
    *(("multigraph__new__", MultiGraph), ("multidigraph__new__", MultiDiGraph)),
):
    if _name in nx.utils.backends._registered_algorithms:  # since networkx 3.6
        _new(_name, _kind)
