"""File handling below graphs: byte streams, atomic writes, checksummed tensors, trees of plain values."""

from __future__ import annotations

import os

PathLike = str | os.PathLike[str]
