"""Morris et al., "Weisfeiler and Leman go neural: higher-order graph neural networks", AAAI 2019."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from tgraph.nn.conv.aggregation import arc_weights, mapped_aggregate
from tgraph.nn.conv.layer import Layer, Pair, plain_weight, plus_linear
from tgraph.nn.conv.linear import Linear
from tgraph.nn.conv.namesakes import namesake
from tgraph.nn.edge_index import Sizes

Namesake: Any = namesake("GraphConv")


class GraphConv(Layer, Namesake):
    """x'_i = W_2 aggr_j(e_ij x_j) + b + W_1 x_i over the neighbours j of i, as PyTorch Geometric's GraphConv.

    in_channels : columns of x, or a pair (sources, targets); -1 to infer them from the first input.
    out_channels : columns of x'. aggr : "sum" or "add", "mean", "min", "max"; a vertex without neighbours gets 0.
    bias : whether to add b. kwargs : those of `MessagePassing`.

    Parameters: `lin_rel.weight`, `lin_rel.bias`, `lin_root.weight`.

    >>> graph = tg.Graph.from_edges([0, 1], [2, 2], torch.tensor([0.5, 2.0]))
    >>> tg.nn.GraphConv(8, 4)(torch.ones(3, 8), graph).shape
    torch.Size([3, 4])
    """

    def __init__(
        self,
        in_channels: int | tuple[int, int],
        out_channels: int,
        aggr: str = "add",
        bias: bool = True,
        **kwargs: Any,
    ):
        super().__init__(aggr, **kwargs)
        self.in_channels: int | tuple[int, int] = in_channels
        self.out_channels: int = out_channels
        sources, targets = (in_channels, in_channels) if isinstance(in_channels, int) else in_channels
        self.lin_rel: Linear = Linear(sources, out_channels, bias=bias)
        self.lin_root: Linear = Linear(targets, out_channels, bias=False)
        self.reset_parameters()

    def forward(
        self, x: Tensor | Pair, edge_index: Any, edge_weight: Tensor | None = None, size: Sizes | None = None
    ) -> Tensor:
        """x' [..., n_targets, out_channels].

        x : [..., n, in_channels], or a pair (of sources, of targets); the latter may be None.
        edge_index : integers [2, E], a sparse matrix adj_t, or a tgraph.Graph. edge_weight : [E], or None for the
        values of the matrix, the weights of the Graph, or 1. size : numbers of (sources, targets), if unknown by x.

        Raises ArgumentError for arguments of inconsistent shapes or types.
        """
        if self._is_observed():
            return Namesake.forward(self, x, edge_index, edge_weight, size)
        first, second = (x, x) if isinstance(x, Tensor) else x
        adjacency = self._adjacency(edge_index, (first, second), size)
        weights = arc_weights(adjacency, edge_weight)
        out = mapped_aggregate(self, self.lin_rel, adjacency, first, weights, pads=second is None)
        if second is None:
            return out
        return plus_linear(out, self.lin_root, second, in_place=plain_weight(self.lin_rel) is not None)
