"""Maintenance of whole stores: copies, verification, exchange with files."""

from __future__ import annotations

import copy as copying
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from tgraph.errors import ArgumentError, FileFormatError
from tgraph.files import PathLike, checksummed
from tgraph.files.atomic_write import replacing_by, room_for
from tgraph.progress import bar
from tgraph.stores.blocks import BlockStore, Stat, read, repeated

SUFFIXES = ".npy", ".safetensors"
_BLOCKS = 256  # read at once


def copy(source: BlockStore, target: BlockStore, beginning: str = "", progress: bool = False) -> int:
    """Put the tensors of a store into another, one after the other, with their notes; returns their bytes.

    source, target : the stores. beginning : of the keys; by default all. progress : whether to show a bar. When
    interrupted, tensors are complete or absent. Raises as `get_rows` and `put`, ArgumentError where no key matches.

    >>> from tgraph import stores
    >>> memory, disk = stores.MemoryStore(), stores.DiskStore("folder")
    >>> memory.put("paper/x", torch.zeros(3, 2))
    >>> stores.copy(memory, disk), disk.keys()
    (24, ['paper/x'])
    """
    done = 0
    for key in _shown(matching(source, beginning), progress):
        found = read(source, key)
        if found is not None:  # not deleted meanwhile
            target.put(key, found[1], found[0].notes)
            done += found[1].nbytes
    return done


def verify(store: BlockStore, beginning: str = "", progress: bool = False) -> list[FileFormatError]:
    """Read every block, and return the errors of damaged ones, with key and place.

    store : to be verified again. beginning, progress : as for `copy`. Raises ArgumentError where no key matches.

    >>> from tgraph import stores
    >>> store = stores.DiskStore("folder")
    >>> store.put("x", torch.zeros(3, 2))
    >>> stores.verify(store)
    []
    """
    store = copying.copy(store)  # without verified blocks
    return [fault for key in _shown(matching(store, beginning), progress) for fault in _damage(store, key)]


def put_file(store: BlockStore, path: PathLike, key: str | None = None) -> list[str]:
    """Put the array of a .npy file or the tensors of a .safetensors file; returns their keys.

    store : the destination. key : of the array, by default the name of the file; for .safetensors a folder, a prefix of
    the tensors' names. Raises ArgumentError for another kind of file and as `put`, FileFormatError for a damaged file.

    >>> import numpy
    >>> from tgraph import stores
    >>> numpy.save("x.npy", numpy.zeros((3, 2), dtype="float32"))
    >>> store = stores.MemoryStore()
    >>> stores.put_file(store, "x.npy", "features/paper/x")
    ['features/paper/x']
    """
    path = _known(path)
    if path.suffix == ".npy":
        store.put(key or path.stem, _array(path))
        return [key or path.stem]
    contents = checksummed.contents(path, "fetch the file from a copy")
    notes, folder = _notes(contents), "" if key is None else f"{key}/"
    for name in contents.entries:
        store.put(folder + name, contents.load(name), notes.get(name))
    return [folder + name for name in contents.entries]


def get_file(store: BlockStore, path: PathLike, key: str = "") -> list[str]:
    """Write tensors to a file, replaced atomically; returns their keys.

    store : the source. path : .npy for the tensor of one `key`, .safetensors for all keys that begin so, with notes.
    All of them have to fit in memory, unless the store is a DiskStore. Raises ArgumentError for another kind of file
    and where there is no such tensor.

    >>> from tgraph import stores
    >>> store = stores.MemoryStore()
    >>> store.put("paper/x", torch.zeros(3, 2))
    >>> stores.get_file(store, "papers.safetensors", "paper/")
    ['paper/x']
    """
    path = _known(path)
    if path.suffix == ".npy":
        _write_array(path, _stored(store, key)[1])
        return [key]
    found = {name: _stored(store, name) for name in matching(store, key)}
    notes = {name: dict(stat.notes) for name, (stat, _) in found.items()}
    checksummed.write(path, {name: tensor for name, (_, tensor) in found.items()}, {"notes": json.dumps(notes)})
    return list(found)


def matching(store: BlockStore, beginning: str) -> list[str]:
    """The keys with this beginning. Raises ArgumentError where there is none."""
    found = store.keys(beginning)
    if not found:
        raise ArgumentError(f"{store!r} has no tensor" + (f" whose key begins with {beginning!r}" if beginning else ""))
    return found


def _shown(keys: list[str], progress: bool) -> Iterator[str]:
    with bar("tensors", total=len(keys), unit=" tensors", asked=progress) as shown:
        for key in keys:
            shown.set_postfix_str(key)
            yield key
            shown.update()


def _damage(store: BlockStore, key: str) -> list[FileFormatError]:
    def attempt() -> list[FileFormatError]:
        stat = store.stat(key)
        return [] if stat is None else list(_damaged_blocks(store, stat))

    try:
        return repeated(key, attempt)
    except FileFormatError as fault:  # of the head
        return [fault]


def _damaged_blocks(store: BlockStore, stat: Stat) -> Iterator[FileFormatError]:
    for first in range(0, stat.num_blocks, _BLOCKS):
        numbers = range(first, min(first + _BLOCKS, stat.num_blocks))
        try:
            store.get_blocks(stat, numbers)
        except FileFormatError:
            for number in numbers:
                try:
                    store.get_blocks(stat, [number])
                except FileFormatError as fault:
                    yield fault


def _known(path: PathLike) -> Path:
    path = Path(path)
    if path.suffix not in SUFFIXES:
        raise ArgumentError(f"path: expected a file {' or '.join(SUFFIXES)}, got {path}")
    return path


def _stored(store: BlockStore, key: str) -> tuple[Stat, Tensor]:
    found = read(store, key)
    if found is None:
        raise ArgumentError(f"key: {store!r} has no tensor {key!r}")
    return found


def _array(path: Path) -> Tensor:
    try:
        found = np.load(path, mmap_mode="c")
    except ValueError as fault:
        raise FileFormatError(path, f"not an array ({fault})", "write it by numpy.save") from fault
    try:
        return torch.from_numpy(found)
    except TypeError as fault:
        raise ArgumentError(f"path: {path} holds {found.dtype}, not a dtype of torch; convert it") from fault


def _write_array(path: Path, tensor: Tensor) -> None:
    try:
        array = tensor.numpy()
    except TypeError as fault:
        raise ArgumentError(f"path: a .npy file cannot hold {tensor.dtype}; write .safetensors") from fault
    with room_for(path, array.nbytes), replacing_by(path) as file:
        np.save(file, array)


def _notes(contents: checksummed.Contents) -> dict[str, dict[str, str]]:
    """The notes of each tensor, of a file written by `get_file`."""
    try:
        found = json.loads(contents.notes.get("notes", "{}"))
    except ValueError:  # notes of another program
        return {}
    is_ours = isinstance(found, dict) and all(isinstance(each, dict) for each in found.values())
    return found if is_ours else {}
