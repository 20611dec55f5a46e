"""Reading of a folder, while another process may change it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tgraph.dynamic import tiers
from tgraph.dynamic.compaction import Merging
from tgraph.dynamic.durable.loading import Contents
from tgraph.dynamic.durable.manifest import REMEDY, Manifest
from tgraph.dynamic.durable.reading import ReplacedError
from tgraph.dynamic.guarded import Guarded
from tgraph.dynamic.writing import Writer
from tgraph.errors import ArgumentError, FileFormatError


class Replica:
    """The `Compaction` of a store that is read: as of the newest complete batch, at first and after each `refresh`.

    Takes no lock of the folder: the files of a checkpoint are never changed, and checksums say which records of the log
    are complete. Batches that the writing process has not yet on the disk are seen, too.
    """

    def __init__(self, contents: Contents, memory: int, verify: bool):
        self._contents, self._memory, self._verify = contents, memory, verify
        self._merging = Merging(contents.head, contents.levels)

    def refresh(self, writing: Guarded[Writer]) -> None:
        contents = self._contents
        with writing:
            if Manifest.read(contents.path) == contents.manifest:
                try:
                    return _follow(contents)
                except (ReplacedError, FileFormatError):  # perhaps a checkpoint took the place of the log meanwhile
                    pass
            contents.reader.close()
            newest, head = newest_contents(contents.path, self._memory, self._verify), contents.head
            with head.publishing as publication:
                head.ids = newest.head.ids
                publication.show(newest.head.version)
            newest.head, newest.dropped = head, contents.dropped
            self._contents = newest

    def check(self) -> None:
        raise ArgumentError(f'{self._contents.path}: opened with mode="r" to read; open it with mode="a" to change it')

    def keep_pace(self, begun: float, size: int) -> None:
        """See `Compaction.keep_pace`."""

    def compact(self, writing: Guarded[Writer]) -> None:
        self._merging.compact(writing)

    def close(self, writing: Guarded[Writer]) -> None:
        self._merging.close(writing)
        self._contents.reader.close()

    def info(self) -> dict[str, Any]:
        return self._contents.info()


def _follow(contents: Contents) -> None:
    """Publish the batches that have come, and merge runs of one tier, as the process that writes does for itself: to
    read a row takes a search in each run."""
    contents.follow_log()
    with contents.head.publishing as publication:
        version = publication.version
        runs = tiers.merged_all(contents.levels.merged, version.runs)
        if runs is not version.runs:
            publication.show(version.with_runs(version.base, runs))


def newest_contents(path: Path, memory: int, verify: bool) -> Contents:
    """The contents of a folder to read; read again where a checkpoint has removed files, or all of the log, in the
    meantime. Raises FileFormatError where it is damaged."""
    while True:
        manifest = Manifest.read(path)
        try:
            contents = Contents(path, manifest, memory, verify, writes=False)
            _follow(contents)
            if contents.head.version.number >= Manifest.read(path).number:
                torn = contents.reader.torn
                contents.dropped = 0 if torn is None else torn.nbytes
                return contents
        except (ReplacedError, FileFormatError) as fault:
            if Manifest.read(path) != manifest:
                continue
            if isinstance(fault, FileFormatError):
                raise
            raise FileFormatError(path, "the log does not follow the checkpoint", REMEDY) from None
