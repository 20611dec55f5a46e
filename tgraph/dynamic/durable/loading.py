"""The contents of a folder: a checkpoint, and the batches of the log behind it."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

from tgraph.dynamic.durable.levels import FileLevels
from tgraph.dynamic.durable.log import segments
from tgraph.dynamic.durable.manifest import Manifest, arguments_of
from tgraph.dynamic.durable.reading import LogReader
from tgraph.dynamic.head import empty_head
from tgraph.dynamic.runs import no_arcs
from tgraph.dynamic.version import Version


class Contents:
    """A checkpoint of a folder as the version of `head`, which `follow_log` moves on.

    memory, verify, writes : of the `levels`. dropped : bytes of a torn record at the end of the log.
    """

    def __init__(self, path: Path, manifest: Manifest, memory: int, verify: bool, writes: bool):
        self.path, self.manifest, self.dropped = path, manifest, 0
        self.head = empty_head(**arguments_of(manifest.schema))
        first = self.head.version
        self.levels = levels = FileLevels(path, manifest.store, first.schema, memory, verify, writes)
        base = levels.arcs(no_arcs(first.schema)) if manifest.base is None else levels.open_arcs(manifest.base)
        runs = tuple(levels.open_run(level) for level in manifest.runs)
        if self.head.ids is not None and manifest.ids is not None:
            self.head.ids.extend(levels.read_ids(manifest.ids))
        num_vertices = manifest.num_vertices if manifest.number else first.num_vertices
        with self.head.publishing as publication:
            publication.show(Version(first.schema, manifest.number, num_vertices, base, runs))
        self.reader = LogReader(path, manifest.store, first.schema, manifest.number)

    def follow_log(self) -> None:
        """Publish the batches that the log has behind the newest version."""
        for batch in self.reader.batches():
            if self.head.ids is not None:
                self.head.ids.extend(batch.ids)
            with self.head.publishing as publication:
                publication.commit(batch.run, batch.num_vertices)

    def info(self) -> dict[str, Any]:
        """Facts about the folder, see `StoreOfFolder`."""
        nbytes = 0
        for _, segment in segments(self.path):
            with contextlib.suppress(FileNotFoundError):  # a checkpoint has it now
                nbytes += segment.stat().st_size
        return {
            "folder": os.fspath(self.path),
            "bytes of files": self.levels.nbytes,
            "bytes of log": nbytes,
            "version of the checkpoint": self.manifest.number,
            "bytes dropped": self.dropped,
        }
