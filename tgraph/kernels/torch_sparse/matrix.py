"""Products of a graph's adjacency matrix, as a torch sparse CSR tensor, with dense data.

A product is linear in the data and in the values of the matrix. Two maps are closed under differentiation:

    Product   each row gets     the sum over its arcs of value * data[neighbour]
    Sampled   each arc gets     the product of the data at its two ends, summed over the columns

The gradient of a product in the data is a product with the transpose, in the values a sampled one.
"""

from __future__ import annotations

import functools
import warnings
from typing import Any

import torch
from torch import Tensor

from tgraph.graph import Graph, derived
from tgraph.subgraph import Mode


class Matrix:
    """The adjacency matrix of a graph, or of its transpose where `mirrored`."""

    __slots__ = ("graph", "mirrored")

    def __init__(self, graph: Graph, mirrored: bool):
        self.graph, self.mirrored = graph, mirrored

    @property
    def stored(self) -> Graph:
        """The graph whose rows are those of the matrix."""
        return self.graph.transpose() if self.mirrored else self.graph

    def transposed(self) -> Matrix:
        """The transpose."""
        return Matrix(self.graph, not self.mirrored)

    def receivers(self, mode: Mode) -> Graph:
        """The graph whose rows are the receivers, for a matrix whose rows are those of the arcs held."""
        return (self if mode == "pull" else self.transposed()).stored

    def values_of_transposed(self, values: Tensor) -> Tensor:
        """The values [m] of this matrix in the order of the transpose's; differentiable. Those of the graph itself
        are there already."""
        here, there = self.stored.weights, self.transposed().stored.weights
        if here is not None and there is not None and not values.requires_grad and _shares(values, here):
            return there.detach()
        permutation = self.graph.transpose_permutation
        if self.mirrored:
            return torch.empty_like(values).index_copy(0, permutation, values)
        return values.index_select(0, permutation)

    def tensor(self, values: Tensor | None, dtype: torch.dtype) -> Tensor:
        """The matrix as a sparse CSR tensor that shares what is stored; ones for values where None."""
        stored = self.stored
        if values is None:
            ones = _sparse_ones_float64 if dtype == torch.float64 else _sparse_ones_float32
            values = ones.__get__(stored)
        n = stored.num_vertices
        _warned_of_beta()
        offset = _sparse_offset.__get__(stored)
        return torch.sparse_csr_tensor(offset, stored.neighbors, values.detach(), (n, n), check_invariants=False)


def _shares(values: Tensor, stored: Tensor) -> bool:
    same_kind = values.dtype == stored.dtype and values.shape == stored.shape and values.is_contiguous()
    return same_kind and values.data_ptr() == stored.data_ptr()


def multiply(matrix: Matrix, mode: Mode, data: Tensor, values: Tensor | None) -> Tensor:
    """What the receivers get from the data [n] or [n, columns], times values [m] in the order of the matrix."""
    if mode == "push":
        values = None if values is None else matrix.values_of_transposed(values)
        matrix = matrix.transposed()
    return _Product.apply(matrix, data, values)


class _Product(torch.autograd.Function):
    """matrix @ data."""

    @staticmethod
    def forward(ctx: Any, matrix: Matrix, data: Tensor, values: Tensor | None) -> Tensor:
        ctx.matrix = matrix
        ctx.save_for_backward(data if ctx.needs_input_grad[2] else None, values)
        return matrix.tensor(values, data.dtype) @ data

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        data, values = ctx.saved_tensors
        to_data = to_values = None
        if ctx.needs_input_grad[1]:
            transposed = None if values is None else ctx.matrix.values_of_transposed(values)
            to_data = _Product.apply(ctx.matrix.transposed(), grad, transposed)
        if ctx.needs_input_grad[2]:
            to_values = _Sampled.apply(ctx.matrix, grad, data)
        return None, to_data, to_values


class _Sampled(torch.autograd.Function):
    """(rows @ data.T) at the places of the arcs, [m], without a temporary [m, columns]."""

    @staticmethod
    def forward(ctx: Any, matrix: Matrix, rows: Tensor, data: Tensor) -> Tensor:
        ctx.matrix = matrix
        ctx.save_for_backward(rows, data)
        stored = matrix.stored
        left, right = ((part[:, None] if part.dim() == 1 else part).contiguous() for part in (rows, data))
        if stored.num_arcs > stored.num_vertices**2:  # more parallel arcs than sampled_addmm believes in
            row = torch.arange(stored.num_vertices, device=data.device).repeat_interleave(stored.out_degree)
            return (left @ right.t())[row, stored.neighbors]
        places = matrix.tensor(None, data.dtype)
        return torch.sparse.sampled_addmm(places, left, right.t(), beta=0.0).values()

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        rows, data = ctx.saved_tensors
        matrix = ctx.matrix
        to_rows = _Product.apply(matrix, data, grad) if ctx.needs_input_grad[1] else None
        to_data = None
        if ctx.needs_input_grad[2]:
            to_data = _Product.apply(matrix.transposed(), rows, matrix.values_of_transposed(grad))
        return None, to_rows, to_data


@functools.cache
def _warned_of_beta() -> None:
    """Torch says once that CSR tensors are in beta; users of a graph need not hear it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.sparse_csr_tensor([0], [], [], (0, 0), check_invariants=False)


# ---- what is kept on the graph --------------------------------------------------------------------------------------


@derived
def _sparse_offset(graph: Graph) -> Tensor:
    """The offsets in the dtype of the neighbours, as the sparse libraries want them; int64 [n + 1] is shared."""
    return graph.offset.to(graph.neighbors.dtype)


@derived
def _sparse_ones_float32(graph: Graph) -> Tensor:
    return torch.ones(graph.num_arcs, device=graph.device)


@derived
def _sparse_ones_float64(graph: Graph) -> Tensor:
    return torch.ones(graph.num_arcs, dtype=torch.float64, device=graph.device)
