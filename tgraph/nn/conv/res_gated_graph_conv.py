"""Gated graph convolution: Bresson and Laurent, "Residual gated graph ConvNets", 2017."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn.parameter import Parameter

from tgraph.errors import ArgumentError
from tgraph.nn.adjacency import Adjacency
from tgraph.nn.conv.attention_base import edges_attended
from tgraph.nn.conv.layer import REDUCE, Layer, Pair, plus, plus_linear, vertices_back, vertices_first
from tgraph.nn.conv.linear import Linear
from tgraph.nn.conv.messages import (
    Unsorted,
    at_sources,
    at_targets,
    in_best_order,
    joined,
    of_edges,
    reduced,
    reduced_in_layout,
)
from tgraph.nn.conv.namesakes import namesake

Namesake: Any = namesake("ResGatedGraphConv")


class ResGatedGraphConv(Layer, Namesake):
    """x'_i = W_1 x_i + b + the sum of act(W_2 x_i + W_3 x_j) * W_4 x_j over the neighbours j of i, as PyTorch
    Geometric's ResGatedGraphConv. W_2, W_3 and W_4 have biases and, with edge features, apply to these too.

    Messages are materialised; W_2, W_3 and W_4 are applied at vertices, or at edges if there are edge features.

    in_channels : columns of x, or a pair (sources, targets); -1 to infer them from the first input.
    out_channels : columns of x'. act : the function of the gates, the logistic one by default.
    edge_dim : columns of edge_attr, or None. root_weight : whether to add W_1 x_i. bias : whether to add b.
    kwargs : those of `MessagePassing`; aggr is "add" by default.

    Parameters: weight and bias of `lin_key`, `lin_query`, `lin_value`; `lin_skip.weight`, `bias`.

    >>> tg.nn.ResGatedGraphConv(8, 4)(torch.ones(3, 8), tg.generators.path(3)).shape
    torch.Size([3, 4])
    """

    bias: Parameter | None
    root_weight: bool

    def __init__(
        self,
        in_channels: int | tuple[int, int],
        out_channels: int,
        act: Callable[[Tensor], Tensor] | None = None,
        edge_dim: int | None = None,
        root_weight: bool = True,
        bias: bool = True,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self.in_channels: int | tuple[int, int] = in_channels
        self.out_channels: int = out_channels
        self.edge_dim: int | None = edge_dim
        self.act, self.root_weight = torch.nn.Sigmoid() if act is None else act, root_weight
        sources, targets = (in_channels, in_channels) if isinstance(in_channels, int) else in_channels
        more = edge_dim or 0
        self.lin_key: Linear = Linear(targets + more, out_channels)
        self.lin_query: Linear = Linear(sources + more, out_channels)
        self.lin_value: Linear = Linear(sources + more, out_channels)
        self.lin_skip: Linear | None = Linear(targets, out_channels, bias=False) if root_weight else None
        self.register_parameter("bias", Parameter(torch.empty(out_channels)) if bias else None)
        self.reset_parameters()

    def forward(self, x: Tensor | Pair, edge_index: Any, edge_attr: Tensor | None = None) -> Tensor:
        """x' [..., n_targets, out_channels].

        x : [..., n, in_channels], or a pair (of sources, of targets). edge_index : integers [2, E], a sparse matrix
        adj_t, or a tgraph.Graph. edge_attr : [E, edge_dim], given with edge_dim.

        Raises ArgumentError for arguments of inconsistent shapes or types.
        """
        if self._is_observed():
            return Namesake.forward(self, x, edge_index, edge_attr)
        first, second = (x, x) if isinstance(x, Tensor) else x
        if second is None:
            raise ArgumentError("x: expected features of sources and of targets")
        adjacency = self._adjacency(edge_index, (first, second))
        _, edge_attr = edges_attended(adjacency, edge_attr, False, 0.0, self.flow)
        if (edge_attr is None) != (self.edge_dim is None):
            raise ArgumentError("edge_attr and edge_dim: a layer with edge_dim needs edge_attr, one without takes none")
        source, target = (vertices_first(each, self.node_dim) for each in (first, second))
        out = self._in_layout(adjacency, source, target, edge_attr)
        if out is None:
            edges = in_best_order(adjacency, source, REDUCE[self.aggr])
            out = reduced(edges, self._messages(edges, source, target, edge_attr), REDUCE[self.aggr])
        out = vertices_back(out, self.node_dim)
        if self.lin_skip is not None:
            out = plus_linear(out, self.lin_skip, second, in_place=True)
        return out if self.bias is None else plus(out, self.bias)

    def _in_layout(
        self, adjacency: Adjacency, source: Tensor, target: Tensor, edge_attr: Tensor | None
    ) -> Tensor | None:
        if edge_attr is not None:

            def message(sent: dict[str, Tensor], own: dict[str, Tensor], edge: Tensor) -> Tensor:
                edge = edge.reshape(-1, *(1,) * (source.dim() - 2), edge.shape[-1])
                edge = edge.expand(*sent["x"].shape[:-1], -1)
                return self._gated(own["own"], sent["x"], edge)

            return reduced_in_layout(adjacency, {"x": source, "own": target}, message, REDUCE[self.aggr], edge_attr)
        data = {"key": self.lin_key(target), "query": self.lin_query(source), "value": self.lin_value(source)}
        gated = lambda sent, own: self.act(own["key"] + sent["query"]) * sent["value"]  # noqa: E731
        return reduced_in_layout(adjacency, data, gated, REDUCE[self.aggr])

    def _gated(self, received: Tensor, sent: Tensor, edge: Tensor) -> Tensor:
        """The gated values of edges with features, [E, ..., out_channels]."""
        sent = torch.cat((sent, edge), -1)
        return self.act(self.lin_key(torch.cat((received, edge), -1)) + self.lin_query(sent)) * self.lin_value(sent)

    def _messages(
        self, adjacency: Adjacency | Unsorted, source: Tensor, target: Tensor, edge_attr: Tensor | None
    ) -> Tensor:
        """Gated values, [E, ..., out_channels]."""
        if edge_attr is None:
            key, query, value = self.lin_key(target), self.lin_query(source), self.lin_value(source)
            gate = joined(adjacency, at_targets(adjacency, key), at_sources(adjacency, query))
            return self.act(gate) * at_sources(adjacency, value)
        received, sent = at_targets(adjacency, target), at_sources(adjacency, source)
        return self._gated(received, sent, of_edges(adjacency, edge_attr, sent).expand(*sent.shape[:-1], -1))
