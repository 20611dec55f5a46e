"""GraphSAGE: Hamilton, Ying and Leskovec, "Inductive representation learning on large graphs", NeurIPS 2017."""

from __future__ import annotations

from typing import Any

import torch.nn.functional as F
from torch import Tensor

from tgraph.errors import ArgumentError
from tgraph.nn.conv.aggregation import is_widened, mapped_aggregate
from tgraph.nn.conv.layer import Layer, Pair, plain_weight, plus_linear
from tgraph.nn.conv.linear import Linear
from tgraph.nn.conv.namesakes import namesake
from tgraph.nn.edge_index import Sizes

Namesake: Any = namesake("SAGEConv")


class SAGEConv(Layer, Namesake):
    """x'_i = W_l aggr_j(x_j) + b + W_r x_i over the neighbours j of i, as PyTorch Geometric's SAGEConv.

    in_channels : columns of x, or a pair (sources, targets); -1 to infer them from the first input.
    out_channels : columns of x'.
    aggr : "mean", "sum" or "add", "min", "max"; a vertex without neighbours gets 0.
    normalize : whether to divide every x'_i by its L2 norm. root_weight : whether to add W_r x_i.
    project : whether to aggregate relu(W_p x_j + b_p) instead of x_j. bias : whether to add b.
    kwargs : those of `MessagePassing`.

    Parameters: `lin_l.weight`, `lin_l.bias`, `lin_r.weight`, and `lin.weight`, `lin.bias` where `project`.

    >>> layer = tg.nn.SAGEConv(8, 4)
    >>> layer(torch.ones(3, 8), tg.generators.path(3)).shape
    torch.Size([3, 4])
    """

    def __init__(
        self,
        in_channels: int | tuple[int, int],
        out_channels: int,
        aggr: str = "mean",
        normalize: bool = False,
        root_weight: bool = True,
        project: bool = False,
        bias: bool = True,
        **kwargs: Any,
    ):
        super().__init__(aggr, **kwargs)
        self.in_channels: int | tuple[int, int] = in_channels
        self.out_channels: int = out_channels
        self.normalize: bool = normalize
        self.root_weight: bool = root_weight
        self.project: bool = project
        sources, targets = (in_channels, in_channels) if isinstance(in_channels, int) else in_channels
        if project:
            if sources <= 0:
                raise ArgumentError(
                    "in_channels: SAGEConv with project=True does not support lazy initialization; give the number of "
                    "columns instead of -1"
                )
            self.lin: Linear = Linear(sources, sources, bias=True)
        self.lin_l: Linear = Linear(sources, out_channels, bias=bias)
        if root_weight:
            self.lin_r: Linear = Linear(targets, out_channels, bias=False)
        self.reset_parameters()

    def forward(self, x: Tensor | Pair, edge_index: Any, size: Sizes | None = None) -> Tensor:
        """x' [..., n_targets, out_channels].

        x : [..., n, in_channels], or a pair (of sources, of targets); the latter may be None. 16-bit features are
            accumulated in float32 where the parameters are float32.
        edge_index : integers [2, E], a sparse matrix adj_t with weights of messages as values, a tgraph.Graph, or the
            Csr of a block.
        size : numbers of (sources, targets), where x does not determine them.

        Raises ArgumentError for arguments of inconsistent shapes or types.
        """
        if self._is_observed():
            return Namesake.forward(self, x, edge_index, size)
        first, second = (x, x) if isinstance(x, Tensor) else x
        if self.project:
            first = self.lin(first).relu()
        adjacency = self._adjacency(edge_index, (first, second), size)
        weights = adjacency.matrix_weights()
        out = mapped_aggregate(self, self.lin_l, adjacency, first, weights, pads=not self.root_weight)
        if self.root_weight and second is not None:
            second = second.float() if is_widened(second, plain_weight(self.lin_r)) else second
            out = plus_linear(out, self.lin_r, second, in_place=plain_weight(self.lin_l) is not None)
        return F.normalize(out, p=2.0, dim=-1) if self.normalize else out

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.in_channels}, {self.out_channels}, aggr={self.aggr})"
