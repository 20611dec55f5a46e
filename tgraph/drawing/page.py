"""A self-contained interactive page of a graph."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tgraph.markup.labels import readable
from tgraph.markup.template import rendered


def page(
    points: NDArray, src: NDArray, dst: NDArray, paint: NDArray, area: NDArray, names: list[Any], title: str
) -> str:
    """The text of an HTML page with the graph: pan and zoom with the mouse, names of the vertex below it and of its
    neighbours, and search by name. Arrays are stored in base64."""
    n = len(points)
    low, high = (points.min(0), points.max(0)) if n else (np.zeros(2), np.ones(2))
    unit = (points - (low + high) / 2) / max(float((high - low).max()), 1e-12)
    colors = np.broadcast_to((paint * 255).round().astype(np.uint8), (n, 3))
    identity = names == list(range(n))
    data = {
        "points": _packed(unit.astype("<f4")),
        "edges": _packed(np.stack((src, dst), 1).astype("<u4")),
        "colors": _packed(np.ascontiguousarray(colors)),
        "areas": _packed((area * 255).round().astype(np.uint8)),
        "names": None if identity else [readable(name) for name in names],
        "count": n,
    }
    return rendered("tgraph.drawing", title=title or f"{n:,} vertices, {len(src):,} edges", data=data)


def _packed(array: NDArray) -> str:
    return base64.b64encode(array.tobytes()).decode("ascii")
