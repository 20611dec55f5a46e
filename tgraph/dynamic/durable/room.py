"""Lack of room: on the disk, in memory, or of threads and open files."""

from __future__ import annotations

import contextlib
import errno
import re
from collections.abc import Iterator

# Lacks that end when others give something back.
_PASSES = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN)
_OF_MEMORY = re.compile("can't (allocate memory|start new thread)")


class Room:
    """Background work that is left undone while there is no room for it, until there is more to do.

    lacking : the fault that the work waits to pass, None for none.
    """

    lacking: Exception | None = None

    @contextlib.contextmanager
    def attempt(self) -> Iterator[None]:
        """Leave work undone where it raises for lack of room."""
        try:
            yield
        except (OSError, MemoryError, RuntimeError) as fault:
            if not _passes(fault):
                raise
            self.lacking = fault

    def found(self) -> None:
        """Note that some work was done."""
        self.lacking = None


def _passes(fault: Exception) -> bool:
    if isinstance(fault, OSError):
        return fault.errno in _PASSES
    return isinstance(fault, MemoryError) or _OF_MEMORY.search(str(fault)) is not None
