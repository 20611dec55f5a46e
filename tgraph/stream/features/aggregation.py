"""Out-of-core aggregation of features: a slab of columns of all vertices at a time, over all blocks of the graph.

A pass over the graph keeps in memory a slab of the input, [n, w], and the results of the rows of one block, which are
written to the file. Columns are independent of each other, so that F of them take F / w passes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor

from tgraph.core.building.inputs import check_choice
from tgraph.core.dispatch import is_available
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError, MemoryBudgetError
from tgraph.files import PathLike
from tgraph.files.temporary import temporary_folder
from tgraph.kernels.reductions import REDUCTIONS
from tgraph.progress import bar
from tgraph.stream.features.applying import apply
from tgraph.stream.features.column_slabs import even_width, pieces, read_columns, slices
from tgraph.stream.features.matrix import (
    FeatureFile,
    FeatureWriter,
    Source,
    TensorFeatures,
    check_target,
    create_features,
    open_matrix,
)
from tgraph.stream.file.blocks import BlockFile
from tgraph.stream.file.container import Extent
from tgraph.stream.file.writing import balanced_bounds
from tgraph.stream.memory import parse_memory, trim_heap
from tgraph.stream.run.budget import budget_for, runtime_bytes
from tgraph.stream.run.host import HostBlocks
from tgraph.stream.run.scheduler import AHEAD, Pipeline
from tgraph.stream.run.streamed import Streamed

REDUCES = ("sum", "mean", "min", "max")
EDGES = ("copy", "mul")
NARROW = (torch.float16, torch.bfloat16)

# The least number of blocks that a graph in memory is cut into.
_BLOCKS = 16

# The number of passes over a row-major file from which on it pays to convert it to column-major once.
_ROW_MAJOR_PASSES = 3


def aggregate(
    graph: Graph,
    source: Source,
    path: PathLike,
    reduce: str = "sum",
    *,
    edge: str = "copy",
    memory: str | int | None = None,
    progress: bool = False,
) -> FeatureFile:
    """Write the result of `tgraph.aggregate(graph, features, reduce, edge=edge)` to a file, and open it.

    Neither the arcs nor the features nor the result need fit into memory: each pass over the arcs aggregates as many
    columns as do, without gradients.

    Parameters
    ----------
    graph : opened by `tgraph.open`, or in memory, where it does not count against the budget.
    source : the features [n, F], float16, bfloat16, float32 or float64, in a .npy or .safetensors file, a
        `FeatureFile`, or a tensor, which does not count against the budget. Row v belongs to vertex v in the numbering
        of the graph; for a graph that was renumbered (`graph.order`) see `permute`.
    path : the file to write, .npy or .safetensors, by columns; it may be the source.
    reduce : "sum", "mean", "min" or "max". A vertex without messages gets 0, and for "min" and "max" infinities.
    edge : "copy", or "mul" by the weights of the graph.
    memory : the memory budget, such as "500MB", or bytes as an int: for the offsets of the graph, at least one block,
        and [n, w] numbers. By default that of the opened graph.
    progress : True shows a progress bar of columns.

    16-bit features are added in float32; results have the dtype that `tgraph.aggregate` gives. A row-major file with
    few columns in the budget is first converted to column-major in a temporary folder beside `path`. The result
    replaces `path` once it is complete.
    Raises MemoryBudgetError where not even one column fits; ArgumentError for unknown names, for features of another
    graph or dtype, weights that are missing, and for a path that cannot hold the result; FileFormatError for a damaged
    file; OSError, with the bytes needed, where the disk is full.

    >>> graph = tg.Graph.from_edges([0, 1], [2, 2])
    >>> x = torch.tensor([[1.0, 2.0], [10.0, 20.0], [0.0, 0.0]])
    >>> received = tg.stream.aggregate(graph, x, "sums.npy", memory="1MB")
    >>> received.read(slice(0, 3))
    tensor([[ 0.,  0.],
            [ 0.,  0.],
            [11., 22.]])
    """
    check_choice(reduce, "reduce", REDUCES)
    check_choice(edge, "edge", EDGES)
    features = open_matrix(source)
    if features.shape[0] != graph.num_vertices:
        raise ArgumentError(
            f"source: features of {features.shape[0]} vertices, the graph has {graph.num_vertices}; give a row to each"
        )
    if edge == "mul" and graph.weight_dtype is None:
        raise ArgumentError("edge: 'mul' needs weights, which the graph has not; use 'copy'")
    weight = graph.weight_dtype if edge == "mul" else None
    dtype = features.dtype if weight is None else torch.promote_types(features.dtype, weight)
    check_target(path, dtype)
    budget = budget_of(graph, memory)
    computed = torch.float32 if dtype in NARROW else dtype
    shape = (graph.num_vertices, features.shape[1])
    with torch.no_grad():
        arcs = _Arcs.of(graph)
        plan = Plan.of(arcs, features, computed, weight, budget)
        layout = arcs.streamed(plan, budget)
        with (
            _by_column(features, path, plan, budget - arcs.resident) as columnwise,
            create_features(path, shape, dtype, piece=plan.piece) as writer,
            bar("aggregate", total=shape[1], unit=" columns", asked=progress) as shown,
        ):
            trim_heap()
            rows = shape[0] + arcs.source.virtual_rows
            buffer = torch.empty(rows * plan.width, dtype=computed, device=layout.device)
            for columns in slices(shape[1], plan.width):
                width = columns.stop - columns.start
                data = buffer[: rows * width].view(rows, width)
                read_columns(columnwise, columns, data[: shape[0]], plan.piece)
                _pull(layout, data, reduce, edge, writer, columns.start)
                shown.update(width)
    return FeatureFile(path)


def budget_of(graph: Graph, memory: str | int | None) -> int:
    """The bytes of a budget, by default that of an opened graph. Raises ArgumentError where there is none."""
    if memory is not None:
        return parse_memory(memory)
    if isinstance(graph.layout, Streamed):
        return graph.layout.memory
    raise ArgumentError('memory: a graph in memory has no budget of its own; give one, such as "500MB"')


@dataclass(frozen=True)
class _Arcs:
    """The in-arcs of all vertices: the section of a source that holds them, and the device that computes on its blocks.
    `resident` are the bytes of the resident data of the graph: the offsets of its sections, its order and ids."""

    source: BlockFile
    section: str
    device: torch.device
    resident: int

    @classmethod
    def of(cls, graph: Graph) -> _Arcs:
        """The in-arcs of a graph, whose own buffers are freed."""
        layout = graph.layout
        if isinstance(layout, Streamed):
            layout.pipeline.release()
            other = "transpose" if layout.section.name == "rows" and layout.source.directed else "rows"
            return cls(layout.source, other, layout.device, _resident(graph, layout.source))
        plain = graph.to("cpu").to_csr()
        blocks = HostBlocks(plain, balanced_bounds(plain.offset, _BLOCKS))
        return cls(blocks, blocks.sections[-1], graph.device, _resident(graph, blocks))

    @property
    def extents(self) -> list[Extent]:
        """The blocks that have arcs."""
        blocks = [self.source.index[number] for number in self.source.blocks(self.section)]
        return [extent for extent in blocks if extent.end_arc > extent.first_arc]

    def streamed(self, plan: Plan, budget: int) -> Streamed:
        """The arcs, read through a pipeline of their own."""
        pipeline = Pipeline(self.source, plan.buffers * block_size(self.source), self.device)
        pipeline.reserve(0)
        return Streamed(self.source, budget, self.device, self.section, pipeline)


@dataclass(frozen=True)
class Plan:
    """The division of a budget: the `width` of a slab in columns, the number of `buffers` for blocks, and the bytes of
    a `piece`, which is copied between a matrix and a file at once."""

    width: int
    buffers: int
    piece: int

    @classmethod
    def of(
        cls,
        arcs: _Arcs,
        features: FeatureFile | TensorFeatures,
        dtype: torch.dtype,
        weight: torch.dtype | None,
        budget: int,
    ) -> Plan:
        """As many columns as fit beside enough buffers to overlap compute and I/O, or else beside fewer; the rest is
        for more buffers. Raises MemoryBudgetError where not one column fits."""
        source, total = arcs.source, features.shape[1]
        size, extents = block_size(source), arcs.extents
        rows = max((extent.end_row - extent.first_row for extent in extents), default=0)
        most = max((extent.end_arc - extent.first_arc for extent in extents), default=0)
        fixed = arcs.resident + source.working_bytes + 24 * rows
        if weight not in (None, dtype):  # the weights are converted to a copy
            fixed += most * dtype.itemsize
        column = max(1, source.num_vertices + rows + 2 * source.virtual_rows) * dtype.itemsize
        if arcs.device.type != "cpu" or not is_available("native"):  # messages are materialised
            column += 3 * most * dtype.itemsize
        counts = range(min(len(extents), AHEAD + 1), min(len(extents), 1) - 1, -1)
        for piece, buffers in itertools.product(pieces(features, budget), counts):
            if (available := budget - runtime_bytes(budget) - fixed - 2 * piece - buffers * size) >= column:
                width = even_width(total, available // column)
                spare = available + buffers * size - width * column
                return cls(width, min(len(source.index), spare // size) if size else 0, piece)
        needed = budget_for(fixed + 2 * piece + buffers * size + column)
        remedy = "give more, or partition the graph into more blocks"
        raise MemoryBudgetError("one column of the features beside a block", needed, budget, remedy)


def block_size(source: BlockFile) -> int:
    """Bytes of a buffer: the largest block with arcs."""
    return max((extent.nbytes for extent in source.index if extent.end_arc > extent.first_arc), default=0)


def _resident(graph: Graph, source: BlockFile) -> int:
    order_and_ids = sum(each.nbytes for each in (graph.order, graph.vertices) if each is not None)
    return 8 * (source.num_vertices + 1) * len(source.sections) + order_and_ids


def _pull(layout: Streamed, data: Tensor, reduce: str, edge: str, writer: FeatureWriter, column: int) -> None:
    """Write the results of all vertices for a slab of columns, from column `column` on. data : as in
    `Streamed.pull_rows`."""
    offset = layout.row_offset()
    reduction = REDUCTIONS["sum" if reduce == "mean" else reduce]

    def write(received: Tensor, rows: slice) -> None:
        if reduce == "mean":
            degree = offset[rows.start : rows.stop + 1].diff().clamp_(min=1)
            received.div_(degree[:, None].to(received.dtype))
        writer.write(received, rows.start, column)

    layout.pull_rows(data, reduction, edge, write)
    identity = torch.full((1, 1), reduction.identity(data.dtype), dtype=data.dtype, device="cpu")
    for rows in _in_no_block(layout):
        writer.write(identity.expand(rows.stop - rows.start, data.shape[1]), rows.start, column)


def _in_no_block(layout: Streamed) -> Iterator[slice]:
    """The rows that are in no block, which have no arcs."""
    reached = 0
    for number in layout.section.blocks:
        extent = layout.section.index[number]
        if extent.first_row > reached:
            yield slice(reached, extent.first_row)
        reached = extent.end_row
    if layout.num_vertices > reached:
        yield slice(reached, layout.num_vertices)


@contextmanager
def _by_column(
    features: FeatureFile | TensorFeatures, path: PathLike, plan: Plan, memory: int
) -> Iterator[FeatureFile | TensorFeatures]:
    """The features as they are, or in a temporary column-major file where a row-major one would be read too often."""
    passes = -(-features.shape[1] // plan.width)
    if isinstance(features, TensorFeatures) or features.by_column or passes <= _ROW_MAJOR_PASSES:
        yield features
        return
    with temporary_folder(path, "columns") as folder:
        yield apply(features, lambda rows: rows, folder / "columns.safetensors", memory=memory)
