"""Graph convolution: Kipf and Welling, "Semi-supervised classification with graph convolutional networks" (2017)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn.parameter import Parameter

from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.nn import tensor_cache
from tgraph.nn.adjacency import Adjacency, ArcWeights, Scale
from tgraph.nn.conv.aggregation import aggregate
from tgraph.nn.conv.layer import (
    REDUCE,
    MessagePassing,
    linear,
    linear_map,
    plain_weight,
    plus,
    transform_first,
    vertices_back,
    vertices_first,
)
from tgraph.nn.conv.linear import Linear, zeros
from tgraph.nn.conv.namesakes import namesake
from tgraph.nn.normalisation import gcn_norm

Namesake: Any = namesake("GCNConv")


class GCNConv(MessagePassing, Namesake):
    """x' = D^-1/2 (A + I) D^-1/2 x W + b, as PyTorch Geometric's GCNConv.

    in_channels : columns of x, or -1 to infer them from the first input. out_channels : columns of x'.
    improved : whether self-loops that are added to a weighted graph weigh 2 instead of 1.
    cached : whether the adjacency of the first call is used in all later ones, whatever their edge_index.
    add_self_loops : whether to add a self-loop to each vertex without one; `normalize` by default.
    normalize : whether to divide the weight of an edge by the square roots of the degrees of its endpoints.
    bias : whether to add b.
    kwargs : those of `MessagePassing`; aggr is "add" by default.

    Normalised weights are cached for each edge_index and edge_weight until either changes; those of an edge_weight that
    requires a gradient are computed in each call. Features are aggregated before they are transformed if that gathers
    fewer columns.

    Parameters: `lin.weight` [out_channels, in_channels], `bias` [out_channels].
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
        kwargs.setdefault("aggr", "add")
        super().__init__(**kwargs)
        if add_self_loops is None:
            add_self_loops = normalize
        if add_self_loops and not normalize:
            raise ArgumentError(
                "add_self_loops: GCNConv with normalize=False does not support adding self-loops; use normalize=True, "
                "or add them to the edge_index"
            )
        self.in_channels, self.out_channels = in_channels, out_channels
        self.improved, self.cached = improved, cached
        self.add_self_loops, self.normalize = add_self_loops, normalize
        self._cached_edge_index: Any = None
        self._cached_adj_t: Any = None
        self.lin = Linear(in_channels, out_channels, bias=False, weight_initializer="glorot")
        self.register_parameter("bias", Parameter(torch.empty(out_channels)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        super().reset_parameters()
        self.lin.reset_parameters()
        zeros(self.bias)
        self._cached_edge_index = self._cached_adj_t = None

    def forward(self, x: Tensor, edge_index: Any, edge_weight: Tensor | None = None) -> Tensor:
        """x' [..., n, out_channels].

        x : [..., n, in_channels]. edge_index : integers [2, E], a sparse matrix adj_t, or a tgraph.Graph. edge_weight :
        [E], or None for the values of the matrix, the weights of the Graph, or 1.

        Raises ArgumentError for a pair of features, and for arguments of inconsistent shapes or types.
        """
        if self._is_observed():
            return Namesake.forward(self, x, edge_index, edge_weight)
        if isinstance(x, (tuple, list)):
            raise ArgumentError(
                "x: GCNConv takes one tensor, not a pair; SAGEConv takes features of two sets of vertices"
            )
        adjacency, weights = self._normalised(x, edge_index, edge_weight)
        lin, reduce = self.lin, REDUCE[self.aggr]
        weight = plain_weight(lin)
        first = transform_first(weight, x, reduce)
        if first is not False:
            x = linear(lin, weight, x)
        if x.dim() + self.node_dim == 0:
            x = aggregate(adjacency, x, reduce, weights)
        else:
            x = vertices_back(aggregate(adjacency, vertices_first(x, self.node_dim), reduce, weights), self.node_dim)
        if first is False and weight is not None and lin.bias is None and not torch.is_autocast_enabled(x.device.type):
            return linear_map(x, weight, self.bias)
        if first is False:
            x = linear(lin, weight, x)
        return x if self.bias is None else plus(x, self.bias)

    def _normalised(
        self, x: Tensor, edge_index: Any, edge_weight: Tensor | None
    ) -> tuple[Adjacency, ArcWeights | Scale | None]:
        """The adjacency to aggregate over, and its weights in the order of the rows."""
        if self.cached and self.normalize and isinstance(self._cached_edge_index, tuple):
            return self._cached_edge_index
        traced = torch.compiler.is_compiling() or torch.jit.is_tracing()
        if traced or edge_weight is not None or not self.normalize or not tensor_cache.is_cacheable(edge_index):
            return self._find_normalised(x, edge_index, edge_weight)
        size, sums = x.shape[self.node_dim], REDUCE[self.aggr] == "sum"
        key = ("gcn", size, x.dtype, self.flow, self.add_self_loops, self.improved, sums)
        found = tensor_cache.remembered(edge_index, key, lambda: self._find_normalised(x, edge_index, None))
        if self.cached:
            self._cached_edge_index = found
        return found

    def _find_normalised(
        self, x: Tensor, edge_index: Any, edge_weight: Tensor | None
    ) -> tuple[Adjacency, ArcWeights | Scale | None]:
        adjacency = self._adjacency(edge_index, (x, x))
        if edge_weight is None:
            edge_weight = adjacency.values
        if not self.normalize:
            weights = None if edge_weight is None else ArcWeights(adjacency.in_row_order(edge_weight.reshape(-1)))
            return adjacency, weights
        loops = _loops(edge_index) if self.add_self_loops else None
        sums = REDUCE[self.aggr] == "sum"
        found = gcn_norm(adjacency, edge_weight, self.improved, loops, x.dtype, sums)
        if self.cached:
            self._cached_edge_index = found
        return found


def _loops(edge_index: Any) -> str:
    """How PyTorch Geometric adds self-loops to an edge_index of this type."""
    if isinstance(edge_index, Graph):
        return "remaining"
    if not isinstance(edge_index, Tensor):  # a torch_sparse.SparseTensor
        return "replaced"
    return "remaining" if edge_index.layout == torch.strided else "more"
