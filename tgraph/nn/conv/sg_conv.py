"""Simple graph convolution: Wu et al., "Simplifying graph convolutional networks", ICML 2019."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tgraph.nn.conv.layer import REDUCE, linear_map, linear_of_received, plain_weight, plus, transform_first
from tgraph.nn.conv.linear import Linear
from tgraph.nn.conv.namesakes import namesake
from tgraph.nn.conv.normalised_base import NormalisedLayer

Namesake: Any = namesake("SGConv")


class SGConv(NormalisedLayer, Namesake):
    """x' = (D^-1/2 (A + I) D^-1/2)^K x W + b, as PyTorch Geometric's SGConv.

    in_channels : columns of x, or -1 to infer them from the first input. out_channels : columns of x'.
    K : number of hops. cached : whether the aggregated features of the first call are used in all later ones, whatever
    their x and edge_index. add_self_loops : whether to add a self-loop to each vertex without one. bias : whether to
    add b. kwargs : those of `MessagePassing`; aggr is "add" by default.

    Unless `cached`, features are aggregated before they are transformed if that gathers fewer columns.

    Parameters: `lin.weight` [out_channels, in_channels], `lin.bias` [out_channels].

    >>> tg.nn.SGConv(8, 4, K=2)(torch.ones(3, 8), tg.generators.path(3)).shape
    torch.Size([3, 4])
    """

    in_channels: int
    out_channels: int

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        K: int = 1,
        cached: bool = False,
        add_self_loops: bool = True,
        bias: bool = True,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self.in_channels, self.out_channels, self.K = in_channels, out_channels, K
        self.cached: bool = cached
        self.add_self_loops: bool = add_self_loops
        self.lin: Linear = Linear(in_channels, out_channels, bias=bias)
        self.reset_parameters()

    def forward(self, x: Tensor, edge_index: Any, edge_weight: Tensor | None = None) -> Tensor:
        """x' [..., n, out_channels].

        Arguments are those of `tgraph.nn.GCNConv.forward`. Raises ArgumentError for inconsistent shapes or types.
        """
        if self._is_observed():
            return Namesake.forward(self, x, edge_index, edge_weight)
        lin, reduce = self.lin, REDUCE[self.aggr]
        weight = plain_weight(lin)
        if self._cached_x is not None:
            return linear_of_received(lin, weight, self._cached_x.detach(), x.dtype)
        adjacency, weights = self._normalised(x, edge_index, edge_weight, reduce == "sum")
        narrows = torch.is_autocast_enabled(x.device.type)  # the linear map, which therefore comes last
        early = not (self.cached or narrows) and self.K > 0 and transform_first(weight, x, reduce)
        if early and weight is not None:
            x = linear_map(x, weight)
        dtype = x.dtype
        for _ in range(self.K):
            x = self._propagated(x, adjacency, weights)
        if self.cached and self.K:
            self._cached_x = x
        if not early:
            return linear_of_received(lin, weight, x, dtype)
        return x if lin.bias is None else plus(x, lin.bias.to(x.dtype))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.in_channels}, {self.out_channels}, K={self.K})"
