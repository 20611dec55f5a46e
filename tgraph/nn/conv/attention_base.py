"""The base class of the attention layers, their edges, and the attention weights that they return."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn.parameter import Parameter

from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.nn.adjacency import Adjacency, GraphAdjacency
from tgraph.nn.conv.layer import REDUCE, Layer
from tgraph.nn.hugepage_ops import plus
from tgraph.nn.self_loops import with_loops
from tgraph.nn.spread import SpreadAdjacency
from tgraph.nn.traced import SunkAdjacency
from tgraph.primitives import attention


class AttentionLayer(Layer):
    """Base class of the attention layers: messages are summed, and dimension 0 of x counts vertices."""

    attends = True
    res: Any
    bias: Parameter | None

    def __init__(
        self,
        in_channels: int | tuple[int, int],
        out_channels: int,
        heads: int,
        concat: bool,
        dropout: float,
        edge_dim: int | None,
        **kwargs: Any,
    ):
        super().__init__(node_dim=0, **kwargs)
        self.in_channels: int | tuple[int, int] = in_channels
        self.out_channels: int = out_channels
        self.heads: int = heads
        self.concat: bool = concat
        self.dropout: float = dropout
        self.edge_dim: int | None = edge_dim
        if REDUCE[self.aggr] != "sum":
            raise ArgumentError(f"aggr: {self.aggr!r}; attention is a weighted sum, leave aggr out")

    def _by_head(self, x: Tensor) -> Tensor:
        """[n, heads * out_channels] as [n, heads, out_channels]."""
        return x.view(-1, self.heads, self.out_channels)

    def _joined(self, out: Tensor) -> Tensor:
        """The heads of [n, heads, out_channels] concatenated, or averaged."""
        return out.flatten(1) if self.concat else out.mean(dim=1)

    def _dropped(self, x: Tensor) -> dict[str, Any]:
        """The dropout arguments of the sums and of the returned weights."""
        drops = self.training and self.dropout > 0
        return {"dropout": self.dropout, "training": self.training, "seed": attention.draw(x.device) if drops else None}

    def _finished(self, out: Tensor, value: Tensor, x: Tensor | None) -> Tensor:
        """The joined heads of `out`, plus the residual of the targets x and the bias. `value` : W x of the sources."""
        out = self._joined(out)
        residual = self.res is not None and x is not None
        out = plus(out, self.res(x)) if residual else self._as_many_as(value, out)
        return out if self.bias is None else plus(out, self.bias)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.in_channels}, {self.out_channels}, heads={self.heads})"


class AdjacencyInParts(GraphAdjacency):
    """The adjacency of a graph in a layout, whose rows are decoded part by part. `loops` : whether the self-loops of
    each vertex are replaced by one."""

    def __init__(self, adjacency: GraphAdjacency, loops: bool):
        super().__init__(adjacency.graph, adjacency.reverse)
        self._loops = loops

    def arcs(self, of_edges: bool = True) -> Any:
        assert self.in_layout is not None
        return attention.RowsInParts(self.in_layout.transpose_detached(), self._loops)


def edges_attended(
    adjacency: Adjacency,
    edge_attr: Tensor | None,
    add_self_loops: bool,
    fill: float | Tensor | str,
    flow: str,
    returns: bool = False,
) -> tuple[Adjacency, Tensor | None]:
    """The adjacency to attend over, and the features [E', ...] of its edges.

    add_self_loops : whether self-loops are replaced by one for each vertex that is both source and target, with
        features by `fill`. flow : of the layer. returns : whether the weights of the edges are returned.

    For a graph spread over processes, the adjacency of this process, from sources `with_mirrors`.
    """
    if isinstance(adjacency, SpreadAdjacency):
        adjacency.require_none(edge_attr=edge_attr)
        adjacency = adjacency.local
    in_parts = edge_attr is None and not returns and not torch.compiler.is_compiling()
    if in_parts and isinstance(adjacency, GraphAdjacency) and adjacency.in_layout is not None:
        return AdjacencyInParts(adjacency, add_self_loops), None
    if edge_attr is None and adjacency.values is not None and adjacency.values.dim() > 1:
        edge_attr = adjacency.values
    if edge_attr is not None:
        if edge_attr.shape[0] != adjacency.num_edges:
            raise ArgumentError(f"edge_attr: expected [{adjacency.num_edges}, ...], got {list(edge_attr.shape)}")
        edge_attr = edge_attr[:, None] if edge_attr.dim() == 1 else edge_attr
    if not add_self_loops:
        return adjacency, edge_attr
    looped = with_loops(adjacency, min(adjacency.num_sources, adjacency.num_targets), flow)
    return looped.adjacency, None if edge_attr is None else looped.features(edge_attr, fill)


def in_one_dtype(*tensors: Tensor | None) -> list[Any]:
    """The tensors in their promoted dtype: autocast does not convert parameters."""
    dtypes = [tensor.dtype for tensor in tensors if tensor is not None]
    common = dtypes[0]
    if dtypes.count(common) == len(dtypes):
        return list(tensors)
    for dtype in dtypes[1:]:
        common = torch.promote_types(common, dtype)
    return [None if tensor is None else tensor.to(common) for tensor in tensors]


def edges_with_weights(edge_index: Any, over: Adjacency, alpha: Tensor, flow: str, same: bool) -> Any:
    """The attention weights that a layer returns: (edge_index [2, E'], alpha [E', heads]), self-loops included.

    same : whether the edges attended over equal `edge_index`, which is then returned itself. For a sparse matrix the
    result is a sparse matrix with values alpha, in the order of its rows.
    """
    if isinstance(edge_index, Graph) and edge_index.storage.is_distributed:
        raise ArgumentError("return_attention_weights: not supported on a graph spread over processes; leave it out")
    if isinstance(edge_index, Tensor) and edge_index.layout != torch.strided:
        alpha = over.in_row_order(alpha)
        size = (over.num_targets, over.num_sources, *alpha.shape[1:])
        offset, neighbors = over.rows.offset[: over.num_targets + 1], over.rows.neighbors.to(torch.int64)
        if edge_index.layout == torch.sparse_csr:
            return torch.sparse_csr_tensor(offset, neighbors, alpha, size=size), alpha
        target = torch.arange(over.num_targets, device=alpha.device).repeat_interleave(offset.diff())
        indices = torch.stack((target, neighbors))
        return torch.sparse_coo_tensor(indices, alpha, size=size, is_coalesced=True), alpha
    if not isinstance(edge_index, (Tensor, Graph)):  # a torch_sparse.SparseTensor
        source, target = over.edge_index
        return type(edge_index)(row=target, col=source, value=alpha, sparse_sizes=(over.num_targets, over.num_sources))
    if same and not isinstance(edge_index, Graph):
        return edge_index, alpha
    if isinstance(over, SunkAdjacency):
        alpha = over.without_sunk(alpha)
    ends = over.edge_index if flow == "source_to_target" else over.edge_index[::-1]
    return torch.stack(ends), alpha
