"""The store of a graph that changes, in a folder: the one in memory with a log before it and checkpoints behind it."""

from __future__ import annotations

from pathlib import Path

from tgraph.dynamic.durable.commit import CommitLog
from tgraph.dynamic.durable.loading import Contents
from tgraph.dynamic.durable.locking import FolderLock
from tgraph.dynamic.durable.log import Sync
from tgraph.dynamic.durable.manifest import Manifest
from tgraph.dynamic.durable.reader import Replica, newest_contents
from tgraph.dynamic.durable.recovery import recovered_log
from tgraph.dynamic.durable.upkeep import FolderUpkeep
from tgraph.dynamic.store import Store
from tgraph.dynamic.writing import MemoryLog


class StoreOfFolder(Store):
    """A `Store` in a folder, composed by `tgraph.dynamic.open` for the process that changes it, or for one that reads.

    `compact` has all arcs in files and nothing in the log, `close` lets other processes change the folder. `info` has
    the folder, the bytes of files and of the log, the version of the newest checkpoint, the bytes of a torn record that
    were dropped on opening, and the fault that background work waits to pass, None for none.

    path : of the folder.
    """

    _replica: Replica | None = None

    def __init__(self, path: Path):
        self.path = path

    def refresh(self) -> int:
        """Go on to the newest complete batch of another process; returns its version. Snapshots taken before stay as
        they are. Raises FileFormatError for a damaged file or batch."""
        if self._replica is not None:
            self._replica.refresh(self._writing)
        return self.version


def written_store(
    path: Path, manifest: Manifest, lock: FolderLock, sync: Sync, memory: int, verify: bool
) -> StoreOfFolder:
    """The store of a folder that this process changes. The arguments are those of `tgraph.dynamic.open`."""
    contents = Contents(path, manifest, memory, verify, writes=True)
    log = CommitLog(contents.head, recovered_log(contents, sync))
    store = StoreOfFolder(path)
    store._compose(contents.head, log, contents.levels, FolderUpkeep(contents, log, lock))
    return store


def read_store(path: Path, memory: int, verify: bool) -> StoreOfFolder:
    """The store of a folder that this process reads, while another may change it."""
    contents = newest_contents(path, memory, verify)
    store, head = StoreOfFolder(path), contents.head
    store._replica = replica = Replica(contents, memory, verify)
    store._compose(head, MemoryLog(head), contents.levels, replica)
    return store
