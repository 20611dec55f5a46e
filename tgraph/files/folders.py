"""Errors for folders where files are expected, and files where folders are."""

from __future__ import annotations

import os
from pathlib import Path

from tgraph.errors import ArgumentError
from tgraph.files import PathLike

MANIFEST = "manifest.json"  # of a store


def check_no_folder(path: PathLike) -> None:
    """Raise ArgumentError for a folder, such as a store's."""
    if os.path.isdir(path):
        folder = Path(path)
        if (folder / MANIFEST).exists():
            raise ArgumentError(f"path: {folder} is the folder of a store; tgraph.dynamic.open opens it")
        raise ArgumentError(f"path: {folder} is a folder; name a file in it")


def check_no_file(path: PathLike) -> None:
    """Raise ArgumentError for a file where the folder of a store is expected."""
    if (file := Path(path)).is_file():
        raise ArgumentError(f"path: {file} is a file, and a store is a folder; tgraph.read reads a graph from a file")
