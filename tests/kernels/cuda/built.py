"""What took long to compile, kept by the digest of all that it was made from: in build/, so that `make clean` forgets
it. Files that no test has used for so many days are removed."""

import hashlib
import os
import subprocess
import time
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parents[3] / "build" / "tests"
DAYS = 14


def digest(facts: Iterable[object]) -> str:
    """A digest of values by their text."""
    return hashlib.sha256(repr(list(facts)).encode()).hexdigest()


@cache
def version_of(command: str) -> str:
    """The version text of a compiler."""
    return subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout


def built(name: str, make: Callable[[Path], None]) -> Path:
    """The file of that name, written by `make` if missing. Several processes may request one at once: each
    writes its own, and the last one stays."""
    path = FOLDER / name
    if path.exists():
        os.utime(path)
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    mine = path.with_name(f"{path.stem}.{os.getpid()}{path.suffix}")
    try:
        make(mine)
        mine.replace(path)
    finally:
        mine.unlink(missing_ok=True)
    return path


def forget_old() -> None:
    """Remove files that were last used too long ago."""
    before = time.time() - DAYS * 24 * 3600
    for path in FOLDER.rglob("*.*"):
        try:
            if path.is_file() and path.stat().st_mtime < before:
                path.unlink()
        except FileNotFoundError:  # another process was faster
            continue
