"""Force-directed layouts: vertices repel each other, and edges attract their ends.

Repulsion of all pairs is computed by a quadtree (`primitives/repulsion.py`): an iteration takes O(m + n log n).
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.drawing.pivots import embedded
from tgraph.errors import ArgumentError
from tgraph.model.operators import aggregate
from tgraph.primitives.repulsion import repulsion
from tgraph.progress import track


def forceatlas2(
    graph: Graph,
    *,
    iterations: int = 100,
    scaling: float = 2.0,
    gravity: float = 1.0,
    strong_gravity: bool = False,
    linlog: bool = False,
    tolerance: float = 1.0,
    theta: float = 1.2,
    weighted: bool = False,
    positions: Tensor | None = None,
    seed: int = 0,
) -> Tensor:
    """Positions of the vertices of `graph`, float64 [n, 2].

    Jacomy, Venturini, Heymann and Bastian, "ForceAtlas2", PLoS ONE 2014: vertices repel each other by `scaling` * the
    product of (degree + 1) over the distance; edges attract proportionally to the distance, or with `linlog` to its
    logarithm, and with `weighted` to their weights; `gravity` attracts to the centre, `strong_gravity` proportionally
    to the distance. Steps adapt to the swing of vertices, scaled by `tolerance`. The `iterations` start from
    `positions` [n, 2], by default from a high-dimensional embedding drawn with the `seed`; `theta` is that of
    `primitives.repulsion`. Raises ArgumentError for positions of another shape.

    >>> graph = tg.generators.barbell(4, 0)
    >>> x = tg.drawing.forceatlas2(graph, seed=1)
    >>> (x[0] - x[1]).norm() < (x[0] - x[7]).norm()
    tensor(True)
    """
    adjacency, n = _adjacency(graph, weighted), graph.num_vertices
    place = _start(adjacency, positions, seed)
    if positions is None:
        place = place * (5 * n**0.5)  # about the final width
    mass = adjacency.out_degree.to(torch.float64) + 1
    force, speed, efficiency = torch.zeros_like(place), 1.0, 1.0
    for _ in track(range(iterations if n > 1 else 0), "ForceAtlas2"):
        before, force = force, scaling * repulsion(place, mass, theta=theta).to(place.device)
        force -= _gravity(place, mass, gravity, strong_gravity)
        if linlog:
            force += _along(adjacency, place, lambda length: length.log1p() / length.clamp(min=1e-12))
        else:
            force += _linear(adjacency, place)
        swing, traction = (force - before).norm(dim=1), (force + before).norm(dim=1) / 2
        swings, tractions = float((mass * swing).sum()), float((mass * traction).sum())
        speed, efficiency = _speed(speed, efficiency, swings, tractions, tolerance, n)
        place = place + force * (speed / (1 + (speed * swing).sqrt()))[:, None]
    return place


def spring(
    graph: Graph,
    *,
    k: float | None = None,
    iterations: int = 50,
    theta: float = 1.0,
    weighted: bool = False,
    positions: Tensor | None = None,
    seed: int = 0,
) -> Tensor:
    """Positions of the vertices of `graph` in a square about 1 wide, float64 [n, 2].

    Fruchterman and Reingold, "Graph drawing by force-directed placement", 1991: vertices repel each other by k^2 over
    the distance and edges attract by its square over k, `weighted` ones times their weights; `k` is about the length of
    an edge (default: the root of 1 / n). In each of the `iterations` a falling temperature limits the steps. They start
    from `positions` [n, 2], by default from a high-dimensional embedding drawn with the `seed`; `theta` is that of
    `primitives.repulsion`. Raises ArgumentError for a k that is not positive, or positions of another shape.

    >>> graph = tg.generators.barbell(4, 0)
    >>> x = tg.drawing.spring(graph)
    >>> (x[0] - x[1]).norm() < (x[0] - x[7]).norm()
    tensor(True)
    """
    adjacency, n = _adjacency(graph, weighted), graph.num_vertices
    k = max(n, 1) ** -0.5 if k is None else k
    if not k > 0:
        raise ArgumentError(f"k: {k} is not positive; it is about the length of an edge")
    place = _start(adjacency, positions, seed)
    ones = torch.ones(n, dtype=torch.float64, device=place.device)
    temperature = 0.1 * max(float((place.amax(0) - place.amin(0)).max()), 1e-3) if n else 0.0
    for step in track(range(iterations if n > 1 else 0), "spring"):
        attraction = _along(adjacency, place, lambda length: length) / k
        force = k * k * repulsion(place, ones, theta=theta).to(place.device) + attraction
        length = force.norm(dim=1).clamp(min=1e-12)
        limit = temperature * (1 - step / iterations)
        place = place + force * (length.clamp(max=limit) / length)[:, None]
    return place


def _adjacency(graph: Graph, weighted: bool) -> Graph:
    """The undirected graph of attraction, without self-loops. Raises ArgumentError for missing weights."""
    if weighted and graph.weight_dtype is None:
        raise ArgumentError("weighted: the graph has no weights; leave it out")
    both = graph.decoded().to_undirected().without_self_loops()
    weights = both.weights.to(torch.float64) if weighted and both.weights is not None else None
    return Graph(both.offset, both.neighbors, weights, directed=False)


def _start(graph: Graph, positions: Tensor | None, seed: int) -> Tensor:
    """The given positions, by default a high-dimensional embedding."""
    n = graph.num_vertices
    if positions is None:
        return embedded(graph, seed)
    if positions.shape != (n, 2):
        raise ArgumentError(f"positions: expected [{n}, 2], got {list(positions.shape)}")
    return positions.to(graph.device, torch.float64)


def _sum(graph: Graph, data: Tensor, weighted: bool = True) -> Tensor:
    """The sum of the data of each vertex's neighbours, times the weights of the edges."""
    return aggregate(graph, data, "sum", edge="mul" if weighted and graph.weights is not None else "copy")


def _linear(graph: Graph, place: Tensor) -> Tensor:
    """The sum of the vectors to the neighbours of each vertex."""
    if graph.weights is None:
        return _sum(graph, place) - place * graph.out_degree[:, None]
    strength = _sum(graph, torch.ones(len(place), dtype=place.dtype, device=place.device))
    return _sum(graph, place) - place * strength[:, None]


def _along(graph: Graph, place: Tensor, factor: Callable[[Tensor], Tensor]) -> Tensor:
    """The sum of the vectors to the neighbours of each vertex, times a factor of their length."""
    source = torch.repeat_interleave(graph.out_degree)
    way = place.index_select(0, graph.neighbors) - place.index_select(0, source)
    scale = factor(way.norm(dim=1))
    if graph.weights is not None:
        scale = scale * graph.weights
    return torch.zeros_like(place).index_add_(0, source, way * scale[:, None])


def _gravity(place: Tensor, mass: Tensor, gravity: float, strong: bool) -> Tensor:
    length = 1.0 if strong else place.norm(dim=1).clamp(min=1e-12)[:, None]
    return gravity * mass[:, None] * place / length


def _speed(
    speed: float, efficiency: float, swings: float, tractions: float, tolerance: float, n: int
) -> tuple[float, float]:
    """The next (speed, efficiency), as adapted by the authors' code."""
    estimated = 0.05 * n**0.5
    least, most = estimated**0.5, 10.0
    jitter = tolerance * max(least, min(most, estimated * tractions / max(n * n, 1)))
    if tractions > 0 and swings / tractions > 2:
        efficiency, jitter = max(0.05, efficiency * 0.5), max(jitter, tolerance)
    target = jitter * efficiency * tractions / swings if swings > 0 else speed * 1.5
    if swings > jitter * tractions:
        efficiency = max(0.05, efficiency * 0.7)
    elif speed < 1000:
        efficiency *= 1.3
    return speed + min(target - speed, 0.5 * speed), efficiency
