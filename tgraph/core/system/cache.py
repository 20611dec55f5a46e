"""The cache folder on disk, for compiled kernels and measurements."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path


def folder() -> Path:
    """The cache folder of the user, which need not exist yet. Whatever lies in it can be deleted at any time.

    The environment variable TGRAPH_CACHE names it; else it is `tgraph` in the system's folder for caches:
    XDG_CACHE_HOME or ~/.cache, ~/Library/Caches on macOS, LOCALAPPDATA on Windows.

    Raises RuntimeError where the user has no home and no variable names a folder.
    """
    if chosen := os.environ.get("TGRAPH_CACHE"):
        return Path(chosen).expanduser().absolute()
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return Path(local or Path.home() / "AppData" / "Local") / "tgraph" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "tgraph"
    xdg = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(xdg) if os.path.isabs(xdg) else Path.home() / ".cache") / "tgraph"


def private_folder(name: str) -> Path:
    """A folder in the cache folder for executable code, created with access for this user only.

    Raises PermissionError, which says what to do, where others may write to it, and other OSErrors or RuntimeError
    where it cannot be made.
    """
    made = folder() / name
    made.parent.parent.mkdir(parents=True, exist_ok=True)
    for each in (made.parent, made):
        each.mkdir(mode=0o700, exist_ok=True)
    check_is_private(made.stat(), made)
    return made


def check_is_private(found: os.stat_result, path: Path) -> None:
    """Raise PermissionError where someone else than this user and the administrator could have written what lies at a
    path. A sticky bit does not help: it keeps others from removing files, not from adding some."""
    if sys.platform == "win32":  # where permissions are lists, and the folder lies in the user's own
        return
    remedy = f"remove it (rm -r '{path}'), or let the environment variable TGRAPH_CACHE name a folder of your own"
    if found.st_uid not in (0, os.geteuid()):
        raise PermissionError(f"{path} belongs to user {found.st_uid}, who could have planted code there; {remedy}")
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        mode = stat.filemode(found.st_mode)
        raise PermissionError(f"{path} ({mode}): others may write to it, and could have planted code there; {remedy}")
