"""The graph store of PyTorch Geometric over a BlockStore."""

from __future__ import annotations

import json
from typing import Any

import torch
from torch import Tensor
from torch_geometric import data as pyg
from torch_geometric.data import EdgeAttr
from torch_geometric.data.graph_store import EdgeLayout

from tgraph.errors import ArgumentError
from tgraph.sampling.in_store import StoreRows
from tgraph.stores.blocks import BlockStore, Stat, checked_store, read
from tgraph.stores.memory import MemoryStore
from tgraph.stores.names import from_key, to_key

_FOLDER = "edges"


class GraphStore(pyg.GraphStore):
    """`torch_geometric.data.GraphStore` over a BlockStore: edges by type and layout.

    A type of edges is (source, relation, destination), a name, or None in a homogeneous graph. COO is (row, col), CSR
    (rowptr, col), CSC (row, colptr); loaders sample from CSC without sorting. A put replaces the type's tensor.

    store : by default in memory. in_store : whether loaders of `tgraph.pyg` read the arcs of each hop from the store,
        where all edges are stored as CSC and neither weights nor times are asked for; by default they read all edges
        at first, which files map into memory.
    Raises KeyError for edges that are not stored, and ArgumentError, before anything is written, for names, dtypes,
    shapes, and ends out of range by the `size`.

    >>> from tgraph.stores import DiskStore, GraphStore
    >>> edges = GraphStore(DiskStore("folder"))
    >>> row, col = torch.tensor([0, 0, 1]), torch.tensor([1, 2, 2])
    >>> edges[("paper", "cites", "paper"), "coo", False, (3, 3)] = row, col
    >>> edges[("paper", "cites", "paper"), "coo"]
    (tensor([0, 0, 1]), tensor([1, 2, 2]))
    """

    def __init__(self, store: BlockStore | None = None, in_store: bool = False):
        super().__init__()
        self.__dict__["in_store"] = in_store
        self.__dict__["store"] = MemoryStore() if store is None else checked_store(store)

    def _put_edge_index(self, edge_index: Any, edge_attr: EdgeAttr) -> bool:
        first, second = _pair(edge_index, edge_attr)
        size = _checked_size(first, second, edge_attr)
        notes = {"split": str(len(first)), "sorted": json.dumps(edge_attr.is_sorted), "size": json.dumps(size)}
        self.store.put(_key(edge_attr), torch.cat((first, second)), notes)
        return True

    def _get_edge_index(self, edge_attr: EdgeAttr) -> tuple[Tensor, Tensor] | None:
        found = read(self.store, _key(edge_attr))
        if found is None:
            return None
        size = _size(found[0])
        if size is not None and edge_attr.size is not None and tuple(edge_attr.size) != size:
            return None
        split = int(found[0].notes["split"])
        return found[1][:split], found[1][split:]

    def rows(self, edge_type: Any = None) -> StoreRows:
        """The edges of a type, stored as CSC, for `tgraph.sampling.NeighborSampler`, which reads the arcs of each hop
        from the store; only the offsets are in memory.

        edge_type : as in `put_edge_index`. Raises KeyError for edges that are not stored as CSC.

        >>> edges = tg.stores.GraphStore(tg.stores.DiskStore("folder"))
        >>> edges[None, "csc", True, (3, 3)] = torch.tensor([1, 2, 0]), torch.tensor([0, 2, 3, 3])
        >>> tg.sampling.NeighborSampler(edges.rows(), [-1]).sample([0]).node
        tensor([0, 1, 2])
        """
        key = to_key(_FOLDER, edge_type, EdgeLayout.CSC.value)
        stat = self.store.stat(key)
        if stat is None:
            raise KeyError(f"{key}: no such edges; put them as CSC, (row, colptr)")
        split, size = int(stat.notes["split"]), _size(stat)
        return StoreRows(self.store, stat, split, stat.shape[0] - split - 1 if size is None else size[0])

    def _remove_edge_index(self, edge_attr: EdgeAttr) -> bool:
        return self.store.delete(_key(edge_attr))

    def get_all_edge_attrs(self) -> list[EdgeAttr]:
        """All stored types and layouts.

        >>> from tgraph.stores import GraphStore
        >>> edges = GraphStore()
        >>> edges[None, "coo", False, (3, 3)] = torch.tensor([0, 0, 1]), torch.tensor([1, 2, 2])
        >>> [(attr.layout.value, attr.size) for attr in edges.get_all_edge_attrs()]
        [('coo', (3, 3))]
        """
        found = []
        for stat in map(self.store.stat, self.store.keys(f"{_FOLDER}/")):
            if stat is not None:
                _, kind, layout = from_key(stat.key)
                found.append(EdgeAttr(kind, layout, json.loads(stat.notes["sorted"]), _size(stat)))
        return found


def _key(attr: EdgeAttr) -> str:
    return to_key(_FOLDER, attr.edge_type, attr.layout.value)


def _size(stat: Stat) -> tuple[int, int] | None:
    found = json.loads(stat.notes["size"])
    return None if found is None else (found[0], found[1])


def _pair(edge_index: Any, attr: EdgeAttr) -> tuple[Tensor, Tensor]:
    """The two tensors on the CPU. Raises ArgumentError for unequal or other dtypes, and shapes that do not fit."""
    name = f"edges {attr.edge_type!r}"
    if len(edge_index) != 2 or not all(isinstance(part, Tensor) for part in edge_index):
        raise ArgumentError(f"{name}: expected two tensors")
    first, second = (part.detach().cpu() for part in edge_index)
    if first.dtype != second.dtype or first.dtype not in (torch.int64, torch.int32):
        raise ArgumentError(f"{name}: expected int64 or int32 twice, got {first.dtype} and {second.dtype}")
    if first.ndim != 1 or second.ndim != 1 or (attr.layout == EdgeLayout.COO and len(first) != len(second)):
        shapes = f"{list(first.shape)} and {list(second.shape)}"
        raise ArgumentError(f"{name}: expected [m] and [m], or offsets [n + 1], got {shapes}")
    return first, second


def _checked_size(first: Tensor, second: Tensor, attr: EdgeAttr) -> tuple[int, int] | None:
    """The numbers of vertices at both ends, inferred in a homogeneous graph; None if unknown. Raises ArgumentError for
    edges that do not fit them, or not `is_sorted`."""
    ends, size, name = [first, second], attr.size, f"edges {attr.edge_type!r}"
    found = [0, 0]
    for side, layout in enumerate((EdgeLayout.CSR, EdgeLayout.CSC)):
        if attr.layout == layout:
            found[side] = _rows(ends[side], ends[1 - side], name)
        elif len(ends[side]):
            low, high = torch.aminmax(ends[side])
            if int(low) < 0:
                raise ArgumentError(f"{name}: {int(low)} is no vertex")
            found[side] = int(high) + 1
    for side, layout in enumerate((EdgeLayout.CSR, EdgeLayout.CSC)):
        if size is not None and (found[side] > size[side] or (attr.layout == layout and found[side] != size[side])):
            raise ArgumentError(f"{name}: size is {tuple(size)}, but they have {found[side]} on side {side}")
    if attr.layout == EdgeLayout.COO and attr.is_sorted and bool((second[1:] < second[:-1]).any()):
        raise ArgumentError(f"{name}: is_sorted, but the destinations do not ascend")
    if size is not None:
        return int(size[0]), int(size[1])
    return (max(found), max(found)) if attr.edge_type is None and attr.layout == EdgeLayout.COO else None


def _rows(offset: Tensor, ends: Tensor, name: str) -> int:
    """The number of rows. Raises ArgumentError unless the offsets ascend from 0 to the number of edges."""
    if not len(offset) or int(offset[0]) or int(offset[-1]) != len(ends) or bool((offset[1:] < offset[:-1]).any()):
        raise ArgumentError(f"{name}: offsets ascend from 0 to the number of edges, {len(ends)}")
    return len(offset) - 1
