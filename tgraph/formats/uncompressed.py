"""What the layouts share that store every arc: what `pull` and `rows` check, and the two ways to pull."""

from __future__ import annotations

from abc import abstractmethod

import torch
from torch import Tensor

from tgraph.core import devices, native, sorting, validate
from tgraph.core.rows import gather_rows
from tgraph.errors import ArgumentError
from tgraph.formats.layout import Layout
from tgraph.kernels.autograd.segments import reduce_segments
from tgraph.kernels.messages import across, column
from tgraph.kernels.native.aggregation.arcs import Rows, pull, refuses_pair
from tgraph.kernels.portable.aggregation import reduce_slots
from tgraph.kernels.reductions import EDGE_OPERATIONS, Reduction, reduction_of

FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
REDUCTIONS = ("sum", "prod", "min", "max")

# Arcs of a layout without rows are reduced so many numbers at a time, for messages to stay in the cache.
CHUNK = 2**18

Csr = tuple[Tensor, Tensor, "Tensor | None"]


class Uncompressed(Layout):
    """A layout of every arc, with its weight.

    weights : those of the arcs, in the order in which they are stored, or None.
    """

    weights: Tensor | None

    def refuses(self, reduce: str, edge: str, dtype: torch.dtype) -> str | None:
        """Why `pull` cannot serve a reduction by `reduce`, with the edge operation `edge`, of data of a dtype; None
        where it can."""
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
        """See `Layout.pull`: data [n, F], reduced by `reduce` after the operation `edge`. Raises ArgumentError for what
        `refuses` names, and for data of another shape or device."""
        if data.dim() != 2 or len(data) != self.num_vertices:
            raise ArgumentError(f"data: expected [{self.num_vertices}, F], got {list(data.shape)}")
        if data.device != self.device:
            raise ArgumentError(f"data: on {data.device} while the layout is on {self.device}; move it with .to()")
        if (reason := self.refuses(reduce, edge, data.dtype)) is not None:
            raise ArgumentError(f"layout {self.name!r}: {reason}")
        if not data.numel():
            return torch.empty_like(data)
        # Totals of narrow integers wrap round just so when they are cut off at the end, and kernels have these only.
        adds = reduce in ("sum", "prod") and data.dtype in INTEGERS
        sent = data.detach().to(torch.int64 if adds else data.dtype).contiguous()
        weights = None if edge == "copy" or self.weights is None else self.weights.to(sent.dtype)
        with torch.no_grad():
            return self._pull(sent, reduction_of(reduce), edge, weights).to(data.dtype)

    @abstractmethod
    def _pull(self, data: Tensor, reduction: Reduction, edge: str, weights: Tensor | None) -> Tensor:
        """What the rows receive, [n, F], from data that is not empty, with the stored weights in its dtype; integers
        are added and multiplied as int64."""

    def rows(self, vertices: Tensor) -> Csr:
        """See `Layout.rows`. Raises ArgumentError unless `vertices` are int64 [k] and vertices of the graph."""
        if vertices.dim() != 1 or vertices.dtype != torch.int64:
            raise ArgumentError(f"vertices: expected int64 [k], got {vertices.dtype} {list(vertices.shape)}")
        validate.check_range(vertices, self.num_vertices, "vertices")
        return self._rows(vertices)

    @abstractmethod
    def _rows(self, vertices: Tensor) -> Csr:
        """The rows of vertices that are checked."""


def reduce_rows(
    offset: Tensor,
    neighbors: Tensor,
    weights: Tensor | None,
    data: Tensor,
    reduction: Reduction,
    edge: str,
    inside: bool = False,
) -> Tensor:
    """What each row of a CSR structure receives from its neighbours, [r, F], added along the row.

    offset, neighbors : int32 or int64 [r + 1] and [m]; the data is that of more vertices than have a row, [n, F].
    weights : [m] of the dtype of the data. inside : whether the rows are some in the middle of a structure, whose
    offsets begin anywhere; without weights.
    """
    offset = offset.to(torch.int64)
    if devices.kind(data) == "cpu" and _is_compiled(data.dtype, reduction, edge):
        per_head = None if weights is None else weights[:, None]
        number = reduction.identity(data.dtype)
        return pull(Rows(offset, neighbors), data, reduction.name, edge, per_head, identity=number)
    if inside:
        first = int(offset[0])
        neighbors, offset = neighbors[first : int(offset[-1])], offset - first
    messages = _messages(data, neighbors, edge, weights, reduction)
    return reduce_segments(messages, offset, reduction).to(data.dtype)


def reduce_arcs(
    receivers: Tensor, senders: Tensor, weights: Tensor | None, data: Tensor, reduction: Reduction, edge: str
) -> Tensor:
    """What each vertex receives along arcs that come in any order, [n, F], added in that order.

    receivers, senders : int32 or int64 [m], the ends of each arc. weights : [m] of the dtype of the data [n, F].
    """
    n, m = len(data), len(senders)
    if not devices.is_sequential(data):
        messages = _messages(data, senders, edge, weights, reduction)
        return reduce_slots(messages, receivers.to(torch.int64), n, reduction).to(data.dtype)
    identity, dtype = reduction.identity(data.dtype), _reduced_in(data.dtype, reduction)
    result = torch.full(data.shape, identity, dtype=dtype, device=data.device)
    step = max(1, CHUNK // data.shape[1])
    for begin in range(0, m, step):
        some = slice(begin, begin + step)
        messages = _messages(data, senders[some], edge, None if weights is None else weights[some], reduction)
        slot = receivers[some].to(torch.int64)
        if reduction.name == "sum":
            result.index_add_(0, slot, messages)
        else:
            result.scatter_reduce_(0, column(slot, messages).expand_as(messages), messages, reduction.scatter)
    return result.to(data.dtype)


def placed(received: Tensor, rows: Tensor, num_rows: int, reduction: Reduction) -> Tensor:
    """The rows [r, F] received at some places of [n, F], `rows` [r] ascending, and the identity elsewhere."""
    if len(rows) == num_rows:
        return received
    identity, shape = reduction.identity(received.dtype), (num_rows, received.shape[1])
    result = torch.full(shape, identity, dtype=received.dtype, device=received.device)
    return result.index_copy_(0, rows.to(torch.int64), received)


def taken(offset: Tensor, positions: Tensor, neighbors: Tensor, weights: Tensor | None) -> Csr:
    """The CSR of the arcs stored at some positions, with offsets of its own."""
    return offset, sorting.take(neighbors, positions), None if weights is None else sorting.take(weights, positions)


def transposed_csr(offset: Tensor, neighbors: Tensor, weights: Tensor | None) -> Csr:
    """The CSR of the reversed arcs, ascending, parallel ones in their order; weights [m] or None follow."""
    offset, neighbors, order = sorting.transpose(offset, neighbors, permutation=weights is not None)
    return offset, neighbors, None if weights is None or order is None else sorting.take(weights.detach(), order)


def select_rows(src: Tensor, dst: Tensor, weights: Tensor | None, vertices: Tensor) -> Csr:
    """The rows of some vertices [k] as a CSR of k rows, from arcs src -> dst [m] in any order, those with the same ends
    staying in theirs. O(m log k)."""
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


def _is_compiled(dtype: torch.dtype, reduction: Reduction, edge: str) -> bool:
    return native.load() is not None and refuses_pair(dtype, reduction.name, edge) is None


def _reduced_in(dtype: torch.dtype, reduction: Reduction) -> torch.dtype:
    """16-bit floating numbers are added and multiplied in float32: a total kept in bfloat16 would not count beyond
    256."""
    narrow = dtype in (torch.float16, torch.bfloat16) and reduction.name in ("sum", "prod")
    return torch.float32 if narrow else dtype


def _messages(data: Tensor, senders: Tensor, edge: str, weights: Tensor | None, reduction: Reduction) -> Tensor:
    return across(data.index_select(0, senders), edge, weights).to(_reduced_in(data.dtype, reduction))
