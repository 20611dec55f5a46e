"""How much memory there is."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

_LIMITS = Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes")  # of a container
_MEMINFO = Path("/proc/meminfo")
_OWN_GROUPS = Path("/proc/self/cgroup")
_GROUPS = Path("/sys/fs/cgroup")
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


def available_memory() -> int | None:
    """The bytes that this process may still take: what the machine has left, and what the control groups of Linux that
    hold the process leave it, page cache not counted. None where the system tells neither."""
    found = list(_left_by_groups())
    with contextlib.suppress(OSError, KeyError, ValueError):
        lines = dict(line.split(":") for line in _MEMINFO.read_text().splitlines())
        found.append(int(lines["MemAvailable"].split()[0]) * 1024)
    return max(min(found), 0) if found else None


def _left_by_groups() -> Iterator[int]:
    """Memory left in each control group of this process that has a limit, by either version of these."""
    for group in _groups():
        for limit, used in (("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes")):
            with contextlib.suppress(OSError, ValueError):  # "max" where there is no limit
                most = int((group / limit).read_text())
                lines = (line.split() for line in (group / "memory.stat").read_text().splitlines())
                numbers = {name.removeprefix("total_"): int(number) for name, number in lines}  # totals come last
                cached = numbers.get("active_file", 0) + numbers.get("inactive_file", 0)
                yield most - int((group / used).read_text()) + cached


def _groups() -> Iterator[Path]:
    """The folders of the groups for memory that this process is in, from the innermost to the outermost."""
    with contextlib.suppress(OSError, ValueError):
        for line in _OWN_GROUPS.read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers == "" or "memory" in controllers.split(","):
                root = _GROUPS / "memory" if controllers else _GROUPS
                inner = root / path.lstrip("/")
                yield from (folder for folder in (inner, *inner.parents) if folder.is_relative_to(root))
