"""Anonymous files, freed when the process ends."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def without_name(folder: Path) -> int:
    """The descriptor of a new file for direct reads and writes; -1 without support or permission."""
    if not hasattr(os, "O_TMPFILE") or not hasattr(os, "O_DIRECT"):
        return -1
    with suppress(OSError):
        return os.open(folder, os.O_TMPFILE | os.O_RDWR | os.O_DIRECT | os.O_CLOEXEC, 0o600)
    return -1
