"""Original ids of vertices, text or integers, numbered for tensors."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from tgraph.errors import ArgumentError
from tgraph.io.labels import unpack
from tgraph.stores.blocks import BlockStore, read
from tgraph.stores.names import to_key

if TYPE_CHECKING:
    import pyarrow

_FOLDER = "ids"


class Ids:
    """A dictionary of original ids, numbered in the order of first occurrence, shared by tables of the same vertices.

    >>> from tgraph import stores
    >>> ids = stores.Ids()
    >>> ids.add(["ann", "bob", "ann"])
    tensor([0, 1, 0])
    >>> ids.numbers(["bob"]), ids.of([1, 0])
    (tensor([1]), ['bob', 'ann'])
    """

    def __init__(self) -> None:
        self._values: Any = None  # a pyarrow array of int64 or large_string

    def __len__(self) -> int:
        return 0 if self._values is None else len(self._values)

    def __repr__(self) -> str:
        return f"Ids({len(self)} of {'nothing' if self._values is None else self._values.type})"

    def add(self, ids: Any) -> Tensor:
        """The numbers of `ids` [n], a column of pyarrow, an array or a list, int64 [n]; new ones are appended. Raises
        ArgumentError for missing values, and for ids that are neither text nor integers, or not of the same type.

        >>> from tgraph import stores
        >>> ids = stores.Ids()
        >>> ids.add([700, 3, 700])
        tensor([0, 1, 0])
        >>> ids.add([8, 3])
        tensor([2, 1])
        """
        column = self._checked(ids)
        numbers = self._looked_up(column)
        if numbers.null_count:
            import pyarrow as pa

            new = column.filter(numbers.is_null()).unique()
            held = [] if self._values is None else [self._values]
            self._values = pa.concat_arrays([*held, new])
            numbers = self._looked_up(column)
        return torch.from_numpy(numbers.to_numpy().astype(np.int64))

    def numbers(self, ids: Any, unknown: int | None = None) -> Tensor:
        """The numbers of `ids` [n] as in `add`, new ids get `unknown`. Raises ArgumentError for new ids if it is None.

        >>> from tgraph import stores
        >>> ids = stores.Ids()
        >>> numbers = ids.add(["ann", "bob"])
        >>> ids.numbers(["bob", "eve"], unknown=-1)
        tensor([ 1, -1])
        """
        column = self._checked(ids)
        numbers = self._looked_up(column)
        if numbers.null_count and unknown is None:
            row = numbers.is_null().index(True).as_py()
            raise ArgumentError(f"ids: row {row} has {column[row].as_py()!r}, not among the {len(self)} known ids")
        return torch.from_numpy(numbers.fill_null(unknown or 0).to_numpy().astype(np.int64))

    def of(self, numbers: Any) -> list[Any]:
        """The ids of `numbers` [n]. Raises ArgumentError for a number out of range.

        >>> from tgraph import stores
        >>> ids = stores.Ids()
        >>> numbers = ids.add(["ann", "bob"])
        >>> ids.of([1, 1])
        ['bob', 'bob']
        """
        import pyarrow as pa

        index = torch.as_tensor(numbers).to(torch.int64)
        wrong = (index < 0) | (index >= len(self))
        if bool(wrong.any()):
            raise ArgumentError(f"numbers: {int(index[wrong][0])} is none of 0 to {len(self) - 1}")
        return [] if self._values is None else self._values.take(pa.array(index.numpy())).to_pylist()

    def save(self, store: BlockStore, group: Any = None) -> None:
        """Put the dictionary into a `store`, under the name of a type of vertices, the `group`.

        >>> from tgraph import stores
        >>> ids = stores.Ids()
        >>> numbers = ids.add(["ann", "bob"])
        >>> ids.save(stores.DiskStore("folder"), "author")
        >>> stores.Ids.load(stores.DiskStore("folder"), "author").of([1])
        ['bob']
        """
        values = self._values
        if values is None or str(values.type) == "int64":
            tensor = torch.empty(0, dtype=torch.int64) if values is None else torch.tensor(values.to_numpy())
            store.put(to_key(_FOLDER, group), tensor)
            return
        lengths = np.asarray([0, *map(len, encoded := [text.encode() for text in values.to_pylist()])], dtype=np.int64)
        offset = lengths.cumsum()
        data = np.frombuffer(offset.tobytes() + b"".join(encoded), dtype=np.uint8)
        store.put(to_key(_FOLDER, group), torch.tensor(data), {"labels": json.dumps(len(values))})

    @classmethod
    def load(cls, store: BlockStore, group: Any = None) -> Ids:
        """The dictionary saved in a `store` for a `group`. Raises KeyError where there is none.

        >>> from tgraph import stores
        >>> stores.Ids.load(stores.MemoryStore(), "author")
        Traceback (most recent call last):
            ...
        KeyError: "no ids of 'author' are stored, in ..."
        """
        import pyarrow as pa

        found = read(store, to_key(_FOLDER, group))
        if found is None:
            raise KeyError(f"no ids of {group!r} are stored, in {store!r}")
        stat, tensor = found
        ids = cls()
        if "labels" not in stat.notes:
            ids._values = pa.array(tensor.numpy())
            return ids
        end = 8 * (json.loads(stat.notes["labels"]) + 1)
        data = tensor.numpy()
        ids._values = pa.array(unpack(data[end:], data[:end].copy().view(np.int64)), pa.large_string())
        return ids

    def _looked_up(self, column: pyarrow.ChunkedArray) -> Any:
        """The numbers of ids, int32, null for unknown ones."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if self._values is None:
            return pa.chunked_array([pa.nulls(len(column), pa.int32())])
        return pc.index_in(column, value_set=self._values)

    def _checked(self, ids: Any) -> pyarrow.ChunkedArray:
        import pyarrow as pa

        column = ids if isinstance(ids, pa.ChunkedArray) else pa.chunked_array([pa.array(ids)])
        if column.null_count:
            raise ArgumentError(f"ids: row {column.is_null().index(True).as_py()} has no value; drop such rows")
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        if not pa.types.is_integer(kind) and str(kind) not in ("string", "large_string", "string_view"):
            raise ArgumentError(f"ids: are text or integers, got {column.type}; convert the column")
        column = column.cast(pa.int64() if pa.types.is_integer(kind) else pa.large_string())
        if self._values is not None and self._values.type != column.type:
            raise ArgumentError(f"ids: earlier ids are {self._values.type}, these are {column.type}; convert it")
        return column
