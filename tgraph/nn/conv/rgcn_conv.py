"""Schlichtkrull et al., "Modeling relational data with graph convolutional networks", ESWC 2018."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn.parameter import Parameter

from tgraph.errors import ArgumentError
from tgraph.nn.adjacency import Adjacency, GraphAdjacency
from tgraph.nn.conv.aggregation import aggregate
from tgraph.nn.conv.layer import REDUCE, Layer, check_features, linear_map, plus, transform_first
from tgraph.nn.conv.linear import glorot
from tgraph.nn.conv.messages import reduces_in_layout
from tgraph.nn.conv.namesakes import namesake
from tgraph.nn.relations import check_types, relations_of

Namesake: Any = namesake("RGCNConv")

Features = Tensor | None
Gather = Callable[[Tensor], Tensor]


class RGCNConv(Layer, Namesake):
    """x'_i = W_0 x_i + b + the sum over relations r of W_r aggr_j(x_j) over the neighbours j of i by r, as PyTorch
    Geometric's RGCNConv.

    in_channels : columns of x, or a pair (sources, targets); the number of vertices where x is None, or integers (rows
    of W). out_channels : columns of x'. num_relations : number of relations.
    num_bases : number of basis matrices, with linear combinations W_r, or None.
    num_blocks : number of diagonal blocks of each block-diagonal W_r, or None.
    aggr : "mean", "sum" or "add", "min", "max". root_weight : whether to add W_0 x_i. is_sorted : has no effect.
    bias : whether to add b. kwargs : those of `MessagePassing`.

    The adjacency of each relation is cached, with a copy of edge_type to detect changes. Features are transformed
    before they are aggregated if that gathers fewer columns.

    Parameters: `weight` [num_relations or num_bases, in_channels, out_channels], or [num_relations, num_blocks, ...],
    `comp` [num_relations, num_bases], `root` [in_channels, out_channels], `bias` [out_channels].

    Raises ArgumentError for both num_bases and num_blocks, and columns that num_blocks does not divide.

    >>> edge_index = torch.tensor([[0, 1, 2], [1, 2, 0]])
    >>> layer = tg.nn.RGCNConv(8, 4, num_relations=2)
    >>> layer(torch.ones(3, 8), edge_index, edge_type=torch.tensor([0, 1, 1])).shape
    torch.Size([3, 4])
    """

    comp: Parameter | None
    root: Parameter | None
    bias: Parameter | None

    def __init__(
        self,
        in_channels: int | tuple[int, int],
        out_channels: int,
        num_relations: int,
        num_bases: int | None = None,
        num_blocks: int | None = None,
        aggr: str = "mean",
        root_weight: bool = True,
        is_sorted: bool = False,
        bias: bool = True,
        **kwargs: Any,
    ):
        super().__init__(aggr, node_dim=0, **kwargs)
        if num_bases is not None and num_blocks is not None:
            raise ArgumentError("num_bases, num_blocks: give one of them; W is decomposed in one way")
        self.in_channels: int | tuple[int, int] = in_channels
        self.out_channels: int = out_channels
        self.num_relations: int = num_relations
        self.num_bases: int | None = num_bases
        self.num_blocks: int | None = num_blocks
        self.is_sorted: bool = is_sorted
        sources, targets = (in_channels, in_channels) if isinstance(in_channels, int) else in_channels
        self.in_channels_l = sources
        shape: tuple[int, ...] = num_bases or num_relations, sources, out_channels
        if num_blocks is not None:
            if sources % num_blocks or out_channels % num_blocks:
                raise ArgumentError(f"num_blocks: {num_blocks} does not divide {sources} and {out_channels} columns")
            shape = num_relations, num_blocks, sources // num_blocks, out_channels // num_blocks
        self.weight: Parameter = Parameter(torch.empty(shape))
        combined = None if num_bases is None else Parameter(torch.empty(num_relations, num_bases))
        self.register_parameter("comp", combined)
        self.register_parameter("root", Parameter(torch.empty(targets, out_channels)) if root_weight else None)
        self.register_parameter("bias", Parameter(torch.empty(out_channels)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        super().reset_parameters()
        glorot(self.weight)
        glorot(self.comp)
        glorot(self.root)

    def forward(
        self, x: Features | tuple[Features, Tensor], edge_index: Any, edge_type: Tensor | None = None
    ) -> Tensor:
        """x' [n_targets, out_channels].

        x : [n, in_channels], or integers [n] that select rows of W, or None for all of them; or a pair (of sources, of
        targets). edge_index : integers [2, E], a sparse matrix adj_t, or a tgraph.Graph. edge_type : the relation of
        each edge, integers [E], or None for the values of the matrix.

        Raises ArgumentError for arguments of inconsistent shapes or types, and for an edge type out of range.
        """
        if self._is_observed():
            return Namesake.forward(self, x, edge_index, edge_type)
        first = x[0] if isinstance(x, tuple) else x
        if first is None:
            first = torch.arange(self.in_channels_l, device=self.weight.device)
        second = x[1] if isinstance(x, tuple) else first
        if self.num_blocks is not None and not second.is_floating_point():
            raise ArgumentError("x: num_blocks needs floating features")
        targets = self.in_channels[1] if isinstance(self.in_channels, tuple) else self.in_channels
        for each, columns in ((first, self.in_channels_l), (second, targets)):
            if each.is_floating_point():
                check_features(each, columns, self.weight)
            elif each.dim() != 1:
                raise ArgumentError(f"x: expected integers [n], or floating [n, {columns}], got {list(each.shape)}")
        adjacency = self._adjacency(edge_index, (first, second))
        edge_type = adjacency.values if edge_type is None else edge_type
        if edge_type is None or edge_type.shape != (adjacency.num_edges,):
            raise ArgumentError(f"edge_type: expected [{adjacency.num_edges}], the relation of each edge")
        weight = self._weights()
        out = weight.new_zeros(adjacency.num_targets, self.out_channels)
        for relation, gather in self._relations(adjacency, edge_type):
            out = plus(out, self._received(gather, first, weight[relation]))
        if self.root is not None:
            out = out + (second @ self.root if second.is_floating_point() else self.root[second])
        return out if self.bias is None else out + self.bias

    def _weights(self) -> Tensor:
        """W of each relation, or its blocks."""
        if self.comp is None:
            return self.weight
        return (self.comp @ self.weight.flatten(1)).view(-1, *self.weight.shape[1:])

    def _relations(self, adjacency: Adjacency, edge_type: Tensor) -> Iterator[tuple[int, Gather]]:
        """The relations that have edges, and what reduces features [n, ...] over each."""
        reduce = REDUCE[self.aggr]
        if reduces_in_layout(adjacency, reduce, of_edges=True):
            check_types(edge_type, self.num_relations)
            for relation in range(self.num_relations):
                yield relation, partial(_in_layout, adjacency, edge_type, relation, reduce)
            return
        for relation, part in enumerate(relations_of(adjacency, edge_type, self.num_relations).parts):
            if part.num_edges:
                yield relation, partial(aggregate, part, reduce=reduce)

    def _received(self, gather: Gather, x: Tensor, weight: Tensor) -> Tensor:
        """W_r of the reduction of x over one relation, [n_targets, out_channels]."""
        if not x.is_floating_point():
            return gather(weight[x])
        if self.num_blocks is None and transform_first(weight.t(), x, REDUCE[self.aggr]):
            return gather(linear_map(x, weight.t()))
        out = gather(x)
        if self.num_blocks is None:
            return out @ weight
        return torch.einsum("abc,bcd->abd", out.view(-1, *weight.shape[:2]), weight).flatten(1)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.in_channels}, {self.out_channels}, num_relations={self.num_relations})"


def _in_layout(adjacency: GraphAdjacency, edge_type: Tensor, relation: int, reduce: str, x: Tensor) -> Tensor:
    """The sum or mean of x over the edges of one relation of a graph in a layout."""

    def sent(source: Tensor, target: Tensor, kind: Tensor) -> Tensor:
        return torch.where((kind == relation)[:, None], source, 0)

    total = adjacency.over_layout(x, "sum", sent, edge_type)
    if reduce == "sum":
        return total
    count = adjacency.over_layout(torch.ones_like(x[:, :1]), "sum", sent, edge_type)
    return total / count.clamp(min=1)
