"""File handling below graphs: byte streams, atomic writes, checksummed tensors, trees of plain values."""

from __future__ import annotations

import os
from collections.abc import Callable

PathLike = str | os.PathLike[str]

# Asked after each part of a large file that is written or removed. None where nobody else waits for the disk: then the
# parts may be large. Else the disk is left to the others for so many times as long as the part took.
Pause = Callable[[], float | None]
