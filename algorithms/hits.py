"""HITS: hubs point at good authorities, authorities are pointed at by good hubs (Kleinberg, J. ACM 1999).

Power iteration on hub = A authority, authority = A^T hub; both are scaled to sum to 1, as networkx does.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

import tgraph as tg
from tgraph.algorithms._power import change, check_dtype, check_weights, wide


class HITS(tg.Program):
    """Hub and authority scores: a dict of two tensors [n], each of sum 1 (0 where the graph has no arcs).

    tol : stop once an iteration changes the hub scores by at most this in all (L1); None does `max_iterations`
    rounds. weighted : arcs count by their weights. dtype : of the scores.
    """

    def __init__(
        self,
        *,
        tol: float | None = 1e-6,
        max_iterations: int = 1000,
        weighted: bool = False,
        dtype: torch.dtype = torch.float32,
    ):
        check_dtype(dtype)
        self.tolerance, self.dtype, self.edge = tol, dtype, "mul" if weighted else "copy"
        self.rounds, self.max_iterations = (max_iterations, None) if tol is None else (None, max_iterations)

    def init(self, graph: tg.Graph) -> tuple[dict[str, Tensor], tg.Frontier]:
        if self.edge == "mul":
            check_weights(graph)
        even = torch.full((graph.num_vertices,), 1 / max(graph.num_vertices, 1), dtype=self.dtype, device=graph.device)
        return {"hub": even, "authority": even.clone()}, graph.everything()

    def compute(self, sub: tg.Subgraph, score: dict[str, Tensor], active: tg.Frontier):
        authority = scaled(tg.aggregate(sub, wide(score["hub"]), "sum", edge=self.edge).values)
        hub = scaled(tg.aggregate(sub.reverse(), authority, "sum", edge=self.edge).values)
        return {"hub": hub.to(self.dtype), "authority": authority.to(self.dtype)}, active

    def residual(self, before: dict[str, Tensor], after: dict[str, Tensor]) -> Tensor:
        return change(before["hub"], after["hub"])


def scaled(score: Tensor) -> Tensor:
    """The scores divided by their sum."""
    total = score.sum()
    return score / torch.where(total == 0, 1, total)


def hits(
    graph: tg.Graph,
    *,
    tol: float | None = 1e-6,
    max_iterations: int = 1000,
    weighted: bool = False,
    dtype: torch.dtype = torch.float32,
    **options: Any,
) -> tuple[Tensor, Tensor]:
    """(hubs, authorities), two tensors [n] that each sum to 1.

    The parameters are those of `HITS`; `options` go to `tgraph.run`. Raises NotConvergedError, with the scores so
    far, where `tol` is not met within `max_iterations`.
    """
    program = HITS(tol=tol, max_iterations=max_iterations, weighted=weighted, dtype=dtype)
    score = tg.run(program, graph, **options).values
    return score["hub"], score["authority"]
