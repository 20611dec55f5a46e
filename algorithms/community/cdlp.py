"""Community detection by label propagation (Raghavan, Albert, Kumara, Physical Review E 2007), the synchronous and
deterministic variant of LDBC Graphalytics.

label[v] = the most frequent label of the neighbours of v, the smallest of equally frequent ones. O(n + m) for each
iteration. Labels are ranks by original id here, so that the smallest label is that of the smallest id.
"""

from __future__ import annotations

import torch
from torch import Tensor

import tgraph as tg


def cdlp(graph: tg.Graph, *, iterations: int = 10, backend: str = "auto") -> Tensor:
    """Communities by synchronous label propagation: for each vertex the index of the vertex whose label it has, int64
    [n].

    Every vertex begins with a label of its own. In each of the `iterations` all vertices at once take the label that
    most of their neighbours have, of equally frequent ones that of the smallest original id (the smallest index where
    ids are no integers); `graph.ids` of the result are the labels of LDBC Graphalytics. In a directed graph a
    neighbour by an arc each way counts twice, parallel arcs count each. A vertex without neighbours keeps its label.
    Ends early once no label changes. `backend` names the kernels, "auto" takes the best.
    Raises ArgumentError for iterations below 0.

    >>> tg.algorithms.cdlp(tg.generators.barbell(4, 0))
    tensor([0, 0, 0, 0, 4, 4, 4, 4])
    """
    if not isinstance(iterations, int) or iterations < 0:
        raise tg.errors.ArgumentError(f"iterations: expected an int of 0 or more, got {iterations!r}")
    vertex = torch.arange(graph.num_vertices, device=graph.device)
    if not isinstance(graph.vertices, Tensor):
        return tg.primitives.label_propagation.propagate(graph, vertex, iterations, backend=backend)
    by_id = graph.vertices.argsort().to(graph.device)
    return by_id[tg.primitives.label_propagation.propagate(graph, by_id.argsort(), iterations, backend=backend)]
