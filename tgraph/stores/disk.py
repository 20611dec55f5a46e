"""Tensors in files: safetensors with a checksum for each block of rows, memory-mapped."""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import mmap
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import torch
from torch import Tensor

from tgraph.errors import ArgumentError, FileFormatError
from tgraph.files import PathLike, checksummed
from tgraph.files.locking import lock, unlock
from tgraph.stores.blocks import (
    BlockStore,
    ReplacedError,
    Stat,
    check_blocks,
    check_key,
    check_version,
    checked,
    row_bytes,
    rows_per_block,
)
from tgraph.stores.direct import DirectFile
from tgraph.stores.pages import Pages, read_alone

SUFFIX = ".safetensors"
AHEAD = 256  # blocks requested from the disk ahead of verification
IN_FLIGHT = 1 << 24  # bytes of pages requested from the disk ahead of copying
REMEDY = "put the tensor again, or fetch the file from a copy"


class DiskStore(BlockStore):
    """Tensors in a folder, a file for each key, replaced atomically by a put.

    Rows are read from a memory map: frequent rows stay in the page cache, and the process takes no memory. All rows of
    a batch are requested from the disk at once. A process verifies each block at its first read. Processes may share
    the folder. Links that lead out of the folder are errors.

    path : of the folder, created by the first put.
    direct : whether rows are read past the page cache (O_DIRECT), by io_uring on Linux: a row takes a sector of the
        disk instead of a page, nothing is cached, and the processor has less to do. Use it where memory is short, with
        a `CachedStore` in front for the most used rows. Whole tensors are mapped all the same.

    >>> from tgraph import stores
    >>> store = stores.DiskStore("folder")
    >>> store.put("x", torch.arange(6.0).view(3, 2))
    >>> again = stores.DiskStore("folder")
    >>> again.get_rows(again.stat("x"), torch.tensor([2]))
    tensor([[4., 5.]])
    """

    def __init__(self, path: PathLike, *, direct: bool = False):
        self.path: Path = Path(path)
        self.direct: bool = direct
        self._held: dict[str, _Mapped] = {}

    def put(
        self, key: str, tensor: Tensor, notes: Mapping[str, str] | None = None, replacing: Stat | None = None
    ) -> None:
        tensor = checked(key, tensor)
        rows = rows_per_block(tensor)
        piece = rows * row_bytes(tensor.dtype, tensor.shape) or checksummed.PIECE
        path = self._path(key)
        self._check_within(path.parent)
        path.parent.mkdir(parents=True, exist_ok=True)
        with _turn(path) as present:
            check_version(key, present, replacing)
            texts = {"rows": str(rows), "notes": json.dumps(dict(notes or {}))}
            checksummed.write(path, {key: tensor}, texts, piece)

    def delete(self, key: str) -> bool:
        path = self._path(key)
        self._check_within(path.parent)
        self._held.pop(key, None)
        with _turn(path) as present:
            path.unlink(missing_ok=True)
        return present is not None

    def keys(self, beginning: str = "") -> list[str]:
        files = self.path.rglob(f"*{SUFFIX}")
        found = (file.relative_to(self.path).as_posix().removesuffix(SUFFIX) for file in files)
        return sorted(key for key in found if key.startswith(beginning))

    def stat(self, key: str) -> Stat | None:
        path, held = self._path(key), self._held.get(key)
        try:
            if held is None or not held.is_at(path):
                self._check_within(path)
                held = self._held[key] = _Mapped.opened(key, path, self.direct)
        except FileNotFoundError:
            self._held.pop(key, None)
            return None
        return held.stat

    def get_blocks(self, stat: Stat, numbers: Sequence[int]) -> list[Tensor]:
        check_blocks(stat, numbers)
        held = self._version(stat)
        held.verify(numbers)
        return [held.tensor[number * stat.rows : (number + 1) * stat.rows].clone() for number in numbers]

    def _rows_of(self, wanted: Sequence[tuple[Stat, Tensor | None]]) -> list[Tensor]:
        opened = [(self._version(stat), index) for stat, index in wanted]
        for held, index in opened:
            held.verify(held.unread(index))
        return [held.copy() if index is None else held.rows(index) for held, index in opened]

    def _path(self, key: str) -> Path:
        return self.path / f"{check_key(key)}{SUFFIX}"

    def _check_within(self, path: Path) -> None:
        """Raise ArgumentError for a path that leads out of the folder by a link."""
        if not path.resolve().is_relative_to(self.path.resolve()):
            raise ArgumentError(f"key: {path} is a link, or behind one, that leads out of {self.path}; remove the link")

    def _version(self, stat: Stat) -> _Mapped:
        """The mapped version `stat` of a tensor, readable even after its replacement. Raises ReplacedError if gone."""
        held = self._held.get(stat.key)
        if held is None or held.stat != stat:
            self.stat(stat.key)
            held = self._held.get(stat.key)
        if held is None or held.stat != stat:
            raise ReplacedError(f"{stat.key}: replaced meanwhile; ask for its stat again")
        return held

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_held": {}}

    def __repr__(self) -> str:
        return f"DiskStore({os.fspath(self.path)!r}{', direct=True' if self.direct else ''})"


class _Mapped:
    """A file on a memory map, with its verified blocks; `direct`: for reads past the map, or None."""

    def __init__(self, key: str, file: BinaryIO, contents: checksummed.Contents, direct: DirectFile | None):
        self._key, self._file, self._contents, self._direct = key, file, contents, direct
        self._identity = _identity(os.fstat(file.fileno()))
        shape = tuple(contents.entries[key]["shape"])
        rows, notes = int(contents.notes["rows"]), json.loads(contents.notes["notes"])
        self.stat = Stat(key, contents.dtype(key), shape, rows, str(self._identity), notes)
        self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        self._pages = Pages(file.fileno(), self._map)
        self.tensor = self._on(self._map)
        self._bytes = checksummed.as_bytes(self.tensor.view(-1))
        self._is_verified = torch.zeros(self.stat.num_blocks, dtype=torch.bool)
        self._all_verified = False

    @classmethod
    def opened(cls, key: str, path: Path, directly: bool) -> _Mapped:
        """The present file of the path. Raises FileFormatError where its header is damaged."""
        while True:
            file = open(path, "rb")  # noqa: SIM115 - open while mapped
            contents = checksummed.contents(path, REMEDY)
            direct = DirectFile(path) if directly else None
            if any(_identity(os.fstat(each.fileno())) != _identity(os.stat(path)) for each in (file, direct) if each):
                continue
            if key not in contents.entries or "rows" not in contents.notes:
                raise FileFormatError(path, "this is no file of a store", "remove it from the folder")
            return cls(key, file, contents, direct)

    def is_at(self, path: Path) -> bool:
        """Whether the path still leads to this file, by its inode, unique while it is open."""
        return _identity(os.stat(path)) == self._identity

    def copy(self) -> Tensor:
        """The tensor on a private copy-on-write map."""
        mapping = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_COPY)
        read_alone(mapping)  # neighbours are read at random
        return self._on(mapping)

    def unread(self, index: Tensor | None = None) -> list[int]:
        """The unverified blocks of the rows `index`, by default of all."""
        if self._all_verified:
            return []
        if index is None:
            return (~self._is_verified).nonzero().view(-1).tolist()
        blocks = index // self.stat.rows
        return torch.unique(blocks[~self._is_verified[blocks]]).tolist()

    def verify(self, numbers: Sequence[int]) -> None:
        """Verify blocks, while the disk reads the next ones."""
        if not self.tensor.nbytes:
            return
        size, begin = self._contents.piece, self._contents.position(self._key)
        if self._direct is not None:
            return self._verify_directly(self._direct, numbers)
        asked = [numbers[first : first + AHEAD] for first in range(0, len(numbers), AHEAD)]
        for before, now in zip([[], *asked], [*asked, []], strict=True):
            self._pages.ask(begin + torch.tensor(now, dtype=torch.int64) * size, size)
            for first, last in _runs(before):
                self._contents.check(self._key, self._bytes[first * size : (last + 1) * size], first * size)
                self._is_verified[first : last + 1] = True
        if numbers:
            self._all_verified = bool(self._is_verified.all())

    def _verify_directly(self, direct: DirectFile, numbers: Sequence[int]) -> None:
        """As `verify`, by direct reads."""
        size, begin = self._contents.piece, self._contents.position(self._key)
        whole = self.tensor.nbytes // size  # the last block may be shorter
        for first in range(0, len(numbers), AHEAD):
            some = numbers[first : first + AHEAD]
            for length, blocks in (
                (size, [k for k in some if k < whole]),
                (self.tensor.nbytes - whole * size, [whole]),
            ):
                if length and (length == size or whole in some):
                    found = direct.read(begin + torch.tensor(blocks, dtype=torch.int64) * size, length)
                    for number, block in zip(blocks, found, strict=True):
                        self._contents.check(self._key, checksummed.as_bytes(block), number * size)
            self._is_verified[torch.tensor(some, dtype=torch.int64)] = True
        self._all_verified = bool(self._is_verified.all())

    def rows(self, index: Tensor) -> Tensor:
        """The rows at `index`, requested from the disk in ascending order, in parts, each while the previous one is
        copied: where memory is short, a single request would evict its first pages before they are copied."""
        begin, size = self._contents.position(self._key) + index * self.stat.row_bytes, self.stat.row_bytes
        if self._direct is not None and size:
            return self._direct.read(begin, size).view(self.stat.dtype).view(len(index), *self.stat.shape[1:])
        if self._pages.seem_in_memory(begin):
            return self.tensor.index_select(0, index)
        found = torch.empty((len(index), *self.stat.shape[1:]), dtype=self.stat.dtype)
        parts = index.argsort().split(max(1, IN_FLIGHT // max(size, mmap.PAGESIZE)))
        for before, now in zip([None, *parts], [*parts, None], strict=True):
            if now is not None:
                self._pages.ask(begin[now], size)
            if before is not None:
                found[before] = self.tensor[index[before]]
        return found

    def _on(self, mapping: mmap.mmap) -> Tensor:
        if not math.prod(self.stat.shape):
            return torch.empty(self.stat.shape, dtype=self.stat.dtype)
        count, begin = math.prod(self.stat.shape), self._contents.position(self._key)
        return torch.frombuffer(mapping, dtype=self.stat.dtype, count=count, offset=begin).view(self.stat.shape)


def _runs(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """(first, last) of each run of consecutive numbers."""
    for _, run in itertools.groupby(enumerate(numbers), lambda each: each[1] - each[0]):
        values = [number for _, number in run]
        yield values[0], values[-1]


def _identity(found: os.stat_result) -> tuple[int, int, int, int]:
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size


@contextlib.contextmanager
def _turn(path: Path) -> Iterator[str | None]:
    """Lock the present file of a path, so that processes take turns. Yields its version or None."""
    present = None
    with contextlib.ExitStack() as held:
        while present is None:
            try:
                file = held.enter_context(open(path, "rb"))
                lock(file)
                held.callback(unlock, file)
                found = _identity(os.fstat(file.fileno()))
                if found == _identity(os.stat(path)):
                    present = str(found)
                else:
                    held.close()  # it was replaced while we waited
            except FileNotFoundError:
                break
        yield present
