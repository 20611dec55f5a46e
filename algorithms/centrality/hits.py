"""HITS: hubs point at good authorities, authorities are pointed at by good hubs (Kleinberg, J. ACM 1999).

    authority = A^T hub / |A^T hub|        hub = A authority / |A authority|

with the L1 norm, as networkx does; O(n + m) for each iteration. The norms are known before the products: A^T hub sums
to the sum of hub weighed by the out-degrees, and A authority to that of authority weighed by the in-degrees. So each
line is one affine step.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

import tgraph as tg
from tgraph.algorithms.centrality._implicit import received, scaled_to, solved, wants, weights_of
from tgraph.algorithms.centrality._power import check_dtype, fitted, inverse, strength


class HITS(tg.Program):
    """Hub and authority scores: a dict of two tensors [n], "hub" and "authority", each of sum 1 (0 where the graph has
    no arcs).

    tol : stop once an iteration changes the hub scores by at most this in all (L1); None does `max_iterations`
    rounds. weighted : arcs count by their weights. dtype : of the scores.

    >>> graph = tg.Graph.from_edges([0, 0, 1], [2, 3, 3])
    >>> scores = tg.run(tg.algorithms.HITS(), graph).values
    >>> scores["authority"].round(decimals=3)
    tensor([0.0000, 0.0000, 0.3820, 0.6180])
    """

    dtype: torch.dtype

    one_torch_thread = True

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
        leaving, entering = (fitted(strength(self, each, self.edge), self.dtype) for each in (graph, graph.transpose()))
        self.authority_of = tg.primitives.linear.AffineMap(edge=self.edge, measure=entering)
        self.hub_of = tg.primitives.linear.AffineMap(edge=self.edge, measure=leaving)
        even = torch.full((graph.num_vertices,), 1 / max(graph.num_vertices, 1), dtype=self.dtype, device=graph.device)
        return {"hub": even, "authority": even.clone()}, graph.everything()

    def compute(self, sub: tg.Subgraph, score: dict[str, Tensor], active: tg.Frontier):
        hub = score["hub"]
        authority = self.authority_of.step(sub, hub, alpha=inverse(self.hub_of.total(hub)))
        leads = inverse(self.authority_of.total(authority))
        hub = self.hub_of.step(sub.reverse(), authority, alpha=leads, before=hub)
        return {"hub": hub, "authority": authority}, active

    def residual(self, before: dict[str, Tensor], after: dict[str, Tensor]) -> Tensor | float:
        return self.hub_of.change(before["hub"], after["hub"])


def hits(
    graph: tg.Graph,
    *,
    tol: float | None = 1e-6,
    max_iterations: int = 1000,
    weighted: bool = False,
    dtype: torch.dtype = torch.float32,
    **options: Any,
) -> tuple[Tensor, Tensor]:
    """Hub and authority scores of every vertex: (hubs, authorities), two tensors [n] that each sum to 1.

    The parameters are those of `HITS`; `options` go to `tgraph.run`. Gradients by the weights are those of the
    eigenvectors, without the iterations (`tgraph.primitives.implicit`), or with tol=None those of the rounds. Raises
    NotConvergedError, with the scores so far, where `tol` is not met within `max_iterations`.

    >>> hubs, authorities = tg.algorithms.hits(tg.Graph.from_edges([0, 0, 1], [2, 3, 3]))
    >>> hubs.round(decimals=3), authorities.round(decimals=3)
    (tensor([0.6180, 0.3820, 0.0000, 0.0000]), tensor([0.0000, 0.0000, 0.3820, 0.6180]))
    """
    program = HITS(tol=tol, max_iterations=max_iterations, weighted=weighted, dtype=dtype)
    weights = weights_of(graph, weighted)
    if tol is None or not wants(weights):
        score = tg.run(program, graph, **options).values
        return score["hub"], score["authority"]

    def step(received: Any, hub: Tensor, weights: Tensor | None) -> Tensor:
        y = received(received(hub), reverse=True)
        return scaled_to(y, y.sum())

    hub = solved(graph, weighted, tol, lambda graph: tg.run(program, graph, **options).values["hub"], step)
    authority = received(graph.weighted_by(None), weights, weighted, hub)
    return hub, scaled_to(authority, authority.sum())
