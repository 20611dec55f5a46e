"""The layout that pictures take by default: each component by itself, and the small ones beside the largest."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.drawing.force import forceatlas2
from tgraph.drawing.stress import hops_of, stress
from tgraph.primitives.components import label_strong

STRESS = 500  # vertices of a component that is placed by the distances of all pairs
NEAR, CROWD = 2.2, 40  # hops between vertices, on average, where that many or more are a crowd: forces part its groups
ASPECT = 1.4  # width over height of the whole
GAP = 1.4  # between small components, in lengths of an edge
SHARE = 0.3  # of the area of the largest component, what the others take at most where they have fewer vertices
TURNS = 45  # directions that are tried for a component, of a right angle


def arranged(graph: Graph, *, iterations: int, seed: int = 0) -> Tensor:
    """Positions of the vertices of `graph`, float64 [n, 2]. Components of up to `STRESS` vertices are placed by stress
    majorization, larger ones and crowds by `iterations` of ForceAtlas2, with edges of about the same length. Each is
    turned to be as flat as possible, and they are packed in order of their size, in boxes that do not meet."""
    both = graph.decoded().to_undirected().without_self_loops()
    both = Graph(both.offset.cpu(), both.neighbors.cpu(), directed=False)
    place = torch.zeros(graph.num_vertices, 2, dtype=torch.float64)
    _, label, size = label_strong(both).unique(return_inverse=True, return_counts=True)
    order = label.argsort(stable=True)  # the vertices of each component, one after the other
    first = size.cumsum(0) - size
    for n in size[size > 1].unique().tolist():
        vertices = order[first[size == n][:, None] + torch.arange(n)]  # [components, n]
        place[vertices] = _flat(_alone(both, vertices, iterations, seed))
    return _packed(place, label, size).to(graph.device)


def _alone(graph: Graph, vertices: Tensor, iterations: int, seed: int) -> Tensor:
    """Positions of the components of the same size with the given `vertices` [components, n]."""
    count, n = vertices.shape
    if n > STRESS:
        return torch.stack([_by_forces(graph.subgraph(each), iterations, seed) for each in vertices])
    row = torch.full((graph.num_vertices,), -1)
    row[vertices] = torch.arange(count * n).reshape(count, n)
    src = row.repeat_interleave(graph.out_degree)
    here = src >= 0
    src, dst = src[here], row[graph.neighbors.long()[here]]
    linked = torch.zeros(count, n, n, dtype=torch.bool)
    linked[src // n, src % n, dst % n] = True
    hops = hops_of(linked)
    place = stress(hops, seed)
    for crowd in (hops.mean((1, 2)) < NEAR).nonzero()[:, 0].tolist() if n >= CROWD else ():
        place[crowd] = _by_forces(graph.subgraph(vertices[crowd]), iterations, seed)
    return place


def _by_forces(graph: Graph, iterations: int, seed: int) -> Tensor:
    """Positions by ForceAtlas2, scaled so that half of the edges are longer than 1."""
    place = forceatlas2(graph, iterations=iterations, seed=seed)
    way = place.repeat_interleave(graph.out_degree, 0) - place[graph.neighbors.long()]
    return place / way.norm(dim=1).median().clamp(min=1e-9)


def _flat(place: Tensor) -> Tensor:
    """Positions [graphs, n, 2], each graph turned so that its box is small and not higher than wide, from its lower
    left corner at 0."""
    best, turned = torch.full((len(place),), float("inf"), dtype=torch.float64), place
    for number in range(TURNS):
        angle = number * math.pi / 2 / TURNS
        turn = torch.tensor([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
        other = place @ turn.to(place.dtype)
        box = other.amax(1) - other.amin(1)
        cost = box.prod(1) + 1e-3 * box.sum(1) ** 2
        turned = torch.where((cost < best)[:, None, None], other, turned)
        best = torch.minimum(cost, best)
    box = turned.amax(1) - turned.amin(1)
    lying = turned.flip(2) * torch.tensor([1.0, -1.0], dtype=torch.float64)
    turned = torch.where((box[:, 1] > box[:, 0])[:, None, None], lying, turned)
    return turned - turned.amin(1, keepdim=True)


def _packed(place: Tensor, label: Tensor, size: Tensor) -> Tensor:
    """Positions with each component in a box of its own: the largest to the left, and the others in rows beside it."""
    if not len(size):
        return place
    box = torch.zeros(len(size), 2, dtype=torch.float64)
    box.scatter_reduce_(0, label[:, None].expand(-1, 2), place, "amax")
    largest = int(size.argmax())
    rest = torch.arange(len(size)) != largest
    own = float(box[largest].norm()) ** 2 / 2
    # Small components are as dense as the largest.
    gap = min(1.0, 1.2 * (own / int(size[largest])) ** 0.5) if own else 1.0
    scale = torch.full((len(size),), gap, dtype=torch.float64)
    scale[largest] = 1
    taken = gap**2 * float((box[rest] + GAP).prod(1).sum())
    if 2 * int(size[largest]) > len(label) and taken > SHARE * own:
        scale[rest] *= (SHARE * own / taken) ** 0.5
    room = (box + GAP) * scale[:, None]
    room[largest] = box[largest] + gap
    high = max(float(room[largest, 1]), (float(room.prod(1).sum()) / ASPECT) ** 0.5)
    corner = torch.zeros_like(box)
    corner[largest, 1] = (high - float(room[largest, 1])) / 2
    others = rest.nonzero()[:, 0]
    others = others[room[others, 0].argsort(descending=True, stable=True)]
    order = others[room[others, 1].argsort(descending=True, stable=True)]
    if len(order):
        wide = max(float(room[rest, 0].max()), 1.1 * float(room[rest].prod(1).sum()) / high)
        rows = _rows(room[order], wide)
        rows[:, 1] += (high - float(rows[:, 1].min())) / 2
        corner[order] = rows + torch.tensor([float(room[largest, 0]), 0])
    return place * scale[label][:, None] + corner[label]


def _rows(room: Tensor, wide: float) -> Tensor:
    """Corners of boxes of falling heights, in rows at most `wide` from 0 downwards, [boxes, 2]."""
    corners, x, top, tall = [], 0.0, 0.0, 0.0
    for width, height in room.tolist():
        if x + width > wide + 1e-9:
            x, top, tall = 0.0, top - tall, 0.0
        tall = max(tall, height)
        corners.append((x, top - height))
        x += width
    return torch.tensor(corners, dtype=torch.float64)
