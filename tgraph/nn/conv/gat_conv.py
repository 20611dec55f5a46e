"""Graph attention: Velickovic et al., "Graph attention networks", ICLR 2018."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.parameter import Parameter, UninitializedParameter

from tgraph.errors import ArgumentError
from tgraph.nn.conv.attention_base import AttentionLayer, edges_attended, edges_with_weights, in_one_dtype
from tgraph.nn.conv.layer import Pair, plain_weight
from tgraph.nn.conv.linear import Linear, edge_linear, glorot
from tgraph.nn.conv.namesakes import namesake
from tgraph.nn.edge_index import Sizes
from tgraph.nn.hugepage_ops import linear_map
from tgraph.primitives import attention

FEW = 1 << 14  # elements

Namesake: Any = namesake("GATConv")


class GATConv(AttentionLayer, Namesake):
    """x'_i = the sum of alpha_ij W x_j over the neighbours j of i, for each head, as PyTorch Geometric's GATConv.

    alpha_ij is the softmax over j of leaky_relu(a_s W x_j + a_t W x_i + a_e W_e e_ij).

    in_channels : columns of x, or a pair (sources, targets) with a W each; -1 to infer them from the first input.
    out_channels : columns of x' for each head.
    heads : number of heads. concat : whether heads are concatenated, or averaged.
    negative_slope : of the leaky_relu. dropout : probability of dropping an alpha in training.
    add_self_loops : whether self-loops are replaced by one for each vertex.
    edge_dim : columns of edge_attr, or None. fill_value : features of self-loops: a number, a tensor, or the reduction
        of the features of incoming edges, "mean", "add", "min", "max" or "mul".
    bias : whether to add a bias. residual : whether to add W_r x_i.
    kwargs : those of `MessagePassing`.

    Parameters: `att_src`, `att_dst` [1, heads, out_channels], `bias`, `lin.weight`, or `lin_src.weight` and
    `lin_dst.weight`, and where there are edge features or a residual `att_edge`, `lin_edge.weight`, `res.weight`.

    >>> layer = tg.nn.GATConv(3, 4, heads=2)
    >>> layer(torch.ones(5, 3), tg.generators.cycle(5)).shape
    torch.Size([5, 8])
    """

    lin: Linear | None
    lin_src: Linear | None
    lin_dst: Linear | None
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
        residual: bool = False,
        **kwargs: Any,
    ):
        super().__init__(in_channels, out_channels, heads, concat, dropout, edge_dim, **kwargs)
        self.negative_slope: float = negative_slope
        self.add_self_loops: bool = add_self_loops
        self.fill_value: float | Tensor | str = fill_value
        self.residual: bool = residual
        joined, total = heads * out_channels, out_channels * (heads if concat else 1)
        self.lin = self.lin_src = self.lin_dst = None
        if isinstance(in_channels, int):
            targets = in_channels
            self.lin = Linear(in_channels, joined, bias=False, weight_initializer="glorot")
        else:
            targets = in_channels[1]
            self.lin_src = Linear(in_channels[0], joined, bias=False, weight_initializer="glorot")
            self.lin_dst = Linear(targets, joined, bias=False, weight_initializer="glorot")
        self.att_src: torch.nn.Parameter = Parameter(torch.empty(1, heads, out_channels))
        self.att_dst: torch.nn.Parameter = Parameter(torch.empty(1, heads, out_channels))
        self.lin_edge = None
        self.register_parameter("att_edge", None)
        if edge_dim is not None:
            self.lin_edge = edge_linear(edge_dim, joined, bias=False, weight_initializer="glorot")
            self.att_edge: torch.nn.Parameter = Parameter(torch.empty(1, heads, out_channels))
        self.res: Any = Linear(targets, total, bias=False, weight_initializer="glorot") if residual else None
        self.register_parameter("bias", Parameter(torch.empty(total)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        super().reset_parameters()
        for att in (self.att_src, self.att_dst, self.att_edge):
            glorot(att)

    def forward(
        self,
        x: Tensor | Pair,
        edge_index: Any,
        edge_attr: Tensor | None = None,
        size: Sizes | None = None,
        return_attention_weights: bool | None = None,
    ) -> Any:
        """x' [n_targets, heads * out_channels], or [n_targets, out_channels] if heads are averaged.

        x : [n, in_channels], or a pair (of sources, of targets); the latter may be None.
        edge_index : integers [2, E], a sparse matrix adj_t, or a tgraph.Graph. edge_attr : [E, edge_dim] or None;
            left out with a warning by a layer without edge_dim.
        size : numbers of (sources, targets), where x does not determine them.
        return_attention_weights : True returns (x', (edge_index, alpha [E', heads])), self-loops last, in O(E) memory.

        Raises ArgumentError for arguments of inconsistent shapes or types.
        """
        if self._is_observed():
            return Namesake.forward(self, x, edge_index, edge_attr, size, return_attention_weights)
        first, second = (x, x) if isinstance(x, Tensor) else x
        if first.dim() != 2:
            raise ArgumentError(f"x: expected [n, in_channels], got {list(first.shape)}")
        value, target = self._transformed(first, second, isinstance(x, Tensor))
        adjacency = self._adjacency(edge_index, (value, target), size)
        filled = self.add_self_loops, self.fill_value, self.flow
        over, edge_attr = edges_attended(adjacency, edge_attr, *filled, bool(return_attention_weights))
        if target is value:
            source_score, target_score = self._scores(self.lin, first, value, self.att_src, self.att_dst)
        else:
            (source_score,) = self._scores(self.lin or self.lin_src, first, value, self.att_src)
            target_score = source_score.new_zeros((over.num_targets, self.heads))
            if target is not None and second is not None:
                (target_score,) = self._scores(self.lin or self.lin_dst, second, target, self.att_dst)
        sent, source_score = adjacency.with_mirrors(value, source_score)
        sent, *scores = in_one_dtype(sent, source_score, over.with_sink(target_score), self._edge_score(edge_attr))
        arcs = over.arcs(edge_attr is not None or bool(return_attention_weights))
        options = {"negative_slope": self.negative_slope, **self._dropped(value)}
        received = over.without_sink(attention.gat(arcs, sent, *scores, **options))
        out = self._finished(received, value, second)
        if not return_attention_weights:
            return out
        alpha = attention.gat_weights(arcs, *scores, **options)
        return out, edges_with_weights(edge_index, over, alpha, self.flow, over is adjacency)

    def _transformed(self, first: Tensor, second: Tensor | None, same: bool) -> tuple[Tensor, Tensor | None]:
        """W x of the sources and of the targets, [n, heads, out_channels]."""
        if self.lin is not None:
            value = self._by_head(self.lin(first))
            return value, value if same else None if second is None else self._by_head(self.lin(second))
        assert self.lin_src is not None and self.lin_dst is not None
        return self._by_head(self.lin_src(first)), None if second is None else self._by_head(self.lin_dst(second))

    def _scores(self, lin: torch.nn.Module | None, x: Tensor, transformed: Tensor, *att: Tensor) -> Sequence[Tensor]:
        """a W x of each vertex, [n, heads], for each a of `att`, by one matrix product for all: (a W) x if x has no
        more columns than W x, otherwise a (W x). For few vertices, by separate products, as they are faster there."""
        few = not torch.compiler.is_compiling() and transformed.numel() < FEW
        if few or torch.is_autocast_enabled(x.device.type):
            return [(transformed * each).sum(-1) for each in att]
        columns = self._side_by_side(*att)
        weight = plain_weight(lin)
        if weight is None or x.layout != torch.strided or x.shape[1] > self.heads * self.out_channels:
            scores = transformed.flatten(1) @ columns
        else:
            scores = linear_map(x, columns.t() @ weight)
        return scores.split(self.heads, 1)

    def _side_by_side(self, *att: Tensor) -> Tensor:
        """The a of `att`, each [1, heads, out_channels], as a block-diagonal matrix to multiply W x with:
        [heads * out_channels, heads] each, concatenated by columns."""
        own = torch.eye(self.heads, dtype=att[0].dtype, device=att[0].device)[:, None, None]
        held = torch.stack([each[0] for each in att], 2)[..., None]
        return (held * own).view(self.heads * self.out_channels, -1)

    def _folded(self, att: Tensor, weight: Tensor) -> Tensor:
        """a W, [heads, in_channels]."""
        return (att.transpose(0, 1) @ weight.view(self.heads, self.out_channels, -1)).squeeze(1)

    def _edge_score(self, edge_attr: Tensor | None) -> Tensor | None:
        """a_e W_e e of each edge, [E, heads], as (a_e W_e) e: W_e e would have heads * out_channels columns."""
        if edge_attr is None:
            return None
        if self.lin_edge is None:
            if not torch.compiler.is_compiling():
                warnings.warn("edge_attr: ignored, the layer has no edge_dim; give edge_dim", stacklevel=5)
            return None
        if isinstance(self.lin_edge.weight, UninitializedParameter):
            self.lin_edge(edge_attr[:0])
        if not self.add_self_loops and not len(edge_attr):
            return None  # as there, where features of no edges are not looked at
        weight = plain_weight(self.lin_edge)
        if weight is None:
            return (self._by_head(self.lin_edge(edge_attr)) * self.att_edge).sum(-1)
        return linear_map(edge_attr, self._folded(self.att_edge, weight), argument="edge_attr")
