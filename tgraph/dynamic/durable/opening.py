"""Stores of graphs that change, opened in a folder."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args

import torch

from tgraph.core.building import inputs
from tgraph.core.system.memory import memory_of_machine
from tgraph.dynamic.durable.locking import FolderLock
from tgraph.dynamic.durable.log import Sync
from tgraph.dynamic.durable.manifest import NAME, Manifest, arguments_of, schema_of
from tgraph.dynamic.durable.store import StoreOfFolder, read_store, written_store
from tgraph.dynamic.head import Ids, empty_head
from tgraph.errors import ArgumentError
from tgraph.files import PathLike
from tgraph.files.folders import check_no_file
from tgraph.kernels.operators.changes import Parallel
from tgraph.stream.memory import parse_memory

Mode = Literal["a", "r"]
_DEFAULTS: dict[str, Any] = {
    **{"weights": None, "times": None, "arc_data": {}, "directed": True},
    **{"multi": "last", "ids": "index", "num_vertices": 0},
}
_SHARE = 4  # arcs may take this fraction of the memory of the machine


def open(
    path: PathLike,
    weights: torch.dtype | None = None,
    *,
    times: torch.dtype | None = None,
    arc_data: Mapping[str, torch.dtype] | None = None,
    directed: bool | None = None,
    multi: Parallel | None = None,
    ids: Ids | None = None,
    num_vertices: int | None = None,
    mode: Mode = "a",
    sync: Sync = "always",
    timeout: float = 0.0,
    memory: str | int | None = None,
    verify: bool = True,
) -> StoreOfFolder:
    """A graph that changes, in a folder: a `Store` whose batches outlast the process.

    path : of the folder, made if it is missing.
    weights, times, arc_data, directed, multi, ids, num_vertices : as of `Store`, for a new one; for an existing one the
        arguments given must agree with its own. Labels have to be text.
    mode : "a" to change it, by one process at a time; "r" to read it, beside a process that changes it.
    sync : "always" syncs the log to the disk before a batch is published; "never" leaves that to the system: batches
        outlast a killed process, but the last ones may be lost when power fails.
    timeout : seconds to wait for another process that changes it.
    memory : for the arcs, such as "4GB", old and new ones together during a merge; a larger graph lies in files that
        are mapped and merged block by block. By default a quarter of the memory of the machine.
    verify : compare all files with their checksums now, which reads them once; otherwise before they are merged.

    A batch is appended to a log, as one record with checksums, and published once that is on the disk; writers on
    several threads share a sync. In the background, checkpoints write the arcs and the runs of changes to files, and
    the log that they cover is removed: write-ahead logging over a log-structured merge-tree (O'Neil et al., 1996), as
    DGAP (Islam and Dai, SC 2023) does it on persistent memory. On opening, the checkpoint is mapped, and the log behind
    it is read. A record that a killed process has not completed is dropped with a TornRecordWarning.

    A reader sees complete batches, up to the end of the log; `refresh` moves it on to the newest one. It takes no lock,
    and no writer waits for it: files of checkpoints are replaced, not changed, and checksums identify the complete
    records.

    A full disk fails a batch as a whole, with an OSError that says how many bytes are needed; later ones work once
    there is room.

    Raises ArgumentError for arguments that contradict the folder, and for a folder of other files; BusyError, with the
    process and the host, while another process changes it; FileFormatError, with the file and the place, for damage,
    and for a format of a later release; FileNotFoundError for a missing one to read.

    >>> with tg.dynamic.open("web.tgd", weights=torch.float32) as store:
    ...     store.insert([0, 1], [1, 2], [0.5, 2.0])  # on the disk when the call returns
    ...     reader = tg.dynamic.open("web.tgd", mode="r")  # here, or in another process
    ...     store.insert([2], [0], [1.0])
    1
    2
    >>> reader.version, reader.refresh(), reader.snapshot().num_arcs
    (1, 2, 3)
    """
    inputs.check_choice(mode, "mode", get_args(Mode))
    inputs.check_choice(sync, "sync", get_args(Sync))
    room = memory_of_machine() // _SHARE if memory is None else parse_memory(memory)
    given: dict[str, Any] = {
        **{"weights": weights, "times": times, "arc_data": arc_data, "directed": directed},
        **{"multi": multi, "ids": ids, "num_vertices": num_vertices},
    }
    check_no_file(path)
    folder = Path(path)
    if mode == "r":
        _check_schema(folder, Manifest.read(folder), given)
        return read_store(folder, room, verify)
    folder.mkdir(parents=True, exist_ok=True)
    _check_folder(folder)
    lock = FolderLock(folder, timeout)
    try:
        manifest = _manifest(folder, lock, given)
        return written_store(folder, manifest, lock, sync, room, verify)
    except BaseException:
        lock.release()
        raise


def _check_folder(folder: Path) -> None:
    """Raise ArgumentError for a folder of other files."""
    if not (folder / NAME).exists():
        others = [file.name for file in folder.iterdir() if not file.name.startswith((f".{NAME}.", "lock"))]
        if others:
            raise ArgumentError(f"path: {folder} is no store, it has no {NAME}, but {min(others)}; give another folder")


def _manifest(folder: Path, lock: FolderLock, given: dict[str, Any]) -> Manifest:
    """The manifest of a locked folder, written if it is missing."""
    if (folder / NAME).exists():
        manifest = Manifest.read(folder)
        _check_schema(folder, manifest, given)
        return manifest
    arguments = _DEFAULTS | {name: value for name, value in given.items() if value is not None}
    empty_head(**arguments)  # checks them
    manifest = Manifest(secrets.randbits(64), schema_of(arguments))
    manifest.write(folder)
    return manifest


def _check_schema(folder: Path, manifest: Manifest, given: dict[str, Any]) -> None:
    """Raise ArgumentError for arguments that contradict those that the store was made with."""
    wanted = schema_of({**_DEFAULTS, **{name: value for name, value in given.items() if value is not None}})
    for name, value in given.items():
        if value is not None and wanted[name] != manifest.schema[name]:
            found = arguments_of(manifest.schema)[name]
            raise ArgumentError(f"{name}: {folder} was made with {found!r}, not {value!r}; leave it out")
