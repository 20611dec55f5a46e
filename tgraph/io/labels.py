"""Text labels as two arrays, for binary formats without pickle."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from tgraph.io.edges import text_labels


def pack(vertices: Any) -> tuple[np.ndarray, np.ndarray]:
    """(UTF-8 bytes of all labels, uint8; their offsets, int64 [n + 1]). Raises ArgumentError for other types."""
    encoded = [label.encode() for label in text_labels(vertices)]
    offset = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum([len(label) for label in encoded], out=offset[1:])
    return np.frombuffer(bytearray().join(encoded), dtype=np.uint8), offset


def tensors_of(order: Tensor | None, vertices: Any) -> dict[str, Tensor]:
    """The tensors of the order and the original ids of a graph in a .tg file, the widest dtype first. Raises
    ArgumentError for labels that are not text."""
    tensors = {} if order is None else {"order": order}
    if isinstance(vertices, Tensor):
        tensors["vertices"] = vertices
    elif vertices is not None:
        text, offset = map(torch.from_numpy, pack(vertices))
        tensors |= {"vertex_text_offset": offset, "vertex_text": text}
    return tensors


def unpack(text: np.ndarray, offset: np.ndarray) -> np.ndarray:
    """The labels as an object array [n]. Raises ValueError where the arrays are inconsistent."""
    if not len(offset) or offset[0] != 0 or offset[-1] != len(text) or (np.diff(offset) < 0).any():
        raise ValueError("the offsets of the labels do not fit their text")
    data = text.tobytes()
    labels = np.empty(len(offset) - 1, dtype=object)
    labels[:] = [data[a:b].decode() for a, b in zip(offset[:-1].tolist(), offset[1:].tolist(), strict=True)]
    return labels
