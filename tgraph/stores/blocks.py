"""Tensors as blocks of rows under keys: the interface of all stores."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import torch
from torch import Tensor

from tgraph.errors import ArgumentError, RowError, TGraphError
from tgraph.files.checksummed import DTYPE_NAMES

BLOCK = 1 << 16  # bytes of a block, about; a block is a whole number of rows
ATTEMPTS = 100  # of reads interrupted by the puts of others
T = TypeVar("T")
_INDICES = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
_LONGEST = 400  # characters of a key; LMDB has room for 511
_LONGEST_NAME = 200  # and of a name within it, the name of a file or folder
_KEY = re.compile(r"[\w,~%-]+(/[\w,~%-]+)*", re.ASCII)
_BEGINNING = re.compile(r"[\w,~%/-]*", re.ASCII)


class ReplacedError(TGraphError, RuntimeError):
    """The requested version of a tensor has been replaced or deleted meanwhile.

    >>> from tgraph import stores
    >>> store = stores.MemoryStore()
    >>> store.put("x", torch.zeros(3))
    >>> stat = store.stat("x")
    >>> store.delete("x")
    True
    >>> store.get_rows(stat)
    Traceback (most recent call last):
        ...
    tgraph.stores.blocks.ReplacedError: x: replaced meanwhile; ask for its stat again
    """


@dataclass(frozen=True)
class Stat:
    """One version of a stored tensor.

    key : its name. dtype, shape : of the tensor. rows : of each block but the last. version : unique among the versions
    of a key. notes : text stored with the tensor.

    >>> from tgraph import stores
    >>> store = stores.MemoryStore()
    >>> store.put("x", torch.zeros(3, 2), {"source": "survey"})
    >>> stat = store.stat("x")
    >>> stat.dtype, stat.shape, stat.notes
    (torch.float32, (3, 2), {'source': 'survey'})
    """

    key: str
    dtype: torch.dtype
    shape: tuple[int, ...]
    rows: int
    version: str
    notes: Mapping[str, str] = field(default_factory=dict)

    @property
    def row_bytes(self) -> int:
        """The bytes of a row.

        >>> from tgraph import stores
        >>> store = stores.MemoryStore()
        >>> store.put("x", torch.zeros(3, 2))
        >>> store.stat("x").row_bytes
        8
        """
        return row_bytes(self.dtype, self.shape)

    @property
    def num_blocks(self) -> int:
        """The number of blocks.

        >>> from tgraph import stores
        >>> store = stores.MemoryStore()
        >>> store.put("x", torch.zeros(3, 2))
        >>> store.stat("x").num_blocks
        1
        """
        return -(-self.shape[0] // self.rows)

    def block_shape(self, number: int) -> tuple[int, ...]:
        """The shape of block `number`.

        >>> from tgraph import stores
        >>> store = stores.MemoryStore()
        >>> store.put("x", torch.zeros(3, 2))
        >>> store.stat("x").block_shape(0)
        (3, 2)
        """
        return (min(self.rows, self.shape[0] - number * self.rows), *self.shape[1:])


def checked_store(store: object) -> BlockStore:
    """The `store`. Raises ArgumentError for anything but a BlockStore, such as a URL."""
    if not isinstance(store, BlockStore):
        raise ArgumentError(f"store: expected a BlockStore, got {type(store).__name__}; use tgraph.stores.open(url)")
    return store


def row_bytes(dtype: torch.dtype, shape: Sequence[int]) -> int:
    """The bytes of a row of a tensor."""
    return dtype.itemsize * torch.Size(shape[1:]).numel()


def rows_per_block(tensor: Tensor, size: int = BLOCK) -> int:
    """The rows of blocks of at most `size` bytes, at least one."""
    return max(1, size // max(1, row_bytes(tensor.dtype, tensor.shape)))


class BlockStore(ABC):
    """Tensors under keys, as blocks of rows. Puts and deletes are atomic: readers find the old or the new tensor.

    >>> from tgraph import stores
    >>> store = stores.MemoryStore()
    >>> store.put("x", torch.arange(6.0).view(3, 2))
    >>> store.get_rows(store.stat("x"), torch.tensor([2, 0]))
    tensor([[4., 5.],
            [0., 1.]])
    """

    @abstractmethod
    def put(
        self, key: str, tensor: Tensor, notes: Mapping[str, str] | None = None, replacing: Stat | None = None
    ) -> None:
        """Store a `tensor` under a `key`, replacing the present one; with `replacing`, only that version. `notes`: text
        stored with it, by name.

        Raises ArgumentError, before anything is written, for keys, layouts and dtypes that `checked` does not support;
        ReplacedError, with nothing changed, where the version to replace is no longer there.

        >>> from tgraph import stores
        >>> store = stores.MemoryStore()
        >>> store.put("x", torch.zeros(3, 2), {"source": "survey"})
        >>> before = store.stat("x")
        >>> store.put("x", torch.ones(3, 2), replacing=before)
        >>> store.put("x", torch.zeros(3, 2), replacing=before)
        Traceback (most recent call last):
            ...
        tgraph.stores.blocks.ReplacedError: x: replaced meanwhile, so that nothing was put; read it again
        """

    @abstractmethod
    def delete(self, key: str) -> bool:
        """Remove the tensor of a `key`; returns whether it existed.

        >>> from tgraph import stores
        >>> store = stores.MemoryStore()
        >>> store.put("x", torch.zeros(3, 2))
        >>> store.delete("x"), store.delete("x")
        (True, False)
        """

    @abstractmethod
    def keys(self, beginning: str = "") -> list[str]:
        """The keys with this `beginning`, sorted.

        >>> from tgraph import stores
        >>> store = stores.MemoryStore()
        >>> store.put("paper/x", torch.zeros(3, 2))
        >>> store.put("author/x", torch.zeros(2, 2))
        >>> store.keys(), store.keys("paper/")
        (['author/x', 'paper/x'], ['paper/x'])
        """

    @abstractmethod
    def stat(self, key: str) -> Stat | None:
        """The present version of the tensor of a `key`, or None.

        >>> from tgraph import stores
        >>> store = stores.MemoryStore()
        >>> store.put("x", torch.zeros(3, 2))
        >>> store.stat("x").shape, store.stat("y")
        ((3, 2), None)
        """

    @abstractmethod
    def get_blocks(self, stat: Stat, numbers: Sequence[int]) -> list[Tensor]:
        """The verified blocks `numbers` of one version of a tensor, `stat`. Raises ReplacedError where that version is
        gone, FileFormatError with the key where a block is damaged.

        >>> from tgraph import stores
        >>> store = stores.MemoryStore()
        >>> store.put("x", torch.arange(3.0))
        >>> store.get_blocks(store.stat("x"), [0])
        [tensor([0., 1., 2.])]
        """

    def get_joined(self, stat: Stat, numbers: Sequence[int]) -> Tensor:
        """The rows of the blocks `numbers` of `stat`, concatenated. Raises as get_blocks.

        >>> from tgraph import stores
        >>> store = stores.DiskStore("folder")
        >>> store.put("x", torch.zeros(30_000, 2))
        >>> store.stat("x").num_blocks, store.get_joined(store.stat("x"), [0, 1]).shape
        (4, torch.Size([16384, 2]))
        """
        return torch.cat([torch.empty((0, *stat.shape[1:]), dtype=stat.dtype), *self.get_blocks(stat, numbers)])

    def get_rows(self, stat: Stat, index: Tensor | None = None) -> Tensor:
        """The rows of one version of a tensor, `stat`, at `index`, integers [k] from 0 on; by default all. Raises
        RowError for a row out of range, ArgumentError for masks and other indices, and as get_blocks.

        >>> from tgraph import stores
        >>> store = stores.DiskStore("folder")
        >>> store.put("x", torch.arange(6.0).view(3, 2))
        >>> store.get_rows(store.stat("x"), torch.tensor([2, 0]))
        tensor([[4., 5.],
                [0., 1.]])
        """
        return self.get_many([(stat, index)])[0]

    def _rows(self, stat: Stat, index: Tensor | None) -> Tensor:
        """`get_rows` of a checked index, int64 [k]."""
        if index is None:
            return self.get_joined(stat, range(stat.num_blocks))
        numbers, place = torch.unique(index // stat.rows, return_inverse=True)
        found = self.get_joined(stat, numbers.tolist())
        return found[place * stat.rows + index % stat.rows]  # all blocks but the last of the tensor are whole

    def stat_many(self, keys: Sequence[str]) -> list[Stat | None]:
        """`stat` of several `keys`, in one request to a server.

        >>> from tgraph import stores
        >>> store = stores.MemoryStore()
        >>> store.put("x", torch.zeros(3, 2))
        >>> [stat and stat.shape for stat in store.stat_many(["x", "y"])]
        [(3, 2), None]
        """
        return [self.stat(key) for key in keys]

    def get_many(self, wanted: Sequence[tuple[Stat, Tensor | None]]) -> list[Tensor]:
        """`get_rows` of several tensors, `wanted` [(stat, index)], in one request to a server or disk.

        >>> from tgraph import stores
        >>> store = stores.MemoryStore()
        >>> store.put("x", torch.arange(3.0))
        >>> store.put("y", torch.arange(3))
        >>> store.get_many([(store.stat("x"), torch.tensor([1])), (store.stat("y"), None)])
        [tensor([1.]), tensor([0, 1, 2])]
        """
        return self._rows_of([(stat, checked_rows(stat, index)) for stat, index in wanted])

    def _rows_of(self, wanted: Sequence[tuple[Stat, Tensor | None]]) -> list[Tensor]:
        """`get_many` of checked indices, int64 [k] each."""
        return [self._rows(stat, index) for stat, index in wanted]


def read(
    store: BlockStore, key: str, select: Callable[[int], Tensor | None] = lambda size: None
) -> tuple[Stat, Tensor] | None:
    """(stat, rows) of one version of a tensor, at the index by `select` of their number; None without one."""
    return read_many(store, [(key, select)])[0]


def read_many(
    store: BlockStore, wanted: Sequence[tuple[str, Callable[[int], Tensor | None]]]
) -> list[tuple[Stat, Tensor] | None]:
    """`read` of several tensors at once, given as (key, select)."""
    keys = [key for key, _ in wanted]

    def attempt() -> list[tuple[Stat, Tensor] | None]:
        stats = store.stat_many(keys)
        there = [
            (stat, select(stat.shape[0])) for stat, (_, select) in zip(stats, wanted, strict=True) if stat is not None
        ]
        found = iter(store.get_many(there))
        return [None if stat is None else (stat, next(found)) for stat in stats]

    return repeated(", ".join(keys), attempt)


def repeated(key: str, attempt: Callable[[], T]) -> T:
    """The result of `attempt`, repeated while it raises ReplacedError."""
    for _ in range(ATTEMPTS):
        try:
            return attempt()
        except ReplacedError:
            continue
    raise ReplacedError(f"{key}: was replaced {ATTEMPTS} times while it was read; put it less often")


def check_version(key: str, present: str | None, replacing: Stat | None) -> None:
    """Raise ReplacedError unless the version that a put replaces is the `present` one, None without any."""
    if replacing is not None and present != replacing.version:
        raise ReplacedError(f"{key}: replaced meanwhile, so that nothing was put; read it again")


def checked_rows(stat: Stat, index: Tensor | None) -> Tensor | None:
    """An index as int64 [k] on the CPU, None for all rows. Raises RowError for a row out of range, ArgumentError for
    anything but a tensor of row numbers."""
    if index is None:
        return None
    if not isinstance(index, Tensor) or index.ndim != 1 or index.dtype not in _INDICES:
        got = f"{index.dtype} {list(index.shape)}" if isinstance(index, Tensor) else type(index).__name__
        remedy = "; mask.nonzero().view(-1) has those of a mask" if got.startswith("torch.bool") else ""
        raise ArgumentError(f"index: expected row numbers, int64 [k], got {got}{remedy}")
    index = index.to("cpu", torch.int64)
    if len(index):
        low, high = map(int, torch.aminmax(index))
        if low < 0 or high >= stat.shape[0]:
            at = int(((index < 0) | (index >= stat.shape[0])).nonzero()[0])
            raise RowError(
                f"index: {int(index[at])} at position {at} is no row of {stat.key!r}, which has {stat.shape[0]}"
            )
    return index


def check_blocks(stat: Stat, numbers: Sequence[int]) -> None:
    """Raise RowError for a block number out of range."""
    if len(numbers) and not 0 <= min(numbers) <= max(numbers) < stat.num_blocks:
        wrong = next(number for number in numbers if not 0 <= number < stat.num_blocks)
        raise RowError(f"numbers: {wrong} is no block of {stat.key!r}, which has {stat.num_blocks}")


def check_key(key: str) -> str:
    """The `key`. Raises ArgumentError unless it is a path of names, short enough for all stores."""
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        raise ArgumentError(f"key: expected names of letters, digits and _ , ~ % - between slashes, got {key!r}")
    if len(key) > _LONGEST or max(map(len, key.split("/"))) > _LONGEST_NAME:
        raise ArgumentError(
            f"key: expected at most {_LONGEST} characters, and {_LONGEST_NAME} between slashes, got {key[:40]!r}..."
        )
    return key


def begins_key(beginning: str) -> bool:
    """Whether some key has this beginning."""
    return _BEGINNING.fullmatch(beginning) is not None


def checked(key: str, tensor: Tensor) -> Tensor:
    """The tensor as stored: without gradients, on the CPU, contiguous.

    Raises ArgumentError for invalid keys, 0-dimensional and sparse tensors, and dtypes without a file format.
    """
    check_key(key)
    if not isinstance(tensor, Tensor) or tensor.layout != torch.strided:
        raise ArgumentError(f"{key}: expected a dense tensor, got {type(tensor).__name__}")
    if tensor.dtype not in DTYPE_NAMES:
        raise ArgumentError(f"{key}: {tensor.dtype} cannot be stored; convert it, to torch.float32 for instance")
    if tensor.ndim == 0:
        raise ArgumentError(f"{key}: expected rows, got a single number; store it as [1]")
    return tensor.detach().cpu().contiguous()
