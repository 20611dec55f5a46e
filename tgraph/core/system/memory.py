"""How much memory there is."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

_LIMITS = Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes")  # of a container
_UNKNOWN = 1 << 32  # bytes, where the system does not tell


def memory_of_machine() -> int:
    """The bytes of memory of the machine, or of the container that this process runs in."""
    total = _UNKNOWN
    with contextlib.suppress(AttributeError, ValueError, OSError):
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for limit in _LIMITS:
        with contextlib.suppress(ValueError, OSError):  # "max" where there is no limit
            total = min(total, int(limit.read_text()))
    return total
