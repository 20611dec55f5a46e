"""A store in a folder that this process reads, while another may change it."""

from __future__ import annotations

from pathlib import Path

from tgraph.dynamic import compaction
from tgraph.dynamic.durable.manifest import REMEDY, Manifest
from tgraph.dynamic.durable.reading import ReplacedError
from tgraph.dynamic.durable.store import StoreOfFolder
from tgraph.errors import ArgumentError, FileFormatError


class ReadStore(StoreOfFolder):
    """A store in a folder as of its newest complete batch when it was opened, and after each `refresh`.

    Takes no lock: the files of a checkpoint are never changed, and of the log what is complete is read, which its
    checksums tell. What the process that writes has not yet on the disk is seen, too.
    """

    def __init__(self, path: Path, manifest: Manifest, memory: int, verify: bool):
        super().__init__(path, manifest, memory, verify, writes=False)
        self._verify = verify
        self._follow_log()
        self._merge_runs()
        torn = self._reader.torn
        self._dropped = 0 if torn is None else torn.nbytes

    def refresh(self) -> int:
        """Go on to the newest complete batch; returns its version. Snapshots taken before stay as they are.

        Raises FileFormatError for a damaged file or batch.
        """
        with self._writing:
            if Manifest.read(self.path) == self._manifest:
                try:
                    self._follow_log()
                    self._merge_runs()
                    return self.version
                except (ReplacedError, FileFormatError):  # perhaps a checkpoint took the place of the log meanwhile
                    pass
            self._reader.close()
            newest = opened(self.path, self._memory, self._verify)
            with self._publishing:
                self._manifest, self._levels, self._reader = newest._manifest, newest._levels, newest._reader
                self._ids = newest._ids
                self._show(newest._version)
            return self.version

    def _merge_runs(self) -> None:
        """Merge runs of one size, as the process that writes does for itself: to read a row takes a search in each."""
        with self._publishing:
            version = self._version
            runs = compaction.merged_all(self._levels.merged, version.runs)
            if runs is not version.runs:
                self._show(version.with_runs(version.base, runs))

    def _check_open(self) -> None:
        raise ArgumentError(f'{self.path}: opened with mode="r" to read; open it with mode="a" to change it')

    def close(self) -> None:
        """Let go of the log. Snapshots stay."""
        super().close()
        self._reader.close()


def opened(path: Path, memory: int, verify: bool) -> ReadStore:
    """A store to read; read again where a checkpoint has removed files, or all of the log, in the meantime. Raises
    FileFormatError where it is damaged."""
    while True:
        manifest = Manifest.read(path)
        try:
            store = ReadStore(path, manifest, memory, verify)
            if store.version >= Manifest.read(path).number:
                return store
        except (ReplacedError, FileFormatError) as fault:
            if Manifest.read(path) != manifest:
                continue
            if isinstance(fault, FileFormatError):
                raise
            raise FileFormatError(path, "the log does not follow the checkpoint", REMEDY) from None
