"""A self-contained interactive page of a graph."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tgraph.core.system.text import counted
from tgraph.drawing.links import free_angle, parallel
from tgraph.drawing.picture import SEPARATE_EDGES, Scene
from tgraph.markup.labels import readable
from tgraph.markup.scales import short
from tgraph.markup.template import rendered

STOPS = 9  # colours that a scale is made of


def page(scene: Scene) -> str:
    """The text of an HTML page with the graph: pan and zoom with the mouse, labels where there is room for them, the
    neighbours and the data of the vertex below the mouse, and search by name. Arrays are stored in base64."""
    points, src, dst, area = scene.points, scene.src, scene.dst, scene.area
    n, m, names = len(points), len(src), scene.names
    low, high = (points.min(0), points.max(0)) if n else (np.zeros(2), np.ones(2))
    unit = (points - (low + high) / 2) / max(float((high - low).max()), 1e-12)
    colors = np.broadcast_to((scene.paint.rgb * 255).round().astype(np.uint8), (n, 3))
    rank, _, aside = parallel(src, dst, n)
    own = np.flatnonzero(src == dst).tolist() if m <= SEPARATE_EDGES else []
    identity = names == list(range(n))
    data = {
        "points": _packed(unit.astype("<f4")),
        "edges": _packed(np.stack((src, dst), 1).astype("<u4")),
        "aside": _packed(np.clip(aside, -127, 127).astype("i1")),
        "loops": [[edge, free_angle(points, src, dst, src[edge]), int(rank[edge])] for edge in own],
        "directed": scene.directed,
        "colors": _packed(np.ascontiguousarray(colors)),
        "areas": _packed((area * 255).round().astype(np.uint8)),
        "names": None if identity else [readable(name) for name in names],
        "columns": _columns(scene),
        "legend": _legend(scene),
        "count": n,
    }
    size = f"{counted(n, 'vertex')}, {counted(m, 'edge')}"
    return rendered("tgraph.drawing", title=scene.title or size, data=data)


def _columns(scene: Scene) -> list[list[Any]]:
    """The name and the values, as text, of each column."""
    called = dict(zip(("color", "size"), scene.meanings or ("color", "size"), strict=True))
    held = ((called.get(name, name), values) for name, values in scene.columns.items() if values is not None)
    return [[readable(name), [_value(value) for value in values.tolist()]] for name, values in held]


def _value(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else readable(value)


def _legend(scene: Scene) -> dict[str, Any] | None:
    """What colours mean: a name, entries, and a scale with its ends and its colours. Sizes are told of each vertex."""
    import matplotlib

    if scene.meanings is None or not (scene.paint.entries or scene.paint.range):
        return None
    shades = matplotlib.colormaps["viridis"](np.linspace(0, 1, STOPS))
    return {
        "name": readable(scene.meanings[0]),
        "entries": [[readable(name), color] for name, color in scene.paint.entries],
        "ends": [short(end) for end in scene.paint.range or ()],
        "shades": [matplotlib.colors.to_hex(shade) for shade in shades],
    }


def _packed(array: NDArray) -> str:
    return base64.b64encode(array.tobytes()).decode("ascii")
