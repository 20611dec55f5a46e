"""Nodes and vertices: one from the other, and results by node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np
import torch
from torch import Tensor

from tgraph.core.building.validate import are_below
from tgraph.kernels.operators.dicts import MISSING
from tgraph.networkx.nodes import NoNode

FEW = 16  # nodes that are looked up one by one in less time than an operation on tensors takes


def names(G: Any, vertices: Tensor | list[int]) -> list[Any]:
    """The nodes of vertices, as they were given."""
    if not G._given:
        return G.labels.of(vertices)
    found = list(vertices.tolist() if isinstance(vertices, Tensor) else vertices)
    given = [(i, G._given[v]) for i, v in enumerate(found) if v in G._given]
    found = list(G.labels.of(found))
    for i, node in given:
        found[i] = node
    return found


def number(G: Any, node: Any) -> int:
    """The vertex of a node. Raises NoNode for another object."""
    try:
        return G.labels.index(node)
    except (KeyError, TypeError):
        raise NoNode(f"The node {node} is not in the {'di' * G.is_directed()}graph.") from None


def numbers(G: Any, nodes: Iterable[Any]) -> Tensor:
    """The vertices of nodes, int64 [k]. Raises NoNode for another object."""
    nodes = _listed(nodes)
    try:
        labels = G.labels
        if isinstance(labels.names, range) and len(nodes) > FEW and set(map(type, nodes)) == {int}:
            found = _tensor(nodes)
            if are_below(found, len(labels)):
                return found
        return _tensor(labels.indices(nodes))
    except (KeyError, TypeError, ValueError, OverflowError):  # no node, or no int64
        return torch.tensor([number(G, node) for node in nodes], dtype=torch.int64)


def _tensor(numbers: list[int]) -> Tensor:
    return torch.from_numpy(np.array(numbers, dtype=np.int64))  # which takes a third of the time of torch.tensor


def _listed(nodes: Iterable[Any]) -> list[Any]:
    try:
        return list(nodes)
    except TypeError as fault:
        raise NoNode(str(fault)) from fault


def python_sums(values: Tensor) -> list[Any]:
    """Sums as Python's `sum` gives them: without a summand the integer 0."""
    found = values.tolist()
    for place in (values == 0).nonzero().flatten().tolist():
        found[place] = 0
    return found


def by_node(G: Any, values: Any, vertices: Tensor | list[int] | None = None) -> dict[Any, Any]:
    """The result of each vertex, or of each of some vertices, by node."""
    nodes = G.labels.names if vertices is None else names(G, vertices)
    return dict(zip(nodes, values if isinstance(values, list) else values.tolist(), strict=True))


def answer(G: Any, nodes: Any, vertices: Tensor, values: list[Any]) -> Any:
    """The results of the vertices of `nodes`, by node, or the only one if `nodes` is a node."""
    return values[0] if nodes is not None and nodes in G else by_node(G, values, vertices)


def node_values(G: Any, attribute: Any, default: Any) -> list[Any]:
    """The values of an attribute of the nodes, `default` for a node without one."""
    column = G.node_column(attribute)
    if column is None:
        return [default] * len(G)
    return [default if value is MISSING else value for value in column.tolist()]


def node_pairs(G: Any, source: Tensor, target: Tensor) -> Iterator[tuple[Any, Any]]:
    """The nodes of pairs of vertices."""
    return zip(names(G, source), names(G, target), strict=True)


def slices(items: list[Any], ends: Iterable[int]) -> Iterator[list[Any]]:
    """Consecutive parts of a list, each up to one of the `ends`."""
    return (items[begin:end] for begin, end in pairwise([0, *ends]))


def chain(above: Any, v: int) -> list[int]:
    """A vertex and its ancestors; `above` has the parent of each vertex, -1 for a root."""
    path = []
    while v >= 0:
        path.append(v)
        v = int(above[v])
    return path


def nodes_in(G: Any, mask: Tensor) -> list[Any]:
    """The nodes of the vertices in a mask."""
    return names(G, mask.nonzero().flatten())


def bunch(G: Any, nodes: Any) -> Tensor:
    """The vertices of `nodes`, int64 [k], all for None; other objects are skipped."""
    if nodes is None:
        return torch.arange(len(G))
    if isinstance(nodes, (list, set)):
        try:
            return numbers(G, nodes)
        except NoNode:  # some objects are no nodes
            pass
    try:
        return torch.tensor([G.labels.index(node) for node in G.nbunch_iter(nodes)], dtype=torch.int64)
    except nx.NetworkXError as fault:
        raise NoNode(str(fault)) from fault


def known(G: Any, nodes: Iterable[Any]) -> list[Any]:
    """The `nodes` that are in the graph. Raises NoNode for an object without a hash, and for `nodes`
    that cannot be iterated."""
    try:
        return [node for node in nodes if node in G.labels]
    except TypeError as fault:
        raise NoNode(str(fault)) from fault


def mask(G: Any, nodes: Iterable[Any]) -> Tensor:
    """Mask of the vertices of `nodes`, bool [n]; other objects are skipped."""
    return marked(G, chosen(G, nodes))


def marked(G: Any, vertices: Tensor) -> Tensor:
    """Mask of these vertices, bool [n]."""
    found = torch.from_numpy(np.zeros(len(G), dtype=bool))  # untouched pages are never allocated, unlike with torch
    found[vertices] = True
    return found


def chosen(G: Any, nodes: Iterable[Any]) -> Tensor:
    """The vertices of `nodes`, each once, in ascending order; other objects are skipped."""
    nodes = _listed(nodes)
    try:
        return numbers(G, nodes).unique()
    except NoNode:
        return numbers(G, known(G, nodes)).unique()
