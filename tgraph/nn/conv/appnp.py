"""Personalised propagation: Gasteiger, Bojchevski and Günnemann, "Predict then propagate: graph neural networks meet
personalized PageRank", ICLR 2019."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from tgraph.nn.adjacency import Adjacency, ArcWeights
from tgraph.nn.conv.layer import REDUCE
from tgraph.nn.conv.namesakes import namesake
from tgraph.nn.conv.normalised_base import NormalisedLayer

Namesake: Any = namesake("APPNP")


class APPNP(NormalisedLayer, Namesake):
    """K steps of x <- (1 - alpha) D^-1/2 (A + I) D^-1/2 x + alpha x_0 from x_0, as PyTorch Geometric's APPNP.

    K : number of steps. alpha : the share of x_0 in each. dropout : probability of dropping an edge in training; an
    edge dropped in a step stays dropped in later steps. cached : whether the adjacency of the first call is used in all
    later ones, whatever their edge_index. add_self_loops : whether to add a self-loop to each vertex without one.
    normalize : whether to divide the weight of an edge by the square roots of the degrees of its endpoints, after
    adding self-loops; otherwise edge weights are used unchanged, 1 by default.
    kwargs : those of `MessagePassing`; aggr is "add" by default.

    >>> graph = tg.generators.path(4)
    >>> layer = tg.nn.APPNP(K=2, alpha=0.5, add_self_loops=False)
    >>> layer(torch.eye(4)[:, :1], graph).flatten().round(decimals=3)
    tensor([0.6250, 0.1770, 0.0880, 0.0000])
    """

    alpha: float
    dropout: float
    cached: bool

    def __init__(
        self,
        K: int,
        alpha: float,
        dropout: float = 0.0,
        cached: bool = False,
        add_self_loops: bool = True,
        normalize: bool = True,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self.K, self.alpha, self.dropout, self.cached = K, alpha, dropout, cached
        self.add_self_loops: bool = add_self_loops
        self.normalize: bool = normalize
        self.reset_parameters()

    def forward(self, x: Tensor, edge_index: Any, edge_weight: Tensor | None = None) -> Tensor:
        """x' [..., n, columns] of x [..., n, columns].

        Arguments are those of `tgraph.nn.GCNConv.forward`. Raises ArgumentError for inconsistent shapes or types.
        """
        if self._is_observed():
            return Namesake.forward(self, x, edge_index, edge_weight)
        sums = REDUCE[self.aggr] == "sum" and not self.dropout  # edges are dropped by their weights
        adjacency, weights = self._normalised_once(x, edge_index, edge_weight, sums)
        teleported = self.alpha * x
        for _ in range(self.K):
            if self.dropout and self.training:
                weights = self._dropped(adjacency, weights, x)
            x = torch.add(teleported, self._propagated(x, adjacency, weights), alpha=1 - self.alpha)
        return x

    def _dropped(self, adjacency: Adjacency, weights: Any, x: Tensor) -> ArcWeights:
        """The arc weights after dropout, drawn in the order of the edges, as in PyTorch Geometric."""
        drawn = F.dropout(x.new_ones(adjacency.num_edges), self.dropout)
        drawn = adjacency.in_row_order(drawn)
        return ArcWeights(drawn if weights is None else weights.values * drawn)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(K={self.K}, alpha={self.alpha})"
