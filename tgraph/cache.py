"""Where tgraph keeps on disk what it would rather not compute again."""

from __future__ import annotations

import os
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
