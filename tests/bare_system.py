"""A plugin of pytest (-p bare_system) that takes from Python what it has on some systems only, before tgraph is
imported: the calls of Linux and of Unix, and the files under /proc and /sys. TGRAPH_NATIVE=0 takes compiled kernels,
too. What then passes needs none of these.

Nothing can be taken that torch, pytest and the tests themselves need; Windows has other paths and no fork besides.
"""

import mmap
import os
import signal
import sys
import tempfile
from pathlib import Path
from types import ModuleType

ABSENT = {
    os: (
        "O_CLOEXEC O_DIRECT O_TMPFILE RWF_NOWAIT fdatasync getloadavg memfd_create posix_fadvise posix_fallocate "
        "pread preadv pwrite pwritev register_at_fork sched_getaffinity sched_setaffinity"
    ),
    mmap: "MADV_COLLAPSE MADV_DONTNEED MADV_HUGEPAGE MADV_RANDOM MADV_SEQUENTIAL MADV_WILLNEED MAP_PRIVATE",
    signal: "pthread_sigmask setitimer sigwait",
}
SYSTEM = ("/proc/", "/sys/")


def locks_of_windows() -> ModuleType:
    """What Windows has in the place of fcntl, made of it."""
    if "msvcrt" in sys.modules:
        return sys.modules["msvcrt"]
    import fcntl

    windows = ModuleType("msvcrt")
    windows.LK_NBLCK, windows.LK_UNLCK = fcntl.LOCK_EX | fcntl.LOCK_NB, fcntl.LOCK_UN  # type: ignore[attr-defined]
    windows.locking = lambda file, mode, nbytes: fcntl.flock(file, mode)  # type: ignore[attr-defined]
    return windows


def take_away() -> None:
    """Remove them from the modules of this process."""
    for module, names in ABSENT.items():
        for name in names.split():
            if hasattr(module, name):
                delattr(module, name)
    tempfile._O_TMPFILE_WORKS = False  # type: ignore[attr-defined]
    sys.modules["msvcrt"] = locks_of_windows()
    sys.modules["fcntl"] = None  # type: ignore[assignment]
    read_text = Path.read_text

    def read_other_text(path: Path, *arguments: object, **options: object) -> str:
        if str(path).startswith(SYSTEM):
            raise FileNotFoundError(path)
        return read_text(path, *arguments, **options)  # type: ignore[arg-type]

    Path.read_text = read_other_text  # type: ignore[method-assign, assignment]


def pytest_load_initial_conftests() -> None:
    """Take them away where this is a plugin, before conftest.py imports tgraph."""
    import torch  # noqa: F401  with all that it needs itself

    assert "tgraph" not in sys.modules
    take_away()
