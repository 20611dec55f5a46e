"""Graph convolution: Kipf and Welling, "Semi-supervised classification with graph convolutional networks" (2017)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn.parameter import Parameter

from tgraph.errors import ArgumentError
from tgraph.nn.conv.aggregation import autocasts
from tgraph.nn.conv.layer import (
    REDUCE,
    linear,
    linear_map,
    linear_of_received,
    plain_weight,
    plus,
    transform_first,
)
from tgraph.nn.conv.linear import Linear
from tgraph.nn.conv.namesakes import namesake
from tgraph.nn.conv.normalised_base import NormalisedLayer

Namesake: Any = namesake("GCNConv")


class GCNConv(NormalisedLayer, Namesake):
    """x' = D^-1/2 (A + I) D^-1/2 x W + b, as PyTorch Geometric's GCNConv.

    in_channels : columns of x, or -1 to infer them from the first input. out_channels : columns of x'.
    improved : whether self-loops that are added to a weighted graph weigh 2 instead of 1.
    cached : whether the adjacency of the first call is used in all later ones, whatever their edge_index.
    add_self_loops : whether to add a self-loop to each vertex without one; `normalize` by default.
    normalize : whether to divide the weight of an edge by the square roots of the degrees of its endpoints.
    bias : whether to add b.
    kwargs : those of `MessagePassing`; aggr is "add" by default.

    Features are aggregated before they are transformed if that gathers fewer columns.

    Parameters: `lin.weight` [out_channels, in_channels], `bias` [out_channels].

    >>> graph = tg.generators.path(3)
    >>> layer = tg.nn.GCNConv(8, 4)
    >>> layer(torch.ones(3, 8), graph).shape
    torch.Size([3, 4])
    >>> layer(torch.ones(3, 8), graph.to_edge_index()).shape
    torch.Size([3, 4])
    """

    bias: Parameter | None

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        improved: bool = False,
        cached: bool = False,
        add_self_loops: bool | None = None,
        normalize: bool = True,
        bias: bool = True,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        if add_self_loops is None:
            add_self_loops = normalize
        if add_self_loops and not normalize:
            raise ArgumentError(
                "add_self_loops: GCNConv with normalize=False does not support adding self-loops; use normalize=True, "
                "or add them to the edge_index"
            )
        self.in_channels: int = in_channels
        self.out_channels: int = out_channels
        self.improved: bool = improved
        self.cached: bool = cached
        self.add_self_loops: bool = add_self_loops
        self.normalize: bool = normalize
        self.lin: Linear = Linear(in_channels, out_channels, bias=False, weight_initializer="glorot")
        self.register_parameter("bias", Parameter(torch.empty(out_channels)) if bias else None)
        self.reset_parameters()

    def forward(self, x: Tensor, edge_index: Any, edge_weight: Tensor | None = None) -> Tensor:
        """x' [..., n, out_channels].

        x : [..., n, in_channels]. edge_index : integers [2, E], a sparse matrix adj_t, or a tgraph.Graph. edge_weight :
        [E], or None for the values of the matrix, the weights of the Graph, or 1.

        Raises ArgumentError for a pair of features, and for arguments of inconsistent shapes or types.
        """
        if self._is_observed():
            return Namesake.forward(self, x, edge_index, edge_weight)
        if isinstance(x, (tuple, list)):
            raise ArgumentError("x: GCNConv takes one tensor, not a pair; SAGEConv takes two sets of vertices")
        lin, reduce = self.lin, REDUCE[self.aggr]
        adjacency, weights = self._normalised_once(x, edge_index, edge_weight, reduce == "sum")
        weight = plain_weight(lin)
        first = transform_first(weight, x, reduce)
        if first is not False or autocasts(x) or (weight is not None and x.dtype != weight.dtype):
            x, first = linear(lin, weight, x), True
        dtype, x = x.dtype, self._propagated(x, adjacency, weights)
        if first is False and weight is not None and lin.bias is None and x.dtype == dtype:
            return linear_map(x, weight, self.bias)
        if first is False:
            x = linear_of_received(lin, weight, x, dtype)
        return x if self.bias is None else plus(x, self.bias)
