"""Subgraphs of PyTorch Geometric's data by lists of vertices, from edges sorted once."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor
from torch_geometric.utils import select

from tgraph.core.building import sorting
from tgraph.core.csr import Csr
from tgraph.core.rows import offset_of
from tgraph.sampling.relations import Arcs


def rows_of(edge_index: Tensor, num_rows: int, num_columns: int) -> Arcs:
    """The edges by source: rows of targets, with the number of each edge; on the CPU."""
    source, target = edge_index.cpu()
    if num_rows == num_columns:
        offset, neighbors, number = sorting.sort_edges(source, target, num_rows, permutation=True)
    else:
        number = sorting.lexical_order(source, target, max(num_rows, num_columns))
        offset, neighbors = offset_of(source.bincount(minlength=num_rows)), target[number]
    return Arcs.of(Csr(offset, neighbors, number, num_columns), "in", False, None, None, "edge_index")


def edges_between(arcs: Arcs, sources: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    """The edges between two lists of vertices, in the order of the data: (edge_index of positions, numbers)."""
    column, row, arc = arcs.between(targets, sources)
    number = arcs.numbered(arc)
    number, order = number.sort()
    return torch.stack((row[order], column[order])), number


def subgraph(data: Any, rows: dict[Any, Arcs], chosen: dict[Any, Tensor]) -> Any:
    """As `data.subgraph`: the `chosen` vertices, by type, with all edges between them.

    rows : the edges by source, by type; the key of homogeneous data is None.
    """
    out = copy.copy(data)
    for store in data.stores:
        key = store._key
        copied = out._store if key is None and key in chosen else None if key is None else out[key]
        if copied is None:
            continue
        edge_index = edges = None
        if key in rows:
            first, last = (key[0], key[-1]) if isinstance(key, tuple) else (None, None)
            edge_index, edges = edges_between(rows[key], chosen[first], chosen[last])
        _fill(copied, store, chosen.get(key), edge_index, edges)
    return out


def _fill(copied: Any, store: Any, vertices: Tensor | None, edge_index: Tensor | None, edges: Tensor | None) -> None:
    for key, value in store.items():
        if key == "edge_index" and edge_index is not None:
            copied[key] = edge_index.to(value.device)
        elif key == "num_nodes" and vertices is not None:
            copied[key] = len(vertices)
        elif vertices is not None and store.is_node_attr(key):
            copied[key] = _selected(store, key, value, vertices)
        elif edges is not None and store.is_edge_attr(key):
            copied[key] = _selected(store, key, value, edges)


def _selected(store: Any, key: str, value: Any, index: Tensor) -> Any:
    index = index.to(value.device) if isinstance(value, Tensor) else index
    return select(value, index, dim=store._parent().__cat_dim__(key, value, store))
