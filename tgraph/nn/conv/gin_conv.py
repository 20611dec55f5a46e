"""Graph isomorphism network: Xu, Hu, Leskovec and Jegelka, "How powerful are graph neural networks?", ICLR 2019."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn.parameter import Parameter

from tgraph.core.system.library import is_plain
from tgraph.nn.conv.aggregation import aggregate, aggregate_with_own
from tgraph.nn.conv.layer import REDUCE, MessagePassing, Pair, vertices_back, vertices_first
from tgraph.nn.conv.linear import reset
from tgraph.nn.conv.namesakes import namesake
from tgraph.nn.edge_index import Sizes

Namesake: Any = namesake("GINConv")


class GINConv(MessagePassing, Namesake):
    """x'_i = nn((1 + eps) x_i + the sum of x_j over the neighbours j of i), as PyTorch Geometric's GINConv.

    nn : a module that maps [n, in_channels] to [n, out_channels]; its parameters are reset with the layer's.
    eps : initial value. train_eps : whether eps is a parameter, or a buffer.
    kwargs : those of `MessagePassing`; aggr is "add" by default.

    State: `eps` [1], and that of `nn`.
    """

    eps: Tensor

    def __init__(self, nn: Callable[[Tensor], Tensor], eps: float = 0.0, train_eps: bool = False, **kwargs: Any):
        kwargs.setdefault("aggr", "add")
        super().__init__(**kwargs)
        self.nn, self.initial_eps = nn, eps
        if train_eps:
            self.eps = Parameter(torch.empty(1))
        else:
            self.register_buffer("eps", torch.empty(1))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        super().reset_parameters()
        reset(self.nn)
        with torch.no_grad():
            self.eps.fill_(self.initial_eps)

    def forward(self, x: Tensor | Pair, edge_index: Any, size: Sizes | None = None) -> Tensor:
        """x' of every target: `nn` applied to [..., n_targets, in_channels].

        Arguments are those of `tgraph.nn.SAGEConv.forward`. Raises ArgumentError for arguments of inconsistent shapes
        or types.
        """
        if self._is_observed():
            return Namesake.forward(self, x, edge_index, size)
        first, second = (x, x) if isinstance(x, Tensor) else x
        adjacency = self._adjacency(edge_index, (first, second), size)
        sent = vertices_first(first, self.node_dim)
        reduce, weights, eps = REDUCE[self.aggr], adjacency.matrix_weights(), self.eps
        if second is first and reduce == "sum" and not eps.requires_grad and is_plain(eps):
            out = aggregate_with_own(adjacency, sent, weights, 1 + eps.item())
            if out is not None:
                return self.nn(vertices_back(out, self.node_dim))
        out = vertices_back(aggregate(adjacency, sent, reduce, weights), self.node_dim)
        return self.nn(out if second is None else self._with_own(out, second))

    def _with_own(self, out: Tensor, x: Tensor) -> Tensor:
        """out + (1 + eps) x, in one operation if eps is not trained."""
        if self.eps.requires_grad or out.dtype != x.dtype or not is_plain(out, x, self.eps):
            return out + (1 + self.eps) * x
        return torch.add(out, x, alpha=1 + self.eps.item())

    def __repr__(self) -> str:
        return f"{type(self).__name__}(nn={self.nn})"
