"""The feature store of PyTorch Geometric over a BlockStore."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric import data as pyg
from torch_geometric.data.feature_store import _FieldStatus

from tgraph.errors import ArgumentError, RowError
from tgraph.stores.blocks import BlockStore, Stat, checked_store, read, read_many, repeated
from tgraph.stores.memory import MemoryStore
from tgraph.stores.names import from_key, to_key

_FOLDER = "features"
EDGES = ("", "to", "")  # the group of edge features of a homogeneous graph, with edge type None


class TensorAttr(pyg.TensorAttr):
    """`torch_geometric.data.TensorAttr`, equal by fields, with arrays as indices."""

    def is_set(self, key: str) -> bool:
        """Whether a field is set."""
        return getattr(self, key) is not _FieldStatus.UNSET

    def __eq__(self, other: object) -> bool:
        return isinstance(other, pyg.TensorAttr) and vars(self) == vars(other)


class FeatureStore(pyg.FeatureStore):
    """`torch_geometric.data.FeatureStore` over a BlockStore: features of vertices and of edges.

    A group is a type of vertices, None in a homogeneous graph, or of edges, `EDGES` in a homogeneous graph; features of
    edges are in the order of the edges in the graph store. An index is a tensor, an array, a slice, a number or None
    for all. A put with None replaces the tensor; a put with an index changes some rows, or defines all rows of a new
    tensor in that order. Rows are changed by reading and replacing the tensor, repeated where another writer has
    replaced it meanwhile: concurrent changes are never lost.

    store : by default in memory.
    Raises KeyError for a tensor that is not stored, RowError for rows out of range, ArgumentError, before anything is
    written, for names, dtypes and shapes that do not fit.

    >>> from tgraph.stores import DiskStore, FeatureStore
    >>> features = FeatureStore(DiskStore("folder"))
    >>> features["paper", "x", None] = torch.arange(6.0).view(3, 2)
    >>> features["paper", "x", torch.tensor([2, 0])]
    tensor([[4., 5.],
            [0., 1.]])
    """

    def __init__(self, store: BlockStore | None = None):
        super().__init__(TensorAttr)
        self.__dict__["store"] = MemoryStore() if store is None else checked_store(store)

    def _put_tensor(self, tensor: Any, attr: pyg.TensorAttr) -> bool:
        key = _key(attr)
        given = torch.from_numpy(tensor) if isinstance(tensor, np.ndarray) else tensor
        if _is_all(attr.index):
            self.store.put(key, given)
        else:
            repeated(key, lambda: self._put_rows(key, given, attr.index))
        return True

    def _get_tensor(self, attr: pyg.TensorAttr) -> Tensor:
        return self._multi_get_tensor([attr])[0]

    def _multi_get_tensor(self, attrs: list[pyg.TensorAttr]) -> list[Tensor]:
        """Several tensors, in one request to the store."""
        indices = [_plain(attr.index) for attr in attrs]
        selects = [functools.partial(places, index) for index in indices]
        found = read_many(self.store, list(zip(map(_key, attrs), selects, strict=True)))
        for attr, each in zip(attrs, found, strict=True):
            if each is None:
                raise KeyError(f"no tensor {attr.attr_name!r} of {attr.group_name!r} is stored, in {self.store!r}")
        rows = [each[1] for each in found if each is not None]
        return [each[0] if isinstance(index, int) else each for index, each in zip(indices, rows, strict=True)]

    def _remove_tensor(self, attr: pyg.TensorAttr) -> bool:
        return self.store.delete(_key(attr))

    def update_tensor(self, tensor: Any, *args: Any, **kwargs: Any) -> bool:
        """Replace a tensor by `tensor`, atomically. `args` and `kwargs` name it, as in `put_tensor`.

        >>> from tgraph.stores import FeatureStore
        >>> features = FeatureStore()
        >>> features["paper", "x", None] = torch.zeros(3, 2)
        >>> features.update_tensor(torch.ones(3, 2), group_name="paper", attr_name="x", index=None)
        True
        >>> features["paper", "x", None].sum()
        tensor(6.)
        """
        return self.put_tensor(tensor, *args, **kwargs)

    def _get_tensor_size(self, attr: pyg.TensorAttr) -> tuple[int, ...] | None:
        stat = self.store.stat(_key(attr))
        if stat is None:
            return None
        return torch.Size(stat.shape) if _is_all(attr.index) else self._get_tensor(attr).shape

    def get_all_tensor_attrs(self) -> list[TensorAttr]:
        """All tensors except `EDGES`, since loaders take them for features of vertices.

        >>> from tgraph.stores import FeatureStore
        >>> features = FeatureStore()
        >>> features["paper", "x", None] = torch.zeros(3, 2)
        >>> [(attr.group_name, attr.attr_name) for attr in features.get_all_tensor_attrs()]
        [('paper', 'x')]
        """
        names = map(from_key, self.store.keys(f"{_FOLDER}/"))
        return [TensorAttr(group, name) for _, group, name in names if group != EDGES]

    def edge_attributes(self, edge_type: tuple[str, str, str] | None) -> list[TensorAttr]:
        """The tensors of edges of the type `edge_type`, None for a homogeneous graph.

        >>> from tgraph.stores import EDGES, FeatureStore
        >>> features = FeatureStore()
        >>> features[EDGES, "weight", None] = torch.zeros(7)
        >>> [attr.attr_name for attr in features.edge_attributes(None)]
        ['weight']
        """
        group = EDGES if edge_type is None else edge_type
        beginning = f"{to_key(_FOLDER, group)}/"
        return [TensorAttr(group, from_key(key)[-1]) for key in self.store.keys(beginning)]

    def _put_rows(self, key: str, rows: Any, index: Any) -> None:
        """Change the rows at `index` of the stored tensor, or store all rows of a new one in that order. Raises
        ReplacedError after a concurrent put."""
        found = read(self.store, key)
        if found is None:
            self.store.put(key, _in_order(key, rows, index))
            return
        stat, changed = found[0], found[1].clone()
        place = places(index, stat.shape[0])
        assert place is not None
        if isinstance(index, int):
            rows = torch.as_tensor(rows).unsqueeze(0)
        _check_rows(stat, rows, len(place))
        changed[place] = rows
        self.store.put(key, changed, stat.notes, replacing=stat)


def _key(attr: pyg.TensorAttr) -> str:
    return to_key(_FOLDER, attr.group_name, attr.attr_name)


def _plain(index: Any) -> Any:
    """A single number as int."""
    is_number = isinstance(index, np.integer) or (isinstance(index, Tensor) and index.ndim == 0)
    return int(index) if is_number else index


def _is_all(index: Any) -> bool:
    return index is None or (isinstance(index, slice) and index == slice(None))


def _in_order(key: str, rows: Any, index: Any) -> Tensor:
    """The rows of a new tensor, given in the order `index`."""
    place = torch.as_tensor(index) if isinstance(index, (Tensor, np.ndarray, list)) else None
    if place is None or place.ndim != 1 or not torch.equal(place.sort().values, torch.arange(len(rows))):
        raise ArgumentError(f"{key}: no tensor is stored to change rows of; put all rows first")
    return torch.empty_like(rows).index_copy_(0, place.long(), rows)


def _check_rows(stat: Stat, rows: Any, count: int) -> None:
    shape = (count, *stat.shape[1:])
    if not isinstance(rows, Tensor) or rows.dtype != stat.dtype or tuple(rows.shape) != shape:
        got = f"{rows.dtype} {list(rows.shape)}" if isinstance(rows, Tensor) else type(rows).__name__
        raise ArgumentError(f"{stat.key}: expected {stat.dtype} {list(shape)} as it is stored, got {got}")


def places(index: Any, size: int) -> Tensor | None:
    """An index of a tensor of `size` rows as row numbers from 0, int64 [k]; None for all. Raises RowError for rows out
    of range, and for indices of other kinds."""
    if _is_all(index):
        return None
    if isinstance(index, slice):
        start, stop, step = index.indices(size)
        if step > 0:
            return torch.arange(start, max(start, stop), step)
    fault = RowError(f"index: expected [k] whole numbers, a mask, a slice upwards or None, got {index!r}")
    if not isinstance(index, (int, list, Tensor, np.ndarray)):
        raise fault
    found = torch.as_tensor([index] if isinstance(index, int) else index)
    if found.dtype == torch.bool and tuple(found.shape) == (size,):
        return found.nonzero().view(-1).cpu()
    if found.ndim != 1 or found.dtype not in (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8):
        raise fault
    found = found.to("cpu", torch.int64)
    if len(found):
        low, high = torch.aminmax(found)
        if int(low) < -size or int(high) >= size:
            raise RowError(f"index: {int(low)} to {int(high)} of {size} rows")
        if int(low) < 0:
            found = torch.where(found < 0, found + size, found)
    return found
