"""File handling below graphs: byte streams, atomic writes, checksummed tensors, trees of plain values."""

from __future__ import annotations

import os
from collections.abc import Callable

PathLike = str | os.PathLike[str]

# Called after each part of a large write or removal: None if no other reader waits for the disk, so that parts may be
# large; else the length of the following pause, as a multiple of the time of the part.
Pause = Callable[[], float | None]
