"""Calls on networkx's own graphs that pay: constants that `python -m bench.networkx` measured, and the rule.

Each function has a class of cost, that of networkx's own code, or several by the arguments that are given:

    "local"        looks at the neighbourhoods of some nodes only: networkx is quicker, unless the call names many
    "light"        at most passes over the graph once: cheaper than a conversion, so that it pays on converted graphs
    "linear"       passes over the graph several times, or with a costly step for each edge
    "superlinear"  costs more for each edge the more edges there are

A call pays from a size on, its nodes and arcs added, which is smaller where networkx has the converted graph in its
cache. Calls with graphs of `tgraph.networkx` always run here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import networkx as nx

import tgraph as tg
from tgraph.networkx.graph import Graph

COSTS = ("local", "light", "linear", "superlinear")

CONVERTED = {"light": 6_000, "linear": 2_000, "superlinear": 2_000}
UNCONVERTED = {"linear": 20_000, "superlinear": 6_000}
MANY = 100, 1 / 20  # nodes or pairs that a local call names, at least, and for each node of the graph

# On smaller graphs and busy processors torch's threads wait for each other longer than they compute.
ONE_THREAD = 200_000


def declined(cost: str, part: Any, weight: Any, graphs: Sequence[Any]) -> str | None:
    """The reason why a call is as quick in networkx, or None.

    part : what makes a call local, as given; None where all of the graph counts. weight : the attribute that the call
    takes from the edges.
    """
    if cost == "local" and not _names_many(part, graphs):
        return "networkx looks at a few nodes only, which is as quick"
    found = [converted(graph, weight) for graph in graphs]
    least = CONVERTED["light" if cost == "local" else cost]
    what = "a call is as quick in networkx"
    if None in found:
        if cost not in UNCONVERTED:
            return "converting the graph takes longer than the call"
        least, what = UNCONVERTED[cost], "converting it takes longer than the call"
    if all(_is_smaller(held or graph, least) for held, graph in zip(found, graphs, strict=True)):
        return f"the graph has less than {least:,} nodes and arcs: {what}"
    return None


def _names_many(part: Any, graphs: Sequence[Any]) -> bool:
    least, share = MANY
    return hasattr(part, "__len__") and len(part) >= max(least, share * max(map(len, graphs), default=0))


def converted(graph: Any, weight: Any = None) -> Graph | None:
    """The converted graph in networkx's cache, with this attribute of the edges; None without one."""
    if isinstance(graph, Graph):
        return graph
    cache: Mapping[str, Any] = getattr(graph, "__networkx_cache__", None) or {}
    for key, held in cache.get("backends", {}).get("tgraph", {}).items():
        if isinstance(held, Graph) and (weight is None or _has(key[0], weight)):
            return held
    return None


def _has(attributes: Any, weight: Any) -> bool:
    """True where a key of networkx's cache, True or pairs of attributes and defaults, has an attribute."""
    return attributes is True or (attributes is not False and any(name == weight for name, _ in attributes))


def _is_smaller(graph: nx.Graph, least: int) -> bool:
    if isinstance(graph, Graph):
        arcs = graph.structure
        return arcs.num_vertices + arcs.num_arcs < least
    return len(graph) < least and len(graph) + sum(map(len, graph._adj.values())) < least


def threads_for(graph: Any, is_local: bool = False) -> AbstractContextManager[None]:
    """A `with` block with the number of threads of torch that pays on a graph, or on another argument. `is_local` : the
    call looks at the neighbourhoods of some nodes only."""
    small = isinstance(graph, nx.Graph) and (is_local or _is_smaller(graph, ONE_THREAD))
    return tg.one_torch_thread() if small else nullcontext()
