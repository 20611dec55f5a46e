"""Longest paths of a directed graph without cycles, such as the critical path of a plan.

Generation by generation: length[v] = max over arcs u -> v of length[u] + weight, and at least 0. O(n + m).
"""

from __future__ import annotations

import torch
from torch import Tensor

import tgraph as tg
from tgraph.algorithms.dag.order import topological_generations


def dag_longest_path(graph: tg.Graph, *, weighted: bool = False, backend: str = "auto") -> Tensor:
    """Longest path of a graph without cycles: its vertices, int64 [k]; empty without vertices.

    `weighted` sums graph.weights, which may be negative; otherwise every arc counts 1. Of several it is always the
    same: from the smallest end back through the smallest vertices.
    Raises ArgumentError for an undirected graph, weights that are missing, NaN or inf, and a graph with a cycle, which
    it names.
    `backend` names the kernels.

    >>> tg.algorithms.dag_longest_path(tg.Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3]))
    tensor([0, 1, 2, 3])
    """
    length, before = _longest(graph, weighted, backend)
    if not len(length):
        return before
    previous = before.cpu().numpy()
    path = [int((length == length.max()).nonzero()[0])]
    while (v := int(previous[path[-1]])) >= 0:
        path.append(v)
    return torch.tensor(path[::-1], device=graph.device)


def dag_longest_path_length(graph: tg.Graph, *, weighted: bool = False, backend: str = "auto") -> float:
    """The length of a longest path: its arcs, or the sum of their weights if `weighted`, an int unless these are
    floating. Parameters and errors as of `dag_longest_path`.
    `backend` names the kernels.

    >>> graph = tg.Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3], [1, 5, 1, 2])
    >>> tg.algorithms.dag_longest_path_length(graph), tg.algorithms.dag_longest_path_length(graph, weighted=True)
    (3, 7)
    """
    length, _ = _longest(graph, weighted, backend)
    return length.max().item() if len(length) else 0


def _longest(graph: tg.Graph, weighted: bool, backend: str) -> tuple[Tensor, Tensor]:
    generation = topological_generations(graph, backend=backend)
    return tg.primitives.topological.longest(graph, generation, weighted=weighted, backend=backend)
