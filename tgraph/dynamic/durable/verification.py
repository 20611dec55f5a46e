"""Every byte of a store in a folder, compared with its checksum."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

from tgraph.dynamic.durable.levels import FileLevels
from tgraph.dynamic.durable.manifest import REMEDY, Level, Manifest, arguments_of
from tgraph.dynamic.durable.reading import LogReader, ReplacedError
from tgraph.dynamic.durable.recovery import TornRecordWarning
from tgraph.dynamic.head import empty_head
from tgraph.errors import FileFormatError
from tgraph.files import PathLike
from tgraph.files.folders import check_no_file


def verify(path: PathLike) -> list[FileFormatError]:
    """Read all of a store, which another process may change meanwhile, and return an error for each damage, which names
    the file and the place.

    path : of the folder. An incomplete batch at the end of the log is no damage, but gives a TornRecordWarning. Raises
    FileNotFoundError for a folder without a store.

    >>> with tg.dynamic.open("web.tgd") as store:
    ...     store.insert([0, 1], [1, 2])
    1
    >>> tg.dynamic.verify("web.tgd")
    []
    """
    check_no_file(path)
    folder = Path(path)
    while True:
        try:
            manifest = Manifest.read(folder)
        except FileFormatError as fault:
            return [fault]
        found = [*_damaged_levels(folder, manifest), *_damaged_log(folder, manifest)]
        if not found or Manifest.read(folder) == manifest:
            return found


def _damaged_levels(folder: Path, manifest: Manifest) -> Iterator[FileFormatError]:
    schema = empty_head(**arguments_of(manifest.schema)).version.schema
    levels = FileLevels(folder, manifest.store, schema, 0, verify=True)

    def opened(level: Level) -> None:
        if level == manifest.ids:
            levels.read_ids(level)
        elif level == manifest.base:
            levels.open_arcs(level)
        else:
            levels.open_run(level)

    for level in manifest.levels:
        try:
            opened(level)
        except FileFormatError as fault:
            yield fault


def _damaged_log(folder: Path, manifest: Manifest) -> Iterator[FileFormatError]:
    schema = empty_head(**arguments_of(manifest.schema)).version.schema
    reader = LogReader(folder, manifest.store, schema, manifest.number, reads_all=True)
    try:
        for _ in reader.batches():
            pass
    except FileFormatError as fault:
        yield fault
        return
    except ReplacedError:
        yield FileFormatError(folder, "the log does not follow the checkpoint", REMEDY)
        return
    finally:
        reader.close()
    number = max(reader.number, manifest.number)
    if number < manifest.last:
        yield FileFormatError(
            reader.path or folder, f"the log ends with batch {number}, {manifest.last} were there", REMEDY
        )
    elif reader.torn is not None:
        torn = reader.torn
        warnings.warn(
            f"{torn.path}: {torn.nbytes} bytes from byte {torn.position} are of a batch that was not committed",
            TornRecordWarning,
            stacklevel=3,
        )
