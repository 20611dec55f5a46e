"""Maximum flows in torch operators: shortest augmenting paths, one after the other (Edmonds and Karp, J. ACM 1972)."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.dispatch import operator
from tgraph.core.graph import Graph


@operator
def max_flow(
    graph: Graph, source: int, target: int, flow: Tensor | None, source_side: Tensor | None, weighted: bool
) -> float:
    """See `tgraph.primitives.flow.max_flow`; written into `flow`, which holds zeros, and `source_side`."""
    m, u, v = graph.num_arcs, sorting.expand_rows(graph.offset), graph.neighbors.to(torch.int64)
    capacity = torch.ones_like(u) if graph.weights is None or not weighted else graph.weights.detach()
    capacity = capacity.to(torch.float64 if capacity.is_floating_point() else torch.int64)
    tail, head = torch.cat((u, v)), torch.cat((v, u))  # each arc, then its reverse
    left = torch.cat((capacity, torch.zeros_like(capacity)))
    total = capacity.new_zeros(()).item()
    while True:
        before, reaches = _search_back(tail, head, left, graph.num_vertices, source, target)
        if not reaches[source]:
            break
        path = _steps(before, head, source, target)
        least = left[path].min()
        total += least.item()
        if total == torch.inf:
            return total
        left[path] -= least
        left[(path + m) % (2 * m)] += least
    if flow is not None:
        flow.copy_(left[m:])
        if not graph.directed:
            flow.sub_(flow[graph.transpose_permutation]).clamp_(min=0)
    if source_side is not None:
        source_side.copy_(~reaches)
    return total


def _search_back(tail: Tensor, head: Tensor, left: Tensor, n: int, source: int, target: int) -> tuple[Tensor, Tensor]:
    """Breadth-first from the target: for each vertex the step towards it, the first of equals, and who reaches it."""
    step = torch.full((n,), len(tail), device=tail.device)
    reaches = torch.zeros(n, dtype=torch.bool, device=tail.device)
    reaches[target] = True
    open_steps = (left > 0).nonzero().flatten()
    while not bool(reaches[source]):
        found = open_steps[reaches[head[open_steps]] & ~reaches[tail[open_steps]]]
        if not len(found):
            break
        step.scatter_reduce_(0, tail[found], found, "amin")
        reaches[tail[found]] = True
    return step, reaches


def _steps(step: Tensor, head: Tensor, source: int, target: int) -> Tensor:
    """The steps from the source to the target; inherently sequential."""
    path, v = [], source
    while v != target:
        path.append(int(step[v]))
        v = int(head[path[-1]])
    return torch.tensor(path, device=step.device)
