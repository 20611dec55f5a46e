"""The base class of the layers that aggregate over a normalised adjacency."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.nn import tensor_cache
from tgraph.nn.adjacency import Adjacency
from tgraph.nn.conv.aggregation import Weights, aggregate, arc_weights
from tgraph.nn.conv.layer import REDUCE, Layer, vertices_back, vertices_first
from tgraph.nn.normalisation import gcn_norm, stays_in_layout

Normalised = tuple[Adjacency, Weights]


class NormalisedLayer(Layer):
    """Base class of the layers over D^-1/2 (A + I) D^-1/2.

    Normalised weights are cached for each edge_index and edge_weight until either changes; for an edge_weight that
    requires a gradient they are computed in each call.
    """

    improved: bool = False
    normalize: bool = True
    cached: bool
    add_self_loops: bool

    def reset_parameters(self) -> None:
        super().reset_parameters()
        self._cached_edge_index: Any = None
        self._cached_adj_t: Any = None  # an attribute of PyTorch Geometric's layers
        self._cached_x: Tensor | None = None

    def _normalised_once(self, x: Tensor, edge_index: Any, edge_weight: Tensor | None, sums: bool) -> Normalised:
        """As `_normalised`; where `cached`, the result of the first call."""
        if not (self.cached and self.normalize):
            return self._normalised(x, edge_index, edge_weight, sums)
        if not isinstance(self._cached_edge_index, tuple):
            self._cached_edge_index = self._normalised(x, edge_index, edge_weight, sums)
        return self._cached_edge_index

    def _normalised(self, x: Tensor, edge_index: Any, edge_weight: Tensor | None, sums: bool) -> Normalised:
        """(the adjacency to aggregate over, its weights by rows). `sums` : whether they may be a `Scale`."""
        traced = torch.compiler.is_compiling() or torch.jit.is_tracing()
        if traced or edge_weight is not None or not self.normalize or not tensor_cache.is_cacheable(edge_index):
            return self._find_normalised(x, edge_index, edge_weight, sums)
        size = self._count(x)
        key = ("gcn", size, x.dtype, self.flow, self.add_self_loops, self.improved, sums)
        return tensor_cache.cached(edge_index, key, lambda: self._find_normalised(x, edge_index, None, sums))

    def _find_normalised(self, x: Tensor, edge_index: Any, edge_weight: Tensor | None, sums: bool) -> Normalised:
        adjacency = self._adjacency(edge_index, (x, x))
        if not self.normalize:
            return adjacency, arc_weights(adjacency, edge_weight, sums)
        if edge_weight is None and not (sums and stays_in_layout(adjacency)):
            edge_weight = adjacency.values
        loops = _loops(edge_index) if self.add_self_loops else None
        return gcn_norm(adjacency, edge_weight, self.improved, loops, x.dtype, sums)

    def _propagated(self, x: Tensor, adjacency: Adjacency, weights: Weights) -> Tensor:
        """The reduction of the weighted x, [..., n, columns] as x."""
        reduce = REDUCE[self.aggr]
        if x.dim() + self.node_dim == 0:
            return aggregate(adjacency, x, reduce, weights)
        return vertices_back(aggregate(adjacency, vertices_first(x, self.node_dim), reduce, weights), self.node_dim)


def _loops(edge_index: Any) -> str:
    """PyTorch Geometric's rule for self-loops of this type of edge_index: `loops` of `gcn_norm`."""
    if isinstance(edge_index, Graph):
        return "remaining"
    if not isinstance(edge_index, Tensor):  # a torch_sparse.SparseTensor
        return "replaced"
    return "remaining" if edge_index.layout == torch.strided else "more"
