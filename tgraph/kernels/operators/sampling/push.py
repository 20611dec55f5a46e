"""Personalised PageRank by pushing residuals, in torch operators (Andersen, Chung and Lang, "Local graph partitioning
using PageRank vectors", FOCS 2006).

A walk from a seed ends at each step with probability alpha, and stays where no arc leads on; the score of a vertex is
the probability to end there. All of it is the seed's residual at first. In each round all vertices whose residual is at
least epsilon for each of their arcs, in ascending order, keep alpha of it as score and send the rest along their arcs.
What is left of the residuals is what scores are too small by, less than epsilon for each arc of a vertex.
"""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.dispatch import operator
from tgraph.core.rows import gather_rows
from tgraph.kernels.operators.sampling.visits import best_of_rows


@operator
def push_residuals(
    offset: Tensor, neighbors: Tensor, seeds: Tensor, alpha: float, epsilon: float, count: int
) -> tuple[Tensor, Tensor, Tensor]:
    """At most `count` vertices with the highest scores for each of the `seeds` [k] but itself, of equal ones the
    smallest: (how many, int64 [k]; vertices, int64; scores, float64)."""
    n = len(offset) - 1
    degree = offset.diff()
    key = torch.arange(len(seeds), device=seeds.device) * n + seeds  # (seed, vertex) as one number, ascending
    residual = torch.ones(len(key), dtype=torch.float64, device=seeds.device)
    gained = torch.zeros_like(residual)
    while True:
        most = degree[key % max(n, 1)].clamp(min=1).double() * epsilon
        active = (residual >= most).nonzero().squeeze(1)
        if not len(active):
            break
        vertex, taken = key[active] % n, residual[active]
        arcs = degree[vertex]
        gained[active] += torch.where(arcs > 0, taken, taken / alpha)
        residual[active] = 0
        share = (1 - alpha) * taken / arcs
        bounds, arc = gather_rows(offset, vertex)
        sender = torch.arange(len(active), device=key.device).repeat_interleave(bounds.diff())
        reached = key[active][sender] // n * n + neighbors[arc].long()
        both, inverse = torch.cat((key, reached)).unique(return_inverse=True)
        old = inverse[: len(key)]
        gained = torch.zeros(len(both), dtype=gained.dtype, device=key.device).index_copy_(0, old, gained)
        residual = torch.zeros_like(gained).index_copy_(0, old, residual)
        residual.index_add_(0, inverse[len(key) :], share[sender])
        key = both
    scored = ((gained > 0) & (key % max(n, 1) != seeds[key // max(n, 1)])).nonzero().squeeze(1)
    row, vertex, score = key[scored] // max(n, 1), key[scored] % max(n, 1), alpha * gained[scored]
    order = gained[scored].argsort(stable=True, descending=True)
    return best_of_rows(row, order, len(seeds), count, vertex, score)
