"""The files of a checkpoint: arcs in CSR and runs of changes, a file with checksums for each tensor.

Tensors above a share of the memory are written to files block by block and read from maps of them; all others stay in
memory when they are written.
"""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from tgraph.dynamic import tiers
from tgraph.dynamic.columns import Place
from tgraph.dynamic.durable.manifest import REMEDY, Level
from tgraph.dynamic.durable.merging import block_size, merged_blocks, spliced_blocks
from tgraph.dynamic.durable.record import Ids, decoded_ids, encoded_ids
from tgraph.dynamic.runs import Arcs, Run, Schema, merged
from tgraph.dynamic.snapshots import SnapshotCsr, StreamedSnapshot
from tgraph.dynamic.version import Version
from tgraph.errors import FileFormatError
from tgraph.files import PathLike, Pause, checksummed, tensor_stream
from tgraph.files.removal import remove
from tgraph.stream.memory import let_go

_RUNS = 16  # a run may take this fraction of the memory of arcs
_VERIFIED = 1 << 24  # bytes that are compared with their checksums at a time

_ALL = 1 << 62  # bytes
_NAME = re.compile(r"\d{8,}-\w+\.safetensors")
Append = Callable[[Tensor], None]


class LevelArcs(Arcs):
    """Arcs of a store in a folder. level : the files that have them, None where none do. mapped : whether they are
    memory maps of these."""

    levels: FileLevels
    level: Level | None
    mapped: bool = False

    def verified(self, runs: Sequence[Run]) -> None:
        """See `Arcs.verified`. Raises FileFormatError where they differ."""
        self.levels.verified([self, *runs])

    def places_of(self, part: Arcs | Run) -> list[Place]:
        return self.levels.places_of(part)

    def changed(self, schema: Schema, runs: Sequence[Run], num_rows: int) -> Arcs:
        """See `Arcs.changed`; arcs that exceed the memory are made in files."""
        return self.levels.changed(self, runs, num_rows)


class LevelRun(Run):
    """A run that lies in files, too. mapped : whether its tensors are memory maps of these."""

    __slots__ = ("level", "mapped")

    def __init__(self, changes: Tensor, data: tuple[Tensor, ...], level: Level, mapped: bool):
        super().__init__(changes, data, level.num_vertices)
        self.level: Level = level
        self.mapped: bool = mapped


class FileLevels:
    """The files of arcs and runs in a folder.

    store : its number, which they repeat. memory : bytes that the arcs may take there. verify : whether files are
    compared with their checksums when they are opened; else it is done before they are merged. writes : whether files
    may be made; else all that is made is in memory.

    pause : while files are written and removed.
    """

    folder: Path

    pause: Pause | None = None

    def __init__(self, folder: Path, store: int, schema: Schema, memory: int, verify: bool, writes: bool = True):
        self.folder, self._verify, self._share = folder, verify, memory
        self.memory: int = memory if writes else _ALL
        self._store, self._schema = store, schema
        self._lock = threading.Lock()
        self._next = 1 + max(map(_number, self._files()), default=0)
        self._present: set[int] = set()
        self._written: set[int] = set()  # at this moment
        self._unverified: set[int] = set()

    # ---- in memory -------------------------------------------------------------------------------------------------

    def arcs(self, arcs: Arcs, level: Level | None = None) -> LevelArcs:
        """Arcs of this store; on maps of the files of the level, if there is one."""
        made = LevelArcs(*arcs)
        made.levels, made.level, made.mapped = self, level, level is not None
        return made

    def changed(self, arcs: LevelArcs, runs: Sequence[Run], num_rows: int) -> LevelArcs:
        """The arcs with the runs applied."""
        self.verified([arcs, *runs])
        size = arcs.nbytes + sum(run.nbytes for run in runs) + 8 * (num_rows + 1 - len(arcs.offset))
        if 2 * size <= self.memory:  # while they are made, the old ones are there, too
            return self.arcs(Arcs.changed(arcs, self._schema, runs, num_rows))
        most = len(arcs.neighbors) + sum(run.size for run in runs)
        with self._writing() as number:
            size = block_size(self.memory)
            blocks = spliced_blocks(self._schema, arcs, runs, num_rows, size, self.places_of)
            return self.open_arcs(self._write_arcs(number, blocks, num_rows, most))

    def merged(self, runs: Sequence[Run]) -> Run:
        """The runs, oldest first, as one."""
        self.verified(runs)
        if sum(run.nbytes for run in runs) * _RUNS <= self.memory:
            return merged(self._schema, runs)
        blocks = merged_blocks(self._schema, runs, block_size(self.memory), self.places_of)
        return self._in_files(blocks, sum(run.size for run in runs))

    def _in_files(self, blocks: Iterable[Run], most: int) -> LevelRun:
        """A run on maps of its files, which are written."""
        with self._writing() as number:
            return self.open_run(self._write_run(number, blocks, most))

    def threshold(self, base: Arcs) -> int:
        """See `tgraph.dynamic.levels.Levels.threshold`. Larger where the CSR lies in files."""
        is_mapped = isinstance(base, LevelArcs) and base.mapped
        return tiers.threshold(len(base.neighbors), tiers.SHARE_OF_FILES if is_mapped else tiers.SHARE)

    def storage(self, version: Version, directed: bool, ids: Any) -> SnapshotCsr | StreamedSnapshot:
        """See `tgraph.dynamic.levels.Levels.storage`. Arcs that exceed the memory are streamed."""
        if version.nbytes <= self._share:
            return SnapshotCsr(version)
        return StreamedSnapshot(version, directed, ids, self._share, self.folder)

    # ---- to files --------------------------------------------------------------------------------------------------

    def keep_arcs(self, arcs: LevelArcs) -> Level | None:
        """The files of the arcs, written if there are none; None for a graph without vertices."""
        if len(arcs.offset) < 2:
            return None
        if arcs.level is None or arcs.level.number not in self._present:
            with self._writing() as number:
                arcs.level = self._write_arcs(number, [arcs], len(arcs.offset) - 1, len(arcs.neighbors))
        return arcs.level

    def keep_run(self, runs: Sequence[Run]) -> LevelRun:
        """The runs as one, in files."""
        run = self.merged(runs)
        if isinstance(run, LevelRun) and self.has(run):
            return run
        if run.nbytes * _RUNS > self.memory:
            return self._in_files([run], run.size)
        with self._writing() as number:
            return LevelRun(run.changes, run.data, self._write_run(number, [run], run.size), mapped=False)

    def has(self, run: Run) -> bool:
        """Whether a run lies in files that are there."""
        return isinstance(run, LevelRun) and run.level.number in self._present

    def _write_arcs(self, number: int, blocks: Iterable[Arcs], rows: int, most: int) -> Level:
        with ExitStack() as files:
            offset = self._begin(files, number, "offset", torch.int64, rows + 1)
            neighbors = self._begin(files, number, "neighbors", torch.int32, most)
            columns = self._begin_columns(files, number, most)
            total, first = 0, 0
            for block in blocks:
                offset(block.offset[first:] + total if total else block.offset[first:])
                neighbors(block.neighbors)
                for append, column in zip(columns, block.data, strict=True):
                    append(column)
                total, first = total + len(block.neighbors), 1
        self._present.add(number)
        return Level(number, total, rows)

    def _write_run(self, number: int, blocks: Iterable[Run], most: int) -> Level:
        with ExitStack() as files:
            changes = self._begin(files, number, "changes", torch.int64, most)
            columns = self._begin_columns(files, number, most)
            total = num_vertices = 0
            for block in blocks:
                changes(block.changes)
                for append, column in zip(columns, block.data, strict=True):
                    append(column)
                total, num_vertices = total + block.size, max(num_vertices, block.num_vertices)
        self._present.add(number)
        return Level(number, total, num_vertices)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[int]:
        """The number of a level whose files are written meanwhile."""
        with self._lock:
            number = self._next
            self._next += 1
            self._written.add(number)
        try:
            yield number
        finally:
            self._written.remove(number)

    def _begin(self, files: ExitStack, number: int, role: str, dtype: torch.dtype, most: int) -> Append:
        notes = {"store": str(self._store)}
        path = self._path(number, role)
        return files.enter_context(tensor_stream.writing(path, role, dtype, most, notes, self.pause))

    def _begin_columns(self, files: ExitStack, number: int, most: int) -> list[Append]:
        columns = enumerate(self._schema.columns.values())
        return [self._begin(files, number, f"data{place}", dtype, most) for place, dtype in columns]

    def write_ids(self, ids: Ids) -> Level:
        """The file of the ids of all vertices."""
        parts, text = encoded_ids(ids)
        data = b"".join(parts)
        with self._writing() as number:
            tensor = torch.frombuffer(bytearray(data), dtype=torch.uint8) if data else torch.empty(0, dtype=torch.uint8)
            notes = {"store": str(self._store), "text": str(text)}
            checksummed.write(self._path(number, "ids"), {"ids": tensor}, notes)
            self._present.add(number)
        return Level(number, len(ids), len(ids))

    # ---- from files ------------------------------------------------------------------------------------------------

    def open_arcs(self, level: Level) -> LevelArcs:
        """Arcs on maps of their files. Raises FileFormatError where one is damaged or missing."""
        offset = self._open(level.number, "offset", level.num_vertices + 1)
        neighbors = self._open(level.number, "neighbors", level.size)
        return self.arcs(Arcs(offset, neighbors, self._open_columns(level)), level)

    def open_run(self, level: Level) -> LevelRun:
        """A run on maps of its files. Raises FileFormatError where one is damaged or missing."""
        changes = self._open(level.number, "changes", level.size)
        return LevelRun(changes, self._open_columns(level), level, mapped=True)

    def _open_columns(self, level: Level) -> tuple[Tensor, ...]:
        return tuple(self._open(level.number, f"data{place}", level.size) for place in range(len(self._schema.columns)))

    def _open(self, number: int, role: str, size: int) -> Tensor:
        contents = self._contents(number, role)
        found = contents.entries.get(role, {}).get("shape")
        if found != [size] or contents.notes.get("store") != str(self._store):
            raise FileFormatError(contents.path, "the file is not that of the manifest", REMEDY)
        with _there(contents.path):
            tensor = tensor_stream.mapped(contents, role)
        if number not in self._present:
            self._present.add(number)
            self._unverified.add(number)
        if self._verify and number in self._unverified:
            self._check(contents, role, tensor)
        return tensor

    def _check(self, contents: checksummed.Contents, role: str, tensor: Tensor) -> None:
        """Compare a tensor on a map with the checksums of its file; the pages of a large one are dropped. Raises
        FileFormatError, with the place, where they differ."""
        data = tensor.view(-1).view(torch.uint8)
        for begin in range(0, len(data), _VERIFIED):
            piece = data[begin : begin + _VERIFIED]
            contents.check(role, checksummed.as_bytes(piece), begin)
            if 2 * tensor.nbytes > self._share:
                let_go([piece])

    def read_ids(self, level: Level) -> Ids:
        """The ids of all vertices. Raises FileFormatError where the file is damaged or missing."""
        contents = self._contents(level.number, "ids")
        self._present.add(level.number)
        if "text" not in contents.notes or contents.notes.get("store") != str(self._store):
            raise FileFormatError(contents.path, "the file is not that of the manifest", REMEDY)
        with _there(contents.path):
            data = contents.load("ids").numpy().data if level.size else b""
        return decoded_ids(data, 0, level.size, int(contents.notes["text"]))

    def _contents(self, number: int, role: str) -> checksummed.Contents:
        path = self._path(number, role)
        with _there(path):
            return checksummed.contents(path, REMEDY)

    def verified(self, parts: Iterable[Arcs | Run]) -> None:
        """Compare the files of arcs and runs with their checksums, unless that was done."""
        for part in parts:
            level = level_of(part)
            if level is None or level.number not in self._unverified & self._present:
                continue
            if not self._verify:
                for role in [*(["offset"] if isinstance(part, Arcs) else ()), *self._roles(part)]:
                    contents = self._contents(level.number, role)
                    self._check(contents, role, tensor_stream.mapped(contents, role))
            self._unverified.discard(level.number)

    def places_of(self, part: Arcs | Run) -> list[Place]:
        if not isinstance(part, (LevelArcs, LevelRun)) or part.level is None or not part.mapped:
            return []
        try:
            contents = [(role, self._contents(part.level.number, role)) for role in self._roles(part)]
        except FileFormatError:  # removed by a checkpoint; the maps stay
            return []
        return [Place(file.path, file.position(role)) for role, file in contents]

    def _roles(self, part: Arcs | Run) -> list[str]:
        """The files of arcs, but for the offsets, or of a run."""
        columns = [f"data{place}" for place in range(len(self._schema.columns))]
        return ["neighbors" if isinstance(part, Arcs) else "changes", *columns]

    def _path(self, number: int, role: str) -> Path:
        return self.folder / f"{number:08d}-{role}.safetensors"

    def remove_others(self, levels: Iterable[Level | None]) -> None:
        """Remove the files of all other levels; tensors on maps of them stay as they are."""
        with self._lock:
            named = self._written.union(level.number for level in levels if level is not None)
            others = [path for path in self._files() if _number(path) not in named]
            self._present.difference_update(map(_number, others))
        for path in others:
            remove(path, self.pause)

    def _files(self) -> list[Path]:
        return [path for path in self.folder.iterdir() if _NAME.fullmatch(path.name)]

    @property
    def nbytes(self) -> int:
        """Bytes of all files."""
        total = 0
        for path in self._files():
            with contextlib.suppress(FileNotFoundError):  # another process has just removed it
                total += path.stat().st_size
        return total


def _number(path: Path) -> int:
    """Number of the level of a file."""
    return int(path.name.partition("-")[0])


@contextlib.contextmanager
def _there(path: PathLike) -> Iterator[None]:
    """Say of a file that is not there that it is missing. One that is may be removed at any time by a checkpoint."""
    try:
        yield
    except FileNotFoundError:
        raise FileFormatError(path, "the file is missing, which the manifest names", REMEDY) from None


def level_of(part: Arcs | Run | None) -> Level | None:
    """The files that have arcs or a run, None where none do."""
    return part.level if isinstance(part, (LevelArcs, LevelRun)) else None
