"""Building graphs from edges in the order in which networkx's code would add them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from operator import eq
from typing import Any

import networkx as nx
import numpy as np
import torch
from torch import Tensor

import tgraph as tg
from tgraph.io.adjacency import Adjacency
from tgraph.io.columns import Column
from tgraph.kernels.operators.dicts import DTYPES, MISSING
from tgraph.networkx.caching import cached
from tgraph.networkx.functions._arcs import row_entries, row_of_arcs, rows
from tgraph.networkx.functions._nodes import known
from tgraph.networkx.graph import CLASSES, Graph

Columns = Mapping[Any, Column]


def build(
    directed: bool,
    nodes: Sequence[Any],
    source: Tensor,
    target: Tensor,
    *,
    multigraph: bool = False,
    edge_columns: Columns | None = None,
    node_columns: Columns | None = None,
    keys: np.ndarray | None = None,
    attributes: dict[Any, Any] | None = None,
) -> Graph:
    """The graph of these edges, no two alike unless it is a multigraph, in the order in which they are added.

    nodes : range(n) or a list. source, target : vertices, int64 [m]. edge_columns, keys : in the order of the edges.
    """
    n, count = len(nodes), len(source)
    edge = torch.arange(count)
    if not directed:
        edge = edge.repeat_interleave(2)
        ends = torch.stack((source, target), 1)
        source, target = ends.flatten(), ends.flip(1).flatten()
        once = torch.ones(2 * count, dtype=torch.bool)
        once[1::2] = source[1::2] != target[1::2]
        source, target, edge = source[once], target[once], edge[once]
    offset, neighbors, arcs, order = _rows(source, target, n)
    back_order = _rows(target, source, n)[3] if directed else None
    graph = tg.Graph(offset, neighbors, directed=directed)
    columns = taken(edge_columns or {}, edge[arcs])
    keys = None if keys is None else keys[edge[arcs].numpy()]
    tensors = Adjacency(graph, nodes, order, back_order, columns, node_columns or {}, keys)
    return CLASSES[directed, multigraph].of(tensors, attributes)


def _rows(row: Tensor, other: Tensor, n: int) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    """(offset, neighbors, arcs, order): the rows that ascend, which arcs they hold, and their order as added."""
    offset = torch.zeros(n + 1, dtype=torch.int64)
    offset[1:] = row.bincount(minlength=n).cumsum(0)
    arcs = (row * n + other).argsort(stable=True)
    place = torch.empty_like(arcs)
    place[arcs] = torch.arange(len(arcs))
    order = place[row.argsort(stable=True)]
    ascends = torch.equal(order, torch.arange(len(order)))
    return offset, other[arcs], arcs, None if ascends else order


@cached
def listed_edges(G: Graph) -> tuple[Tensor, Tensor, Tensor]:
    """(source, target, arc) of each edge in the order of `G.edges`; `arc` is its place among the columns."""
    source, target, arc = arcs_of(G)
    if G.is_directed():
        return source, target, arc
    once = target >= source
    return source[once], target[once], arc[once]


def arcs_of(G: Graph) -> tuple[Tensor, Tensor, Tensor]:
    """(source, target, arc) of each arc in networkx's order."""
    offset, neighbors = rows(G)
    arc = torch.arange(len(neighbors)) if G._tensors.order is None else G._tensors.order
    return row_of_arcs(offset), neighbors.to(torch.int64), arc


def first_of_each(source: Tensor, target: Tensor, n: int, directed: bool) -> tuple[Tensor, Tensor]:
    """(the places of first occurrences of edges, the number of the first occurrence of each edge)"""
    low, high = (source, target) if directed else (torch.minimum(source, target), torch.maximum(source, target))
    _, group = (low * n + high).unique(return_inverse=True)
    first = torch.full((int(group.max()) + 1 if len(group) else 0,), len(group))
    first.scatter_reduce_(0, group, torch.arange(len(group)), "amin")
    places = first.sort().values
    number = torch.empty_like(first)
    number[first.argsort()] = torch.arange(len(first))
    return places, number[group]


def merged(columns: Iterable[tuple[Columns, Tensor | None, Sequence[int]]], count: int) -> dict[Any, Column]:
    """Columns of `count` values out of several, given as (columns, positions in them, places in the result): later
    values prevail."""
    found: dict[Any, list[Any]] = {}
    for each, positions, places in columns:
        for name, column in each.items():
            values = found.setdefault(name, [MISSING] * count)
            taken = column if positions is None else column.take(positions)
            for place, value in zip(places, taken.tolist(), strict=True):
                if value is not MISSING:
                    values[place] = value
    return {name: column_of(values) for name, values in found.items()}


def column_of(values: list[Any]) -> Column:
    """A column of these values, some of them MISSING."""
    kinds = set(map(type, values))
    if len(kinds) == 1 and (dtype := DTYPES.get(kinds.pop())) is not None and all(map(eq, values, values)):
        try:
            return Column(torch.tensor(values, dtype=dtype))
        except (OverflowError, RuntimeError):  # an integer beyond int64 stays an object
            pass
    array = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):  # at once, numpy would take lists and tuples apart
        array[i] = value
    return Column(array)


def induced(G: Graph, nodes: Iterable[Any]) -> Graph:
    """As `G.subgraph(nodes).copy()`: with all attributes, nodes in the order in which networkx's view has them."""
    chosen = set(known(G, nodes))
    names = list(chosen)
    if 2 * len(chosen) < len(G):
        vertices = torch.tensor(G.labels.indices(chosen), dtype=torch.int64)
    else:
        vertices = torch.tensor([v for v, node in enumerate(G) if node in chosen], dtype=torch.int64)
        names = G.labels.of(vertices)
    source, target, arc = _arcs_within(G, vertices)
    if not G.is_directed():
        once = target >= source
        source, target, arc = source[once], target[once], arc[once]
    return rebuilt(G, compact(names), source, target, arc, vertices)


def rebuilt(
    G: Graph,
    nodes: Sequence[Any],
    source: Tensor,
    target: Tensor,
    arc: Tensor,
    vertices: Tensor | None = None,
    keys: np.ndarray | None = None,
) -> Graph:
    """A graph with the attributes of G, of the edges that are these arcs of it.

    nodes : the names of all vertices, or of the chosen `vertices`. source, target : numbers of these nodes. keys : of
    the edges, by default those that they have in G.
    """
    kept = G._tensors
    if keys is None and kept.keys is not None:
        keys = kept.keys[arc.numpy()]
    return build(
        G.is_directed(),
        nodes,
        source,
        target,
        multigraph=G.is_multigraph(),
        edge_columns=taken(kept.edge_columns, arc),
        node_columns=kept.node_columns if vertices is None else taken(kept.node_columns, vertices),
        keys=keys,
        attributes=dict(G.graph),
    )


def with_columns(G: Graph, columns: Columns) -> Graph:
    """The graph with further attributes of its nodes."""
    return type(G).of(replace(G._tensors, node_columns={**G._tensors.node_columns, **columns}), G.graph)


def taken(columns: Columns, places: Tensor) -> Columns:
    """The columns at some places."""
    return {name: column.take(places) for name, column in columns.items()}


def _arcs_within(G: Graph, vertices: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """(source, target, arc) of the arcs between these vertices, row by row, which are numbered as they stand here."""
    graph, order = G.structure.decoded(), G._tensors.order
    source, arc = row_entries(graph.offset, vertices)
    if order is not None:
        arc = order[arc]
    number = torch.from_numpy(np.zeros(len(G), dtype=np.int64))  # untouched pages are never allocated
    number[vertices] = torch.arange(1, len(vertices) + 1)
    target = number[graph.neighbors[arc].to(torch.int64)] - 1
    inside = target >= 0
    source, target, arc = source[inside], target[inside], arc[inside]
    if G.is_multigraph() and len(arc):
        source, target, arc = _as_views_of_multigraphs(G, vertices, source, target, arc)
    return source, target, arc


def _as_views_of_multigraphs(
    G: Graph, vertices: Tensor, source: Tensor, target: Tensor, arc: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """The arcs in the order of networkx's view: where a node has more than twice as many neighbours as there are
    `vertices`, in the order of these."""
    graph = G.structure.decoded()
    crowded = graph.offset[vertices + 1] - graph.offset[vertices] > 2 * len(vertices)
    for place in crowded.nonzero().flatten().tolist():
        v = int(vertices[place])
        row = graph.neighbors[int(graph.offset[v]) : int(graph.offset[v + 1])]
        crowded[place] = len(row.unique()) > 2 * len(vertices)
    if not bool(crowded.any()):
        return source, target, arc
    order = (source * len(vertices) + torch.where(crowded[source], target, 0)).argsort(stable=True)
    return source[order], target[order], arc[order]


def compact(nodes: list[Any]) -> Sequence[Any]:
    """range(n) where the nodes are these numbers."""
    numbers = range(len(nodes))
    return numbers if all(type(node) is int for node in nodes) and nodes == list(numbers) else nodes


def class_of_networkx(create_using: Any) -> bool:
    """True where networkx's `create_using` is a class of networkx's or ours, or None."""
    return kind_of(create_using) is not None


def kind_of(create_using: Any, default: type[nx.Graph] = nx.Graph) -> tuple[bool, bool] | None:
    """(directed, multigraph) of networkx's `create_using` where it is a class of networkx's or ours, else None."""
    plain = default if create_using is None else create_using
    for (directed, multigraph), cls in CLASSES.items():
        if plain is cls or plain is cls._plain:
            return directed, multigraph
    return None
