"""Base class of layouts that store every arc explicitly: checks of `pull` and `rows`, and rows of arcs."""

from __future__ import annotations

from abc import abstractmethod

import torch
from torch import Tensor

from tgraph.core.building import sorting, validate
from tgraph.core.rows import gather_rows
from tgraph.errors import ArgumentError
from tgraph.formats.layout import Layout
from tgraph.kernels.reductions import EDGE_OPERATIONS, Reduction, reduction_of

FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
REDUCTIONS = ("sum", "prod", "min", "max")

Csr = tuple[Tensor, Tensor, "Tensor | None"]


class Uncompressed(Layout):
    """A layout that stores every arc explicitly, with its weight.

    weights : in storage order of the arcs, or None.
    """

    weights: Tensor | None

    def refuses(self, reduce: str, edge: str, dtype: torch.dtype) -> str | None:
        """Why `pull` does not support the reduction `reduce` with the edge operation `edge` on data of a `dtype`; None
        where it does."""
        if reduce not in REDUCTIONS:
            return f"it reduces by {', '.join(map(repr, REDUCTIONS))}, not by {reduce!r}"
        if edge not in EDGE_OPERATIONS:
            return f"{edge!r} is not one of {', '.join(map(repr, EDGE_OPERATIONS))}"
        if dtype not in FLOATS and dtype not in INTEGERS:
            return f"it has no arithmetic of {dtype}"
        if edge != "copy" and self.weight_dtype is None:
            return f"edge={edge!r} needs weights, which it has not"
        weighs = None if edge == "copy" else self.weight_dtype
        if weighs is not None and dtype in INTEGERS and weighs.is_floating_point:
            return f"weights of {weighs} cross no data of {dtype}; convert the data to floating numbers"
        return None

    def pull(self, data: Tensor, reduce: str, edge: str = "copy") -> Tensor:
        """See `Layout.pull`: `data` [n, F], reduced by `reduce` after the operation `edge`. Raises ArgumentError for
        calls that `refuses` rejects, and for data of another shape or device."""
        if data.dim() != 2 or len(data) != self.num_vertices:
            raise ArgumentError(f"data: expected [{self.num_vertices}, F], got {list(data.shape)}")
        if data.device != self.device:
            raise ArgumentError(f"data: on {data.device} while the layout is on {self.device}; move it with .to()")
        if (reason := self.refuses(reduce, edge, data.dtype)) is not None:
            raise ArgumentError(f"layout {self.name!r}: {reason}")
        if not data.numel():
            return torch.empty_like(data)
        # Truncating an int64 result wraps as the narrow dtype would; the kernels are compiled for int64 only.
        adds = reduce in ("sum", "prod") and data.dtype in INTEGERS
        sent = data.detach().to(torch.int64 if adds else data.dtype).contiguous()
        weights = None if edge == "copy" or self.weights is None else self.weights.to(sent.dtype)
        with torch.no_grad():
            return self._pull(sent, reduction_of(reduce), edge, weights).to(data.dtype)

    @abstractmethod
    def _pull(self, data: Tensor, reduction: Reduction, edge: str, weights: Tensor | None) -> Tensor:
        """The reduction of each row, [n, F], for non-empty data and weights of the dtype of the data; integer sums and
        products are in int64."""

    def rows(self, vertices: Tensor) -> Csr:
        """See `Layout.rows`. Raises ArgumentError unless `vertices` are int64 [k] and in range."""
        if vertices.dim() != 1 or vertices.dtype != torch.int64:
            raise ArgumentError(f"vertices: expected int64 [k], got {vertices.dtype} {list(vertices.shape)}")
        validate.check_range(vertices, self.num_vertices, "vertices")
        return self._rows(vertices)

    @abstractmethod
    def _rows(self, vertices: Tensor) -> Csr:
        """`rows` without checks."""


def placed(received: Tensor, rows: Tensor, num_rows: int, reduction: Reduction) -> Tensor:
    """`received` [r, F] scattered to the ascending `rows` [r] of a tensor [num_rows, F], with the identity
    elsewhere."""
    if len(rows) == num_rows:
        return received
    identity, shape = reduction.identity(received.dtype), (num_rows, received.shape[1])
    result = torch.full(shape, identity, dtype=received.dtype, device=received.device)
    return result.index_copy_(0, rows.to(torch.int64), received)


def taken(offset: Tensor, positions: Tensor, neighbors: Tensor, weights: Tensor | None) -> Csr:
    """The CSR with the given offsets of the arcs at `positions`."""
    return offset, sorting.take(neighbors, positions), None if weights is None else sorting.take(weights, positions)


def transposed_csr(offset: Tensor, neighbors: Tensor, weights: Tensor | None) -> Csr:
    """The CSR of the reversed arcs, sorted and stable for parallel arcs, with their weights [m] or None."""
    offset, neighbors, order = sorting.transpose(offset, neighbors, permutation=weights is not None)
    return offset, neighbors, None if weights is None or order is None else sorting.take(weights.detach(), order)


def select_rows(src: Tensor, dst: Tensor, weights: Tensor | None, vertices: Tensor) -> Csr:
    """The rows of `vertices` [k] as a CSR of k rows, from unsorted arcs src -> dst [m]; parallel arcs keep their order.
    O(m log k)."""
    wanted, number = torch.unique(vertices, return_inverse=True)
    if not len(wanted):
        return taken(vertices.new_zeros(1), vertices, dst, weights)
    row = torch.searchsorted(wanted, src.to(torch.int64)).clamp_(max=len(wanted) - 1)
    arcs = (wanted[row] == src).nonzero().squeeze(1)
    arcs = arcs[torch.argsort(dst[arcs], stable=True)]
    arcs = arcs[torch.argsort(row[arcs], stable=True)]
    first = torch.searchsorted(row[arcs], torch.arange(len(wanted) + 1, device=row.device))
    offset, positions = gather_rows(first, number)
    return taken(offset, arcs[positions], dst, weights)
