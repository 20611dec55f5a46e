"""Graph attention whose ranking of neighbours depends on the target: Brody, Alon and Yahav, "How attentive are graph
attention networks?", ICLR 2022."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn.parameter import Parameter

from tgraph.errors import ArgumentError
from tgraph.nn.conv.attention_base import AttentionLayer, edges_attended, edges_with_weights, in_one_dtype
from tgraph.nn.conv.layer import Pair
from tgraph.nn.conv.linear import Linear, edge_linear, glorot
from tgraph.nn.conv.namesakes import namesake
from tgraph.primitives import attention

Namesake: Any = namesake("GATv2Conv")


class GATv2Conv(AttentionLayer, Namesake):
    """x'_i = the sum of alpha_ij W_l x_j over the neighbours j of i, for each head, as PyTorch Geometric's GATv2Conv.

    alpha_ij is the softmax over j of a leaky_relu(W_l x_j + W_r x_i + W_e e_ij), W_l and W_r with a bias each.

    in_channels : columns of x, or a pair (sources, targets); -1 to infer them from the first input.
    out_channels : columns of x' for each head.
    heads : number of heads. concat : whether heads are concatenated, or averaged.
    negative_slope : of the leaky_relu. dropout : probability of dropping an alpha in training.
    add_self_loops : whether self-loops are replaced by one for each vertex.
    edge_dim : columns of edge_attr, or None. fill_value : features of self-loops: a number, a tensor, or the reduction
        of the features of incoming edges, "mean", "add", "min", "max" or "mul".
    bias : whether maps and layer have one. share_weights : whether W_r is W_l. residual : whether to add W_s x_i.
    kwargs : those of `MessagePassing`.

    Parameters: `att` [1, heads, out_channels], `bias`, `lin_l.weight`, `lin_l.bias`, `lin_r.weight`, `lin_r.bias`, and
    where there are edge features or a residual `lin_edge.weight`, `res.weight`.

    >>> layer = tg.nn.GATv2Conv(3, 4, heads=2, concat=False)
    >>> edge_index = torch.tensor([[0, 1, 2], [1, 2, 0]])
    >>> layer(torch.ones(3, 3), edge_index).shape
    torch.Size([3, 4])
    """

    lin_r: Linear
    lin_edge: Linear | None

    def __init__(
        self,
        in_channels: int | tuple[int, int],
        out_channels: int,
        heads: int = 1,
        concat: bool = True,
        negative_slope: float = 0.2,
        dropout: float = 0.0,
        add_self_loops: bool = True,
        edge_dim: int | None = None,
        fill_value: float | Tensor | str = "mean",
        bias: bool = True,
        share_weights: bool = False,
        residual: bool = False,
        **kwargs: Any,
    ):
        super().__init__(in_channels, out_channels, heads, concat, dropout, edge_dim, **kwargs)
        self.negative_slope: float = negative_slope
        self.add_self_loops: bool = add_self_loops
        self.fill_value: float | Tensor | str = fill_value
        self.residual: bool = residual
        self.share_weights = share_weights
        sources, targets = (in_channels, in_channels) if isinstance(in_channels, int) else in_channels
        joined, total = heads * out_channels, out_channels * (heads if concat else 1)
        self.lin_l: Linear = Linear(sources, joined, bias=bias, weight_initializer="glorot")
        self.lin_r = self.lin_l if share_weights else Linear(targets, joined, bias=bias, weight_initializer="glorot")
        self.att: torch.nn.Parameter = Parameter(torch.empty(1, heads, out_channels))
        self.lin_edge = None
        if edge_dim is not None:
            self.lin_edge = edge_linear(edge_dim, joined, bias=False, weight_initializer="glorot")
        self.res: Any = Linear(targets, total, bias=False, weight_initializer="glorot") if residual else None
        self.register_parameter("bias", Parameter(torch.empty(total)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        super().reset_parameters()
        glorot(self.att)

    def forward(
        self,
        x: Tensor | Pair,
        edge_index: Any,
        edge_attr: Tensor | None = None,
        return_attention_weights: bool | None = None,
    ) -> Any:
        """x' [n_targets, heads * out_channels], or [n_targets, out_channels] if heads are averaged.

        Arguments are those of `tgraph.nn.GATConv.forward`; both of a pair are given. Raises ArgumentError for arguments
        of inconsistent shapes or types.
        """
        if self._is_observed():
            return Namesake.forward(self, x, edge_index, edge_attr, return_attention_weights)
        first, second = (x, x) if isinstance(x, Tensor) else x
        if first.dim() != 2 or second is None:
            raise ArgumentError("x: expected [n, in_channels], of sources and of targets")
        left = self._by_head(self.lin_l(first))
        right = left if self.share_weights and isinstance(x, Tensor) else self._by_head(self.lin_r(second))
        adjacency = self._adjacency(edge_index, (left, right))
        filled = self.add_self_loops, self.fill_value, self.flow
        over, edge_attr = edges_attended(adjacency, edge_attr, *filled, bool(return_attention_weights))
        (sent,) = adjacency.with_mirrors(left)
        inputs = in_one_dtype(sent, over.with_sink(right), self.att[0], self._edge_features(edge_attr))
        arcs = over.arcs(edge_attr is not None or bool(return_attention_weights))
        options = {"negative_slope": self.negative_slope, **self._dropped(left)}
        out = self._finished(over.without_sink(attention.gatv2(arcs, *inputs, **options)), left, second)
        if not return_attention_weights:
            return out
        alpha = attention.gatv2_weights(arcs, *inputs, **options)
        return out, edges_with_weights(edge_index, over, alpha, self.flow, over is adjacency)

    def _edge_features(self, edge_attr: Tensor | None) -> Tensor | None:
        if edge_attr is None:
            return None
        if self.lin_edge is None:
            raise ArgumentError("edge_attr: the layer has no edge_dim; give edge_dim, or leave edge_attr out")
        return self._by_head(self.lin_edge(edge_attr))
