"""Products of a graph's adjacency matrix, as a torch sparse CSR tensor, with dense data."""

from __future__ import annotations

import functools
import warnings

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.core.subgraph import Mode
from tgraph.kernels.operators.aggregation.aggregation import transposed_weights


class Matrix:
    """The adjacency matrix of a graph, or of its transpose where `mirrored`."""

    graph: Graph
    mirrored: bool

    __slots__ = ("graph", "mirrored")

    def __init__(self, graph: Graph, mirrored: bool):
        self.graph, self.mirrored = graph, mirrored

    @property
    def stored(self) -> Graph:
        """The graph whose rows are those of the matrix."""
        return (self.graph.transpose() if self.mirrored else self.graph).decoded()

    def transposed(self) -> Matrix:
        """The transpose."""
        return Matrix(self.graph, not self.mirrored)

    def receivers(self, mode: Mode) -> Graph:
        """The graph whose rows are the receivers, for a matrix whose rows are those of the arcs held."""
        return (self if mode == "pull" else self.transposed()).stored

    def values_of_transposed(self, values: Tensor) -> Tensor:
        """The values [m] of this matrix in the order of the transpose's."""
        return transposed_weights(self.graph, not self.mirrored, values)

    def tensor(self, values: Tensor | None, dtype: torch.dtype) -> Tensor:
        """The matrix as a sparse CSR tensor that shares what is stored; ones for values where None."""
        stored = self.stored
        if values is None:
            wide = torch.float64 if dtype == torch.float64 else torch.float32
            name = f"_sparse_ones_{str(wide).removeprefix('torch.')}"
            values = stored.kept(name, lambda: stored.offset.new_ones(stored.num_arcs, dtype=wide))
        n = stored.num_vertices
        _warned_of_beta()
        offset = stored.kept(
            "_sparse_offset", lambda: stored.offset.to(stored.neighbors.dtype)
        )  # as the libraries want
        return torch.sparse_csr_tensor(
            offset, stored.neighbors, values.detach(), (n, n), device=offset.device, check_invariants=False
        )


def multiply(matrix: Matrix, mode: Mode, data: Tensor, values: Tensor | None) -> Tensor:
    """The product of the matrix and the data [n] or [n, columns], times values [m] in the order of the matrix."""
    if mode == "push":
        values = None if values is None else matrix.values_of_transposed(values)
        matrix = matrix.transposed()
    return matrix.tensor(values, data.dtype) @ data


def sampled(matrix: Matrix, rows: Tensor, data: Tensor) -> Tensor:
    """(rows @ data.T) at the places of the arcs, [m], without a temporary [m, columns]."""
    stored, (left, right) = matrix.stored, (part.contiguous() for part in (rows, data))
    if stored.num_arcs > stored.num_vertices**2:  # more parallel arcs than sampled_addmm believes in
        row = torch.arange(stored.num_vertices, device=data.device).repeat_interleave(stored.out_degree)
        return (left @ right.t())[row, stored.neighbors]
    return torch.sparse.sampled_addmm(matrix.tensor(None, data.dtype), left, right.t(), beta=0.0).values()


@functools.cache
def _warned_of_beta() -> None:
    """Torch says once that CSR tensors are in beta; users of a graph need not hear it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.sparse_csr_tensor([0], [], [], (0, 0), check_invariants=False)
