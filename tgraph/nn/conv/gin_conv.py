"""Graph isomorphism networks: Xu, Hu, Leskovec and Jegelka, "How powerful are graph neural networks?", ICLR 2019; with
edge features, Hu et al., "Strategies for pre-training graph neural networks", ICLR 2020."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn.parameter import Parameter

from tgraph.core.system.library import is_plain
from tgraph.errors import ArgumentError
from tgraph.nn.conv.aggregation import aggregate, aggregate_with_own
from tgraph.nn.conv.attention_base import edges_attended
from tgraph.nn.conv.layer import REDUCE, Layer, Pair, vertices_back, vertices_first
from tgraph.nn.conv.linear import Linear, edge_linear
from tgraph.nn.conv.messages import at_sources, in_best_order, joined, of_edges, reduced, reduced_in_layout
from tgraph.nn.conv.namesakes import namesake
from tgraph.nn.edge_index import Sizes

Namesake: Any = namesake("GINConv")
EdgeNamesake: Any = namesake("GINEConv")


class IsomorphismLayer(Layer):
    """Base class of both layers: `nn` of the messages and (1 + eps) x_i."""

    def __init__(self, nn: Callable[[Tensor], Tensor], eps: float, train_eps: bool, **kwargs: Any):
        super().__init__(**kwargs)
        self.nn: Callable[[Tensor], Tensor] = nn
        self.initial_eps: float = eps
        if train_eps:
            self.eps: Tensor = Parameter(torch.empty(1))
        else:
            self.register_buffer("eps", torch.empty(1))

    def reset_parameters(self) -> None:
        super().reset_parameters()
        with torch.no_grad():
            self.eps.fill_(self.initial_eps)

    def _with_own(self, out: Tensor, x: Tensor) -> Tensor:
        """out + (1 + eps) x, in one operation if eps is not trained."""
        plain = out.dtype == x.dtype == self.eps.dtype and is_plain(out, x, self.eps)
        if self.eps.requires_grad or not plain:
            return out + (1 + self.eps) * x
        return torch.add(out, x, alpha=1 + self.eps.item())

    def __repr__(self) -> str:
        return f"{type(self).__name__}(nn={self.nn})"


class GINConv(IsomorphismLayer, Namesake):
    """x'_i = nn((1 + eps) x_i + the sum of x_j over the neighbours j of i), as PyTorch Geometric's GINConv.

    nn : a module that maps [n, in_channels] to [n, out_channels]; its parameters are reset with the layer's.
    eps : initial value. train_eps : whether eps is a parameter, or a buffer.
    kwargs : those of `MessagePassing`; aggr is "add" by default.

    State: `eps` [1], and that of `nn`.

    >>> layer = tg.nn.GINConv(torch.nn.Identity())
    >>> layer(torch.tensor([[1.0], [10.0], [100.0]]), tg.generators.path(3)).flatten()
    tensor([ 11., 111., 110.])
    """

    def __init__(self, nn: Callable[[Tensor], Tensor], eps: float = 0.0, train_eps: bool = False, **kwargs: Any):
        super().__init__(nn, eps, train_eps, **kwargs)
        self.reset_parameters()

    def forward(self, x: Tensor | Pair, edge_index: Any, size: Sizes | None = None) -> Tensor:
        """x' of every target: `nn` applied to [..., n_targets, in_channels].

        Arguments are those of `tgraph.nn.SAGEConv.forward`. Raises ArgumentError for inconsistent shapes or types.
        """
        if self._is_observed():
            return Namesake.forward(self, x, edge_index, size)
        first, second = (x, x) if isinstance(x, Tensor) else x
        adjacency = self._adjacency(edge_index, (first, second), size)
        sent = vertices_first(first, self.node_dim)
        reduce, weights, eps = REDUCE[self.aggr], adjacency.matrix_weights(), self.eps
        if second is first and reduce == "sum" and first.dtype == eps.dtype and not eps.requires_grad and is_plain(eps):
            out = aggregate_with_own(adjacency, sent, weights, 1 + eps.item())
            if out is not None:
                return self.nn(vertices_back(out, self.node_dim))
        out = vertices_back(aggregate(adjacency, sent, reduce, weights), self.node_dim)
        return self.nn(out if second is None else self._with_own(out, second))


class GINEConv(IsomorphismLayer, EdgeNamesake):
    """x'_i = nn((1 + eps) x_i + the sum of relu(x_j + W e_ij + b) over the neighbours j of i), as PyTorch Geometric's
    GINEConv. Messages are materialised, [E, columns of x].

    nn : a module that maps [n, in_channels] to [n, out_channels]; its parameters are reset with the layer's.
    eps : initial value. train_eps : whether eps is a parameter, or a buffer.
    edge_dim : columns of edge_attr, mapped to the input columns of `nn` or its first module; None for edge features
    with the columns of x, added without W and b.
    kwargs : those of `MessagePassing`; aggr is "add" by default. Raises ValueError if the columns cannot be determined.

    State: `eps` [1], that of `nn`, and weight and bias of `lin` with edge_dim.

    >>> graph = tg.generators.path(3)
    >>> layer = tg.nn.GINEConv(torch.nn.Identity())
    >>> layer(torch.ones(3, 1), graph.to_edge_index(), torch.ones(graph.num_arcs, 1)).flatten()
    tensor([3., 5., 3.])
    """

    def __init__(
        self,
        nn: torch.nn.Module,
        eps: float = 0.0,
        train_eps: bool = False,
        edge_dim: int | None = None,
        **kwargs: Any,
    ):
        super().__init__(nn, eps, train_eps, **kwargs)
        self.lin: Linear | None = None if edge_dim is None else edge_linear(edge_dim, _columns(nn))
        self.reset_parameters()

    def forward(
        self, x: Tensor | Pair, edge_index: Any, edge_attr: Tensor | None = None, size: Sizes | None = None
    ) -> Tensor:
        """x' of every target: `nn` applied to [..., n_targets, in_channels].

        edge_attr : [E, columns], or None for the values of a matrix. Other arguments are those of
        `tgraph.nn.SAGEConv.forward`. Raises ArgumentError for arguments of inconsistent shapes or types.
        """
        if self._is_observed():
            return EdgeNamesake.forward(self, x, edge_index, edge_attr, size)
        first, second = (x, x) if isinstance(x, Tensor) else x
        adjacency = self._adjacency(edge_index, (first, second), size)
        _, edge_attr = edges_attended(adjacency, edge_attr, False, 0.0, self.flow)
        if edge_attr is None:
            raise ArgumentError("edge_attr: GINEConv needs features of the edges; GINConv does without")
        if self.lin is None and edge_attr.shape[-1] != first.shape[-1]:
            raise ArgumentError(
                f"edge_attr: {edge_attr.shape[-1]} columns, x has {first.shape[-1]}; give edge_dim to map them"
            )
        sent, reduce = vertices_first(first, self.node_dim), REDUCE[self.aggr]

        def message(source: dict[str, Tensor], target: dict[str, Tensor], edge: Tensor) -> Tensor:
            edge = edge.reshape(-1, *(1,) * (sent.dim() - 2), edge.shape[-1])
            return (source["x"] + (edge if self.lin is None else self.lin(edge))).relu()

        out = reduced_in_layout(adjacency, {"x": sent}, message, reduce, edge_attr)
        if out is None:
            edges = in_best_order(adjacency, sent, reduce)
            edge = of_edges(edges, edge_attr, sent)
            edge = edge if self.lin is None else self.lin(edge)
            out = reduced(edges, joined(edges, at_sources(edges, sent), edge).relu_(), reduce)
        out = vertices_back(out, self.node_dim)
        return self.nn(out if second is None else self._with_own(out, second))


def _columns(nn: Any) -> int:
    """The number of input columns of a module."""
    first = nn[0] if isinstance(nn, torch.nn.Sequential) else nn
    for name in ("in_features", "in_channels"):
        if hasattr(first, name):
            return getattr(first, name)
    raise ValueError("nn: has neither in_features nor in_channels, which edge_dim needs")
