"""Initial positions of force-directed layouts by the distances from some far apart vertices, which unfold long graphs
such as road networks (Harel and Koren, "Graph drawing by high-dimensional embedding", 2002)."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core import random
from tgraph.core.frontier import Frontier
from tgraph.core.graph import Graph
from tgraph.engine.run import run
from tgraph.model.operators import aggregate
from tgraph.model.program import Relaxation

PIVOTS = 30
UNREACHED = torch.iinfo(torch.int32).max


class Hops(Relaxation):
    """Hops from a vertex: the minimum over the neighbours, plus one."""

    reduce, edge, weight = "min", "add", 1

    def __init__(self, source: int):
        self.source = source

    def init(self, graph: Graph) -> tuple[Tensor, Frontier]:
        hops = torch.full((graph.num_vertices,), UNREACHED, dtype=torch.int32, device=graph.device)
        hops[self.source] = 0
        return hops, graph.select(self.source)


def embedded(graph: Graph, seed: int) -> Tensor:
    """Positions of the vertices of an undirected graph, float64 [n, 2], about 1 from the centre: the two principal
    components of the distances from PIVOTS vertices, each as far as possible from the previous ones. The `seed`
    determines small random moves, and the ring of unreached vertices around the others."""
    n = graph.num_vertices
    place = random.uniform(random.key(seed), torch.arange(2 * n, device=graph.device)).reshape(n, 2) - 0.5
    if not n:
        return place
    pivot, nearest, distances = int(graph.out_degree.argmax()), None, []
    for _ in range(min(PIVOTS, n)):
        hops = run(Hops(pivot), graph).values
        distances.append(hops.to(torch.float64))
        nearest = hops if nearest is None else torch.minimum(nearest, hops)
        pivot = int(torch.where(nearest == UNREACHED, -1, nearest).argmax())
    reached = nearest != UNREACHED
    table = torch.stack(distances, 1)[reached]
    table = table - table.mean(0)
    found = table @ torch.linalg.eigh(table.T @ table).eigenvectors[:, -2:].flip(1) if len(distances) > 1 else table
    found = found / found.std(0, correction=0).clamp(min=1e-9)
    place[reached] = 0.05 * place[reached] + torch.nn.functional.pad(found, (0, 2 - found.shape[1]))
    ring = place[~reached]
    place[~reached] = ring / ring.norm(dim=1, keepdim=True).clamp(min=1e-9) * (2 + ring[:, :1])
    # 2/3 of a vertex's own position and 1/3 of its neighbours' mean: positions stay distinct, since 2 I + W has an
    # inverse (the eigenvalues of a random walk W are at least -1), unlike I + W of a bipartite component.
    middle = aggregate(graph, place, "sum") / graph.out_degree.clamp(min=1)[:, None]
    return torch.where(graph.out_degree[:, None] > 0, (2 * place + middle) / 3, place)
