"""Attention by the kernels in `attention.cu` and `attention_backward.cu`: nothing of the size of the arcs is kept.

A call launches kernels on torch's current stream and does not wait for them. It waits only to bin rows that no call
has met before, so that in a CUDA graph arcs can be used that were used before it is captured, as torch wants it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import torch
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

from tgraph.core.csr import Csr
from tgraph.kernels.call import Call, not_plain
from tgraph.kernels.cuda import runtime
from tgraph.kernels.cuda.bins import DegreeBins, find_bins
from tgraph.kernels.cuda.pull import MAX_GRID, TYPES, least_lanes
from tgraph.kernels.cuda.pull import SOURCE as PULL
from tgraph.kernels.cuda.runtime import Argument, Kernel
from tgraph.kernels.operators.attention import AttentionSpec, Inputs, gain, threshold

AHEAD, BACK = "attention/attention.cu", "attention/attention_backward.cu"
THREADS = 128  # as in attention.cuh
FLOATS = tuple(dtype for dtype in TYPES if dtype.is_floating_point)
SCORES = {"gat": "tgraph::Gat", "gatv2": "tgraph::Gatv2", "dot": "tgraph::Dot"}

# Arcs of a tile, which is a warp's here for each head, and tiles of a row at most.
TILE, MAX_TILES = 256, 1024

# So many threads give the gradient of the vector, each of which adds up what it finds of it.
VECTOR_THREADS = 1 << 19


def refuses(call: Call) -> str | None:
    """Why a call is left to the portable operators, None where it is not."""
    if call.data.dtype not in FLOATS:
        return f"it has no kernel for {call.data.dtype}"
    if 0 in call.data.shape[1:]:
        return "the data has no columns"
    return not_plain(call)


def instantiations() -> Iterator[Kernel]:
    """Every kernel that is launched here, but for those of pulls."""
    for dtype, wide in product(FLOATS, (False, True)):
        yield Kernel(BACK, "multiply_rows", (TYPES[dtype], _flag(wide)))
        for score in SCORES.values():
            types = (TYPES[dtype], score, _flag(wide))
            yield Kernel(AHEAD, "attend_rows", types)
            yield Kernel(AHEAD, "weigh_arcs", types)
            yield Kernel(BACK, "give_targets", types)
            yield Kernel(BACK, "give_sources", types)
    for dtype in FLOATS:
        yield Kernel(AHEAD, "join_attended", (TYPES[dtype],))


def attend(inputs: Inputs, arcs: Csr, spec: AttentionSpec) -> tuple[Tensor, Tensor]:
    """As the portable twin, the statistics of 16-bit data in float32. The same bits at every call."""
    shape, number = (arcs.num_rows, *inputs.sent.shape[1:]), number_of(inputs.sent.dtype)
    out, statistics = inputs.sent.new_empty(shape), inputs.sent.new_empty((*shape[:2], 2), dtype=number)
    work = Work.of(inputs, arcs, arcs.permutation, spec, (inputs.target, inputs.source, None, inputs.sent), (out,))
    slots = work.bins.num_slots
    sums, greatest, totals = (statistics.new_empty((slots, *of)) for of in (shape[1:], shape[1:2], shape[1:2]))
    work.launch(Kernel(AHEAD, "attend_rows", work.types), out, statistics, sums, greatest, totals)
    hubs, lanes = work.bins.hubs, least_lanes(work.columns)
    if len(hubs):
        grid, sizes = (len(hubs) * work.heads, -(-work.columns // lanes)), (work.heads, work.columns, lanes)
        kernel = Kernel(AHEAD, "join_attended", work.types[:1])
        runtime.launch(kernel, grid, THREADS, hubs, sums, greatest, totals, *sizes, out, statistics)
    return out, statistics


def attention_weights(inputs: Inputs, arcs: Csr, spec: AttentionSpec, statistics: Tensor) -> Tensor:
    """As the portable twin, but in the dtype of the statistics and without a gradient."""
    weights = statistics.new_empty((arcs.num_arcs, statistics.shape[1]))
    work = Work.of(inputs, arcs, arcs.permutation, spec, (inputs.target, inputs.source, None, None))
    kernel = Kernel(AHEAD, "weigh_arcs", work.types)
    work.launch(kernel, statistics.contiguous(), weights, sliced=False)
    return weights


def attend_backward(
    grad: Tensor,
    out: Tensor,
    statistics: Tensor,
    inputs: Inputs,
    arcs: Csr,
    spec: AttentionSpec,
    transpose: Csr,
    wanted: list[bool],
) -> list[Tensor | None]:
    """As the portable twin: a pass over the arcs of each target, and one over those of each source."""
    found = [
        torch.empty_like(x, memory_format=torch.contiguous_format) if x is not None and w else None
        for x, w in zip(inputs, wanted, strict=True)
    ]
    to_source, to_target, to_value, to_edge, to_vector = found
    grad, out = grad.contiguous(), out.contiguous()
    of_targets = statistics.contiguous(), _delta(grad, out)
    if not (to_target is to_edge is to_vector is None):
        _give_targets(grad, of_targets, inputs, arcs, spec, to_target, to_edge, to_vector)
    if not (to_source is to_value is None):
        _give_sources(grad, of_targets, inputs, arcs, spec, transpose, to_source, to_value)
    return found


def number_of(dtype: torch.dtype) -> torch.dtype:
    """The dtype that data of a dtype is computed in."""
    return torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype


# ---- the passes of the gradients ------------------------------------------------------------------------------------


def _delta(grad: Tensor, out: Tensor) -> Tensor:
    """The products of two tensors [rows, heads, columns] over the columns."""
    delta, columns = grad.new_empty(grad.shape[:2], dtype=number_of(grad.dtype)), grad.shape[2]
    wide = _fits(columns, grad, out)
    lanes = least_lanes(-(-columns // (16 // grad.element_size())))
    grid = -(-delta.numel() * lanes // THREADS)
    kernel = Kernel(BACK, "multiply_rows", (TYPES[grad.dtype], _flag(wide)))
    runtime.launch(kernel, grid, THREADS, grad, out, delta.numel(), columns, lanes, delta)
    return delta


def _give_targets(
    grad: Tensor,
    of_targets: tuple[Tensor, Tensor],
    inputs: Inputs,
    arcs: Csr,
    spec: AttentionSpec,
    to_target: Tensor | None,
    to_edge: Tensor | None,
    to_vector: Tensor | None,
) -> None:
    ends = (inputs.target, inputs.source, grad, inputs.sent)
    work = Work.of(inputs, arcs, arcs.permutation, spec, ends, (to_target, to_edge))
    slots = None if to_target is None else work.new_slots(to_target)
    kernel, sliced = Kernel(BACK, "give_targets", work.types), spec.score != "gat"
    if to_vector is None:
        work.launch(kernel, *of_targets, to_target, to_edge, None, slots, sliced=sliced, strides=True)
    else:
        strides = [work.stride(share) for share in work.shares()]
        vectors = of_targets[0].new_empty((sum(strides), *to_vector.shape))
        for share, stride, part in zip(work.shares(), strides, vectors.split(strides), strict=True):
            work.launch_share(kernel, share, stride, stride, *of_targets, to_target, to_edge, part, slots)
        to_vector.copy_(vectors.sum(0))
    _join(work.bins, slots, to_target)


def _give_sources(
    grad: Tensor,
    of_targets: tuple[Tensor, Tensor],
    inputs: Inputs,
    arcs: Csr,
    spec: AttentionSpec,
    transpose: Csr,
    to_source: Tensor | None,
    to_value: Tensor | None,
) -> None:
    ends = (inputs.source, inputs.target, inputs.sent, grad)
    work = Work.of(inputs, transpose, arcs.permutation, spec, ends, (to_source, to_value), transpose.permutation)
    slots = [None if part is None else work.new_slots(part) for part in (to_source, to_value)]
    sliced = spec.score != "gat" or to_value is not None
    work.launch(Kernel(BACK, "give_sources", work.types), *of_targets, to_source, to_value, *slots, sliced=sliced)
    for part, total in zip(slots, (to_source, to_value), strict=True):
        _join(work.bins, part, total)


def _join(bins: DegreeBins, slots: Tensor | None, total: Tensor | None) -> None:
    """Adds the slots [slots, ..] of the tiles of each long row, and writes the sum to the row of the total."""
    if slots is None or total is None or not len(bins.hubs):
        return
    columns = slots[:1].numel()
    lanes = least_lanes(columns)
    types = (TYPES[total.dtype], "tgraph::Sum")
    width = lanes * MAX_GRID[1]
    for first in range(0, columns, width):
        grid = (len(bins.hubs), min(-(-(columns - first) // lanes), MAX_GRID[1]))
        sizes, outcome = (columns, first, lanes), (0, 0.0, 0, total, None)
        runtime.launch(Kernel(PULL, "join_tiles", types), grid, 256, bins.hubs, slots, None, *sizes, *outcome)


# ---- launches -------------------------------------------------------------------------------------------------------


class Share(NamedTuple):
    """The work of teams of one shape.

    tiles : [t, 4] of `DegreeBins`, or None where they have whole rows.
    rows : which, or None for all.
    size : how many.
    parts : how many lanes of a team lie along the arcs.
    """

    tiles: Tensor | None
    rows: Tensor | None
    size: int
    parts: int


class Work(NamedTuple):
    """A pass over the arcs of rows.

    types : the arguments of the templates.
    arcs, given : the arguments of the kernels before the shape, from the offsets on, and after it.
    heads, columns : of the data.
    lanes, slices : how many lanes of a team lie along the columns, and how often that many for all of them.
    """

    bins: DegreeBins
    types: tuple[str, ...]
    arcs: tuple[Argument, ...]
    given: tuple[Argument, ...]
    heads: int
    columns: int
    lanes: int
    slices: int

    @classmethod
    def of(
        cls,
        inputs: Inputs,
        arcs: Csr,
        permutation: Tensor | None,
        spec: AttentionSpec,
        ends: tuple[Tensor | None, ...],
        written: tuple[Tensor | None, ...] = (),
        numbers: Tensor | None = None,
    ) -> Work:
        """permutation : the place of an arc among the edges, by its number. ends : near, far, held and sent, as in
        `attention.cuh`. written : what has the columns of the data. numbers : of the arcs, None for their order."""
        heads, columns = inputs.sent.shape[1:]
        drops = spec.seed is not None and spec.dropout > 0
        numbered = inputs.edge is not None or drops
        # Numbers and positions say which edge an arc has: not of interest to passes that know none.
        numbers = numbers if numbered else None
        read = [None if x is None else x.contiguous() for x in (*ends, inputs.edge, inputs.vector)]
        wide = _fits(columns, *(x for x in (*read, *written) if x is not None and x.shape[-1] == columns))
        count = 16 // inputs.sent.element_size()
        lanes = least_lanes(-(-columns // count))
        types = (TYPES[inputs.sent.dtype], SCORES[spec.score], _flag(wide))
        chance = (gain(spec.dropout), threshold(spec.dropout), spec.seed if drops else None)
        is_short = int(arcs.neighbors.dtype == torch.int32)
        position = None if permutation is None else permutation.contiguous()
        structure = (arcs.offset.contiguous(), arcs.neighbors.contiguous(), is_short, numbers, position)
        return cls(
            _bins_of(arcs.offset),
            types,
            structure,
            (float(spec.factor), *chance, *read),
            heads,
            columns,
            lanes,
            -(-columns // (lanes * count)),
        )

    def shares(self) -> Iterator[Share]:
        """The rows by their number of arcs, and the tiles of the longer ones."""
        for rows, size, parts in self.bins.groups(self.lanes):
            yield Share(None, rows, size, parts)
        if len(self.bins.tiles):
            yield Share(self.bins.tiles, None, len(self.bins.tiles), 32 // self.lanes)

    def stride(self, share: Share) -> int:
        """How many rows or tiles are worked on at a time where each team goes on to others."""
        return min(share.size, max(VECTOR_THREADS // (self.lanes * share.parts * self.heads), 1))

    def launch(self, kernel: Kernel, *outcome: Argument, sliced: bool = True, strides: bool = False) -> None:
        """A team for each head of each row.

        sliced : whether all columns are worked on, and not the first slice of them alone.
        strides : whether the kernel wants to know how many rows there are.
        """
        for share in self.shares():
            most = max(MAX_GRID[0] * THREADS // (self.lanes * share.parts * self.heads), 1)
            for first in range(0, share.size, most):
                size = min(most, share.size - first)
                given = (size, *outcome) if strides else outcome
                self.launch_share(kernel, share, size, *given, first=first, end=first + size, sliced=sliced)

    def launch_share(
        self,
        kernel: Kernel,
        share: Share,
        teams: int,
        *outcome: Argument,
        first: int = 0,
        end: int | None = None,
        sliced: bool = True,
    ) -> None:
        """So many teams for each head, which have the rows from `first` to `end`."""
        blocks = -(-teams * self.heads * self.lanes * share.parts // THREADS)
        where = (share.tiles, share.rows, first, share.size if end is None else end, *self.arcs)
        shape = (self.heads, self.columns, self.lanes, share.parts)
        grid = (blocks, self.slices if sliced else 1)
        runtime.launch(kernel, grid, THREADS, *where, *shape, *self.given, *outcome)

    def new_slots(self, total: Tensor) -> Tensor:
        """Where the tiles of rows [rows, ..] are added up."""
        return total.new_empty((self.bins.num_slots, *total.shape[1:]), dtype=number_of(total.dtype))


def _fits(columns: int, *tensors: Tensor) -> bool:
    """Whether the columns of each head can be read 16 bytes at a time."""
    return all((columns * x.element_size()) % 16 == 0 and x.data_ptr() % 16 == 0 for x in tensors)


def _flag(value: bool) -> str:
    return "true" if value else "false"


# ---- bins, by the offsets they belong to ----------------------------------------------------------------------------

_bins: WeakTensorKeyDictionary = WeakTensorKeyDictionary()
_binning = threading.Lock()


def _bins_of(offset: Tensor) -> DegreeBins:
    """The bins of rows, found once for each tensor of offsets and kept as long as it lives, unless it is changed. Waits
    for the device to find them."""
    with _binning:
        version = 0 if offset.is_inference() else offset._version
        known, bins = _bins.get(offset, (None, None))
        if known != version:
            bins = find_bins(offset.contiguous(), torch.int64, TILE, MAX_TILES)
            _bins[offset] = version, bins
        return bins
