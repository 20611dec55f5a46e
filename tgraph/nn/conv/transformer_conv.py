"""Attention by inner products: Shi et al., "Masked label prediction: unified message passing model for semi-supervised
classification", IJCAI 2021."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tgraph.errors import ArgumentError
from tgraph.nn.conv.attention_base import AttentionLayer, edges_attended, edges_with_weights, in_one_dtype
from tgraph.nn.conv.layer import Pair
from tgraph.nn.conv.linear import Linear, edge_linear
from tgraph.nn.conv.namesakes import namesake
from tgraph.nn.hugepage_ops import plus
from tgraph.primitives import attention

Namesake: Any = namesake("TransformerConv")


class TransformerConv(AttentionLayer, Namesake):
    """x'_i = W_s x_i + the sum of alpha_ij (W_v x_j + W_e e_ij) over the neighbours j of i, for each head, as PyTorch
    Geometric's TransformerConv.

    alpha_ij is the softmax over j of W_q x_i (W_k x_j + W_e e_ij) / sqrt(out_channels).

    in_channels : columns of x, or a pair (sources, targets); -1 to infer them from the first input.
    out_channels : columns of x' for each head.
    heads : number of heads. concat : whether heads are concatenated, or averaged.
    beta : whether x' is beta W_s x_i + (1 - beta) times the sum, with a beta computed from both by a learned map.
    dropout : probability of dropping an alpha in training.
    edge_dim : columns of edge_attr, or None. bias : whether W_q, W_k, W_v and W_s have one.
    root_weight : whether to add W_s x_i.
    kwargs : those of `MessagePassing`.

    Parameters: weight and bias of `lin_key`, `lin_query`, `lin_value`, `lin_skip`, and `lin_edge.weight`,
    `lin_beta.weight` where there are edge features, or a beta.

    >>> layer = tg.nn.TransformerConv(8, 4, heads=2)
    >>> layer(torch.ones(3, 8), tg.generators.path(3)).shape
    torch.Size([3, 8])
    """

    def __init__(
        self,
        in_channels: int | tuple[int, int],
        out_channels: int,
        heads: int = 1,
        concat: bool = True,
        beta: bool = False,
        dropout: float = 0.0,
        edge_dim: int | None = None,
        bias: bool = True,
        root_weight: bool = True,
        **kwargs: Any,
    ):
        super().__init__(in_channels, out_channels, heads, concat, dropout, edge_dim, **kwargs)
        self.beta: bool = beta and root_weight
        self.root_weight: bool = root_weight
        self._alpha = None  # an attribute of PyTorch Geometric's layer
        sources, targets = (in_channels, in_channels) if isinstance(in_channels, int) else in_channels
        joined, total = heads * out_channels, out_channels * (heads if concat else 1)
        self.lin_key: Linear = Linear(sources, joined, bias=bias)
        self.lin_query: Linear = Linear(targets, joined, bias=bias)
        self.lin_value: Linear = Linear(sources, joined, bias=bias)
        self.lin_edge: Linear | None = None if edge_dim is None else edge_linear(edge_dim, joined, bias=False)
        self.lin_skip: Linear = Linear(targets, total, bias=bias)
        self.lin_beta: Linear | None = Linear(3 * total, 1, bias=False) if self.beta else None
        self.reset_parameters()

    def forward(
        self,
        x: Tensor | Pair,
        edge_index: Any,
        edge_attr: Tensor | None = None,
        return_attention_weights: bool | None = None,
    ) -> Any:
        """x' [n_targets, heads * out_channels], or [n_targets, out_channels] if heads are averaged.

        Arguments are those of `tgraph.nn.GATConv.forward`; both of a pair are given, and edge_attr with edge_dim.
        return_attention_weights : True or False returns the weights before dropout. Raises ArgumentError for arguments
        of inconsistent shapes or types.
        """
        if self._is_observed():
            return Namesake.forward(self, x, edge_index, edge_attr, return_attention_weights)
        first, second = (x, x) if isinstance(x, Tensor) else x
        if first.dim() != 2 or second is None:
            raise ArgumentError("x: expected [n, in_channels], of sources and of targets")
        query, key, value = self.lin_query(second), self.lin_key(first), self.lin_value(first)
        adjacency = self._adjacency(edge_index, (first, second))
        returns = isinstance(return_attention_weights, bool)
        over, edge_attr = edges_attended(adjacency, edge_attr, False, 0.0, self.flow, returns)
        query, key, value = map(self._by_head, (query, key, value))
        key, value = adjacency.with_mirrors(key, value)
        query, key, value, edge = in_one_dtype(query, key, value, self._edge_features(edge_attr))
        arcs = over.arcs(edge is not None or returns)
        out = self._joined(attention.dot(arcs, query, key, value, edge, **self._dropped(query)))
        if self.root_weight:
            out = self._with_root(out, self.lin_skip(second))
        if not returns:
            return out
        alpha = attention.dot_weights(arcs, query, key, edge)
        return out, edges_with_weights(edge_index, adjacency, alpha, self.flow, True)

    def _with_root(self, out: Tensor, root: Tensor) -> Tensor:
        if self.lin_beta is None:
            return plus(out, root)
        beta = self.lin_beta(torch.cat((out, root, out - root), dim=-1)).sigmoid()
        return beta * root + (1 - beta) * out

    def _edge_features(self, edge_attr: Tensor | None) -> Tensor | None:
        if edge_attr is None and self.lin_edge is None:
            return None
        if edge_attr is None or self.lin_edge is None:
            raise ArgumentError("edge_attr and edge_dim: a layer with edge_dim needs edge_attr, one without takes none")
        return self._by_head(self.lin_edge(edge_attr))
