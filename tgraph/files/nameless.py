"""Files without a name, which vanish with the process."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def without_name(folder: Path) -> int:
    """A new file, read and written past the page cache; -1 where the system has no such thing, or the folder is not
    ours to write in."""
    if not hasattr(os, "O_TMPFILE") or not hasattr(os, "O_DIRECT"):
        return -1
    with suppress(OSError):
        return os.open(folder, os.O_TMPFILE | os.O_RDWR | os.O_DIRECT | os.O_CLOEXEC, 0o600)
    return -1
