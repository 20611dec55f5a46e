"""Graphs from matrices, frames, lists and dicts, and back."""

from __future__ import annotations

from itertools import chain
from typing import Any

import networkx as nx
import numpy as np
import torch
from torch import Tensor

from tgraph.io.columns import Column
from tgraph.networkx.functions._building import (
    Graph,
    build,
    class_of_networkx,
    column_of,
    compact,
    first_of_each,
    kind_of,
    with_columns,
)
from tgraph.networkx.functions._nodes import numbers
from tgraph.networkx.registry import implements


def from_edges(
    create_using: Any,
    nodes: list[Any],
    source: Tensor,
    target: Tensor,
    values: Any = None,
    attribute: Any = None,
) -> Graph:
    """The graph of these edges, the last value where edges of a simple graph are alike."""
    kind = kind_of(create_using)
    assert kind is not None
    directed, multigraph = kind
    first = torch.arange(len(source))
    if not multigraph:
        first, group = first_of_each(source, target, len(nodes), directed)
        if values is not None:
            last = torch.zeros(len(first), dtype=torch.int64)
            last.scatter_reduce_(0, group, torch.arange(len(group)), "amax")
            values = [values[i] for i in last.tolist()]
    columns = {} if values is None or not len(first) else {attribute: column_of(list(values))}
    return build(directed, compact(nodes), source[first], target[first], multigraph=multigraph, edge_columns=columns)


@implements(only={"create_using": class_of_networkx, "parallel_edges": False})
def from_scipy_sparse_array(A, parallel_edges=False, create_using=None, edge_attribute="weight"):
    rows, columns = A.shape
    if rows != columns:
        raise nx.NetworkXError(f"Adjacency matrix not square: nx,ny={A.shape}")
    entries = A.tocoo()
    source, target, values = entries.row, entries.col, entries.data
    if kind_of(create_using) == (False, True):
        upper = source <= target
        source, target, values = source[upper], target[upper], values[upper]
    u, v = (torch.from_numpy(np.array(end, dtype=np.int64)) for end in (source, target))
    return from_edges(create_using, list(range(rows)), u, v, values.tolist(), edge_attribute)


def _one_attribute(edge_attr):
    return edge_attr is not True and not isinstance(edge_attr, (list, tuple))


@implements(only={"create_using": class_of_networkx, "edge_attr": _one_attribute, "edge_key": None})
def from_pandas_edgelist(df, source="source", target="target", edge_attr=None, create_using=None, edge_key=None):
    if edge_attr is not None and edge_attr not in df.columns:
        raise nx.NetworkXError(f"Invalid edge_attr argument: {edge_attr}")
    index: dict[Any, int] = {}
    pairs = zip(df[source].tolist(), df[target].tolist(), strict=True)
    ends = [index.setdefault(node, len(index)) for node in chain.from_iterable(pairs)]
    places = torch.tensor(ends, dtype=torch.int64)
    values = None if edge_attr is None else df[edge_attr].tolist()
    return from_edges(create_using, list(index), places[0::2], places[1::2], values, edge_attr)


def _class_with_an_edge_in_one_list(create_using):
    """True where an edge is in one list: not one of an undirected multigraph, which is in two."""
    return kind_of(create_using) not in (None, (False, True))


@implements(only={"create_using": _class_with_an_edge_in_one_list})
def from_dict_of_lists(d, create_using=None):
    index: dict[Any, int] = {node: i for i, node in enumerate(d)}
    source = torch.tensor([index[node] for node, others in d.items() for _ in others], dtype=torch.int64)
    places = [index.setdefault(node, len(index)) for others in d.values() for node in others]
    return from_edges(create_using, list(index), source, torch.tensor(places, dtype=torch.int64))


@implements()
def to_dict_of_lists(G, nodelist=None):
    if nodelist is None:
        return {node: list(row) for node, row in G._adj.items()}
    numbers(G, nodelist)
    return {node: [other for other in G._adj[node] if other in nodelist] for node in nodelist}


def _refuses_counts(A, create_using):
    counts = create_using is not None and A.dtype.kind in "iu" and (kind_of(create_using) or (0, 0))[1]
    return "a multigraph of whole numbers" if counts else None


@implements(
    only={"create_using": class_of_networkx, "row_order": None, "column_order": None},
    refuses=_refuses_counts,
    gaps="multigraphs of whole numbers",
)
def from_biadjacency_matrix(A, create_using=None, edge_attribute="weight", *, row_order=None, column_order=None):
    rows, columns = A.shape
    entries = A.tocsr().tocoo()
    u, v = (torch.from_numpy(np.array(end, dtype=np.int64)) for end in (entries.row, entries.col))
    found = from_edges(create_using, list(range(rows + columns)), u, v + rows, entries.data.tolist(), edge_attribute)
    side = Column(torch.tensor([0] * rows + [1] * columns))
    return with_columns(found, {"bipartite": side})
