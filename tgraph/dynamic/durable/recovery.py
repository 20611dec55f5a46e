"""Recovery of a folder that another process has left, killed or not."""

from __future__ import annotations

import os
import warnings

from tgraph.dynamic.durable.loading import Contents
from tgraph.dynamic.durable.log import Log, Sync, segments
from tgraph.dynamic.durable.manifest import REMEDY
from tgraph.dynamic.durable.reading import ReplacedError, Torn
from tgraph.errors import FileFormatError


class TornRecordWarning(UserWarning):
    """The log ended in the midst of a batch, which was not committed: it was dropped."""


def recovered_log(contents: Contents, sync: Sync) -> Log:
    """Publish the batches of the log, drop a torn record at its end, and go on behind it."""
    for left in contents.path.glob(".*.part"):  # of a killed process, for this one has the lock
        left.unlink()
    contents.levels.remove_others(contents.manifest.levels)
    path, reader, manifest = contents.path, contents.reader, contents.manifest
    try:
        contents.follow_log()
    except ReplacedError:
        raise FileFormatError(path, "the log does not follow the checkpoint", REMEDY) from None
    number, last = contents.head.version.number, manifest.last
    if number < last:
        place, where = reader.path or path, f"byte {reader.position}"
        raise FileFormatError(place, f"the log ends with batch {number}, at {where}; {last} were there", REMEDY)
    if reader.torn is not None:
        contents.dropped = reader.torn.nbytes
        _drop(reader.torn, number)
    reader.close()
    goes_on = reader.next_number == number + 1 and reader.path is not None
    for first, segment in segments(path):
        if first > number + 1 or not goes_on:  # without a batch that was promised, or all in the checkpoint
            segment.unlink()
    end = (reader.path, reader.position) if goes_on else (None, 0)
    return Log(path, manifest.store, number, reader.previous if goes_on else 0, sync, *end)


def _drop(torn: Torn, number: int) -> None:
    """Drop a torn record behind the batch of a version."""
    warnings.warn(
        f"{torn.path}: the log ends in the midst of batch {number + 1}, which was not committed: its {torn.nbytes} "
        f"bytes from byte {torn.position} are dropped",
        TornRecordWarning,
        stacklevel=5,
    )
    if torn.position:
        os.truncate(torn.path, torn.position)
    else:
        torn.path.unlink()
