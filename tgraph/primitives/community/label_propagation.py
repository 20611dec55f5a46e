"""Label vote: every vertex takes the most frequent label of its neighbours."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.kernels.operators.community import label_propagation as operators


def propagate(graph: Graph, labels: Tensor, rounds: int, *, backend: str = "auto") -> Tensor:
    """The labels, int64 [n], after `rounds` synchronous rounds in each of which every vertex takes the most frequent
    label of its neighbours, the least of equals.

    labels : int64 [n], from 0 to n - 1. rounds : 0 or more; none are made once no label changes. In a directed graph
    a neighbour by an arc each way votes twice, as does one by parallel arcs in any. A vertex without neighbours keeps
    its label. `backend` names the kernels. O(m) each round.
    Raises ArgumentError for labels of another shape, dtype, device or range, and for negative rounds.

    >>> graph = tg.generators.barbell(4, 0)
    >>> tg.primitives.label_propagation.propagate(graph, torch.arange(8), rounds=10)
    tensor([0, 0, 0, 0, 4, 4, 4, 4])
    """
    if not isinstance(labels, Tensor) or labels.shape != (graph.num_vertices,) or labels.dtype != torch.int64:
        got = f"{labels.dtype} {list(labels.shape)}" if isinstance(labels, Tensor) else type(labels).__name__
        raise ArgumentError(f"labels: expected an int64 tensor [{graph.num_vertices}], got {got}")
    if labels.device != graph.device:
        raise ArgumentError(f"labels: on {labels.device} while the graph is on {graph.device}; use labels.to")
    wrong = ((labels < 0) | (labels >= graph.num_vertices)).nonzero()
    if len(wrong):
        position = int(wrong[0])
        raise ArgumentError(
            f"labels: {int(labels[position])} at position {position} is outside 0..{graph.num_vertices - 1}; "
            "labels.unique(return_inverse=True) renumbers them"
        )
    if not isinstance(rounds, int) or rounds < 0:
        raise ArgumentError(f"rounds: expected an int of 0 or more, got {rounds!r}")
    return operators.vote.with_backend(backend)(graph.decoded(), labels, rounds)
