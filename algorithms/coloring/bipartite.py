"""Two colours: whether the vertices fall into two sides such that every edge joins one to the other.

Breadth-first search colours by the parity of depth. An edge between vertices of equal depth closes an odd cycle with
the paths from both to where these meet, and no graph with one has two sides (König, 1916). O(n + m), and less where the
search meets an odd cycle early.
"""

from __future__ import annotations

import torch
from torch import Tensor

import tgraph as tg


def is_bipartite(graph: tg.Graph, *, backend: str = "auto") -> bool:
    """True where every edge joins one side to the other. Arcs count as edges whichever way they point.

    `backend` names the kernels.

    >>> tg.algorithms.is_bipartite(tg.generators.cycle(4)), tg.algorithms.is_bipartite(tg.generators.cycle(5))
    (True, False)
    """
    if graph.layout is None or graph.layout.is_distributed or graph.directed:
        return not tg.primitives.coloring.has_odd_cycle(graph, backend=backend)
    return _colored(graph, backend)[1] < 0


def bipartite_color(graph: tg.Graph, *, backend: str = "auto") -> Tensor:
    """Sides of a bipartite graph: that of each vertex, int64 [n], 0 for the smallest vertex of each connected
    component, else 0 or 1.

    Arcs count as edges whichever way they point. Raises ArgumentError for a graph with an odd cycle, which it names.
    `backend` names the kernels.

    >>> tg.algorithms.bipartite_color(tg.generators.path(4))
    tensor([0, 1, 0, 1])
    >>> tg.algorithms.bipartite_color(tg.generators.cycle(3))
    Traceback (most recent call last):
        ...
    tgraph.errors.ArgumentError: graph: not bipartite, it has an odd cycle, of vertices 1, 0, 2; ...
    """
    depth, conflict = _colored(_undirected(graph), backend)
    if conflict >= 0:
        cycle = odd_cycle(graph, backend=backend)
        shown = ", ".join(str(graph.ids(v)) for v in cycle[:8].tolist()) + (", ..." if len(cycle) > 8 else "")
        raise tg.errors.ArgumentError(
            f"graph: not bipartite, it has an odd cycle, of vertices {shown}; odd_cycle(graph) gives it"
        )
    return depth & 1


def odd_cycle(graph: tg.Graph, *, backend: str = "auto") -> Tensor:
    """Cycle of odd length, which no bipartite graph has: its vertices in order, int64 [k]; empty for a bipartite graph.

    Arcs count as edges whichever way they point; a self-loop is such a cycle. It is always the same.
    `backend` names the kernels.

    >>> tg.algorithms.odd_cycle(tg.generators.lollipop(3, 2))
    tensor([1, 0, 2])
    """
    graph = _undirected(graph)
    depth, conflict = _colored(graph, backend)
    if conflict < 0:
        return depth.new_empty(0)

    def neighbor(v: int, level: int) -> int:
        """The smallest neighbour at a depth."""
        row = graph.storage.rows(torch.tensor([v], device=graph.device))[1].to(torch.int64)
        return int(row[depth.index_select(0, row) == level][0])

    level = int(depth[conflict])
    left, right = [conflict], [neighbor(conflict, level)]
    while left[-1] != right[-1]:
        level -= 1
        left.append(neighbor(left[-1], level))
        right.append(neighbor(right[-1], level))
    return torch.tensor(left + right[-2::-1], device=graph.device)


class _Depth(tg.Relaxation):
    """Hops from the nearest of several vertices, int64 [n]."""

    reduce, edge, weight = "min", "add", 1

    def __init__(self, roots: Tensor):
        self.roots = roots

    def init(self, graph: tg.Graph) -> tuple[Tensor, tg.Frontier]:
        depth = torch.full((graph.num_vertices,), torch.iinfo(torch.int64).max, device=graph.device)
        return depth.index_fill(0, self.roots, 0), graph.select(self.roots)


def _colored(graph: tg.Graph, backend: str) -> tuple[Tensor, int]:
    """As `color_by_depth`; a graph in a layout is searched there, and its arcs are looked at part by part."""
    if graph.layout is None or graph.layout.is_distributed:
        return tg.primitives.coloring.color_by_depth(graph, backend=backend)
    vertex = torch.arange(graph.num_vertices, device=graph.device)
    root = tg.algorithms.wcc(graph).to(torch.int64)
    depth, conflicts = tg.run(_Depth(vertex[root == vertex]), graph).values, vertex[:0]
    for arcs in tg.primitives.edges.in_parts(graph):
        conflicts = torch.cat((conflicts, arcs.source[depth[arcs.source] == depth[arcs.target]]))
        for rank in (root, depth, vertex):  # the least root, of these the least depth, of these the least vertex
            of = rank.index_select(0, conflicts)
            conflicts = conflicts[of == of.min()] if len(of) else conflicts
    return depth, int(conflicts[0]) if len(conflicts) else -1


def _undirected(graph: tg.Graph) -> tg.Graph:
    return graph.to_undirected() if graph.directed else graph
