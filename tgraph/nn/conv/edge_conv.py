"""Edge convolution: Wang et al., "Dynamic graph CNN for learning on point clouds", ACM TOG 2019."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from tgraph.errors import ArgumentError
from tgraph.nn.conv.layer import (
    REDUCE,
    Layer,
    Pair,
    is_hooked,
    linear_map,
    plain_weight,
    vertices_back,
    vertices_first,
)
from tgraph.nn.conv.linear import Linear
from tgraph.nn.conv.messages import at_sources, at_targets, reduced, reduced_in_layout
from tgraph.nn.conv.namesakes import namesake

Namesake: Any = namesake("EdgeConv")

BY_ROW = {torch.nn.Sequential, torch.nn.Linear, Linear, torch.nn.Identity, torch.nn.Dropout, torch.nn.LayerNorm}
BY_ROW |= {
    torch.nn.ReLU,
    torch.nn.LeakyReLU,
    torch.nn.ELU,
    torch.nn.GELU,
    torch.nn.SiLU,
    torch.nn.Sigmoid,
    torch.nn.Tanh,
}


class EdgeConv(Layer, Namesake):
    """x'_i = max_j nn(x_i, x_j - x_i) over the neighbours j of i, as PyTorch Geometric's EdgeConv.

    Messages are materialised; of a graph in a layout some at a time, where `nn` is made of modules that map row by row.
    Where `nn` is or begins with a linear map, the map is applied at vertices instead of
    edges, and its results are added for each edge.

    nn : a module that maps [E, 2 in_channels] to [E, out_channels]; its parameters are reset with the layer's.
    aggr : "max", "min", "mean", "sum" or "add"; a vertex without neighbours gets 0.
    kwargs : those of `MessagePassing`.

    >>> layer = tg.nn.EdgeConv(torch.nn.Linear(6, 4))
    >>> layer(torch.ones(5, 3), tg.generators.cycle(5)).shape
    torch.Size([5, 4])
    """

    def __init__(self, nn: Callable[[Tensor], Tensor], aggr: str = "max", **kwargs: Any):
        super().__init__(aggr, **kwargs)
        self.nn = nn
        self.reset_parameters()

    def forward(self, x: Tensor | Pair, edge_index: Any) -> Tensor:
        """x' [..., n_targets, out_channels].

        x : [..., n, in_channels], or a pair (of sources, of targets).
        edge_index : integers [2, E], a sparse matrix adj_t, or a tgraph.Graph.

        Raises ArgumentError for arguments of inconsistent shapes or types.
        """
        if self._is_observed():
            return Namesake.forward(self, x, edge_index)
        first, second = (x, x) if isinstance(x, Tensor) else x
        if second is None:
            raise ArgumentError("x: expected features of sources and of targets")
        adjacency = self._adjacency(edge_index, (first, second))
        source, target = (vertices_first(each, self.node_dim) for each in (first, second))
        begin, rest = _parted(self.nn)
        weight = plain_weight(begin)
        message = lambda x, own: self.nn(torch.cat((own["own"], x["sent"] - own["own"]), -1))  # noqa: E731
        if weight is not None:
            of_target, of_source = weight.chunk(2, 1)
            target, source = linear_map(target, of_target - of_source, begin.bias), linear_map(source, of_source)
            message = lambda x, own: rest(own["own"] + x["sent"])  # noqa: E731
        data, out = {"own": target, "sent": source}, None
        if _is_by_row(self.nn):
            out = reduced_in_layout(adjacency, data, message, REDUCE[self.aggr])
        if out is None:
            ends = {"sent": at_sources(adjacency, source)}, {"own": at_targets(adjacency, target)}
            out = reduced(adjacency, message(*ends), REDUCE[self.aggr])
        return vertices_back(out, self.node_dim)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(nn={self.nn})"


def _parted(nn: Any) -> tuple[Any, Any]:
    """The first module and the rest of a plain Sequential; for any other module, itself and the identity."""
    if type(nn) is torch.nn.Sequential and len(nn) and not is_hooked(nn):
        return nn[0], nn[1:]
    return nn, torch.nn.Identity()


def _is_by_row(nn: Any) -> bool:
    """Whether a module is known to map each row by itself, as none does that normalises over all of them."""
    return isinstance(nn, torch.nn.Module) and all(
        type(each) in BY_ROW and not is_hooked(each) for each in nn.modules()
    )
