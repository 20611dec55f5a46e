"""The layout of a graph whose arcs stay out of memory and are read block by block."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, cast

import torch
from torch import Tensor

from tgraph.core.derived import AtFirstUse
from tgraph.core.frontier import Frontier
from tgraph.core.rows import gather_rows, gather_stretches, offset_of
from tgraph.core.subgraph import Subgraph
from tgraph.core.system import devices
from tgraph.engine.tracing.trace import Trace
from tgraph.errors import ArgumentError, MemoryBudgetError
from tgraph.formats.layout import Layout
from tgraph.formats.uncompressed import Csr, Uncompressed
from tgraph.kernels.affine import AffineStep, StepResult
from tgraph.kernels.loops import LoopCall, PausedLoop
from tgraph.kernels.operators.aggregation.rows import reduce_rows, reduced_in, send_rows, sum_in_float64
from tgraph.kernels.reductions import REDUCTIONS, Reduction
from tgraph.stream.file.block import Block, CompressedBlock, Step
from tgraph.stream.file.blocks import BlockFile, empty_arcs
from tgraph.stream.file.weights import WeightStatistics
from tgraph.stream.memory import trim_heap
from tgraph.stream.run.affine import as_result, values_from, values_of
from tgraph.stream.run.budget import COPIES, COPIES_IN_PLACE, nbytes, runtime_bytes, state_bytes, vertex_bytes
from tgraph.stream.run.fixpoint import Fixpoint
from tgraph.stream.run.relax import relax_rows
from tgraph.stream.run.scheduler import Counts, Pipeline
from tgraph.stream.run.section import Section
from tgraph.stream.run.split_rows import SplitRows


class Streamed(Uncompressed):
    """The arcs of a section of a partitioned file, read block by block through a pipeline.

    The offsets of the rows are resident; vertex data of a run is reserved (see `tgraph.stream.run.budget`), and the
    rest of the budget holds blocks.

    source : the file, or a graph in memory with the same interface. memory : the budget in bytes. device : where blocks
    are computed on. section : "rows" or "transpose". pipeline : that of the other section, to be shared.
    Raises MemoryBudgetError where a block does not fit the budget beside the vertex data.
    """

    name = "streamed"
    streams = True
    weights: None = None

    def __init__(
        self,
        source: BlockFile,
        memory: int,
        device: torch.device,
        section: str = "rows",
        pipeline: Pipeline | None = None,
    ):
        self.source: BlockFile = source
        self.memory: int = memory
        self.num_vertices, self.num_arcs = source.num_vertices, source.num_arcs
        self._device = device
        if pipeline is None:
            pipeline = Pipeline(source, memory, device)
            pipeline.reserve(vertex_bytes(source), runtime_bytes(memory))
        self.pipeline = pipeline
        self.section: Section = Section(source, section, device, pipeline)

    def __reduce__(self) -> Any:
        """By the path of the file, which is opened again, within the same memory. Raises ArgumentError for arcs that
        are streamed from memory."""
        if not os.path.isfile(self.source.path):
            raise ArgumentError("graph: it is streamed from memory, a pickle would hold all its arcs; write it first")
        return _reopened, (type(self.source), self.source.path, self.memory, str(self.device), self.section.name)

    # ---- the interface of a layout -----------------------------------------------------------------------------------

    @classmethod
    def from_graph(cls, graph: Any, **options: Any) -> Streamed:
        """Raises ArgumentError: a streamed graph is opened."""
        raise ArgumentError("format: 'streamed' is opened, not converted to; see tgraph.open, or tgraph.run(memory=)")

    @classmethod
    def from_tensors(cls, tensors: dict[str, Tensor], options: dict[str, Any]) -> Streamed:
        """Raises ArgumentError: a streamed graph is opened."""
        raise ArgumentError("layout: 'streamed' is no layout of stored tensors; open the partitioned file")

    def tensors(self) -> dict[str, Tensor]:
        """Raises ArgumentError: the arcs are already in a file."""
        raise ArgumentError(
            f"layout: the arcs of a streamed graph are those of {self.source.path}; copy the file, or write "
            "graph.to_csr() where it fits"
        )

    def options(self) -> dict[str, Any]:
        """None; see `tensors`."""
        return {}

    def identity(self) -> list[Tensor]:
        """See `Layout.identity`: the index with the checksums of the blocks."""
        return self.source.identity()

    @property
    def nbytes(self) -> int:
        """Bytes of the resident offsets and of all buffers."""
        return self.section.offset.nbytes + self.pipeline.capacity * self.pipeline.size

    @property
    def weight_dtype(self) -> torch.dtype | None:
        """The dtype of the weights; None without weights."""
        return self.source.weight_dtype

    @property
    def device(self) -> torch.device:
        """The device that computes on blocks."""
        return self._device

    def to(self, device: torch.device) -> Streamed:
        """The same arcs streamed to another device, in the same budget."""
        return self if device == self.device else Streamed(self.source, self.memory, device, self.section.name)

    def transposed(self) -> Layout:
        """The other section of the file, through the same pipeline; itself for an undirected graph."""
        if not self.source.directed:
            return self
        if self.section.name == "rows" and self.source.pushes and self.device.type == "cpu":
            return Pushed(self)
        return self.other_section()

    def other_section(self) -> Streamed:
        """The other section of the file, made first where it is missing."""
        other = "transpose" if self.section.name == "rows" else "rows"
        if self.source.makes_blocks(other):
            self.pipeline.release()
            self.source.blocks(other)
            self.pipeline.measure()
            self.pipeline.fit()
        return Streamed(self.source, self.memory, self.device, other, self.pipeline)

    def row_offset(self) -> Tensor:
        """Offsets of the rows, int64 [n + 1], resident."""
        return self.section.offset

    def out_degree(self) -> Tensor:
        """See `Layout.out_degree`; from the resident offsets."""
        return self.section.offset.diff()

    def reserve(self, values: Any, in_place: bool) -> None:
        """See `Layout.reserve`: blocks get the rest. Raises MemoryBudgetError where that holds no block."""
        copies = COPIES_IN_PLACE if in_place else COPIES
        trim_heap()  # temporaries of `init`
        state = state_bytes(self.source, copies * nbytes(values))
        resident = vertex_bytes(self.source) - state_bytes(self.source)
        self.pipeline.reserve(resident, runtime_bytes(self.memory), state)

    @contextmanager
    def recording(self, trace: Trace) -> Iterator[None]:
        """See `Layout.recording`: visits to blocks, and the budget."""
        trace.conditions.memory = self.memory
        with self.pipeline.recording() as trace.visits:
            yield

    @property
    def counts(self) -> Counts:
        """Visits and loads so far, of both sections; a copy."""
        return self.pipeline.counts.copy()

    # ---- all arcs ----------------------------------------------------------------------------------------------------

    def visit(self, work: Callable[[Block], None]) -> None:
        """Call work(block) once for every block with arcs."""
        self.section.visit(work)

    def scan(self, see: Callable[[int, int, Tensor, Tensor, Tensor | None], None]) -> None:
        """See `Layout.scan`: block by block."""
        self.visit(lambda block: see(block.first_arc, block.first_row, block.offset, block.neighbors, block.weights))

    def in_degree(self) -> Tensor:
        """See `Layout.in_degree`; from the resident offsets of the other section."""
        return self.transposed().out_degree()

    @property
    def arcs_at_once(self) -> int:
        """See `Layout.arcs_at_once`: half of the memory beside the vertices and a buffer, for the kernels need some."""
        return max((self.memory - self.pipeline.reserved - self.pipeline.size) // (2 * self._arc_bytes), 1)

    @property
    def _arc_bytes(self) -> int:
        return self.source.neighbor_dtype.itemsize + (0 if self.weight_dtype is None else self.weight_dtype.itemsize)

    def check_fits(self, num_arcs: int) -> None:
        """Raise MemoryBudgetError unless `num_arcs` arcs fit the budget beside the reserved memory and a buffer."""
        needed = self.pipeline.reserved + self.pipeline.size + num_arcs * self._arc_bytes
        if needed > self.memory:
            remedy = "give more, or use a program that aggregates over all arcs or relaxes"
            raise MemoryBudgetError(f"to decode {num_arcs:,} arcs at once", needed, self.memory, remedy)

    def to_csr(self) -> Csr:
        """See `Layout.to_csr`. Raises MemoryBudgetError where the arcs do not fit the budget."""
        self.check_fits(self.num_arcs)
        neighbors, weights = empty_arcs(self.source, self.num_arcs, self.device)
        self.visit(lambda block: block.copy_to(neighbors, weights))
        return self.section.offset, neighbors, weights

    def weight_statistics(self) -> tuple[float, float, float] | None:
        """See `Layout.weight_statistics`: from the metadata of the file, or else one pass over all blocks."""
        if self.weight_dtype is None or not self.num_arcs:
            return None
        known = self.source.weight_statistics
        if known is not None:
            return known
        found = WeightStatistics()
        self.visit(lambda block: found.add(cast(Tensor, block.weights)))
        return found.summary()

    def _rows(self, vertices: Tensor) -> Csr:
        """Reads only the blocks that hold the rows. Raises MemoryBudgetError where the rows do not fit."""
        first, degree = self.section.offset.index_select(0, vertices), self.section.degree(vertices)
        chosen = offset_of(degree)
        num_arcs = int(chosen[-1])
        self.check_fits(num_arcs)
        neighbors, weights = empty_arcs(self.source, num_arcs, self.device)
        ascending = torch.argsort(vertices)
        rows = vertices.index_select(0, ascending)

        def copy(block: Block) -> None:
            low, high = torch.searchsorted(rows, rows.new_tensor([block.first_row, block.end_row])).tolist()
            at = ascending[low:high]
            local = rows[low:high] - block.first_row
            _, arcs = gather_rows(block.offset, local)
            begin = block.offset.index_select(0, local)
            into = chosen.index_select(0, at) + begin + block.first_arc - first.index_select(0, at)
            _, place = gather_stretches(into, block.offset.index_select(0, local + 1) - begin)
            neighbors.index_copy_(0, place, block.neighbors.index_select(0, arcs))
            if weights is not None and block.weights is not None:
                weights.index_copy_(0, place, block.weights.index_select(0, arcs))

        self.section.visit_rows(vertices[degree > 0], copy)
        return chosen, neighbors, weights

    # ---- pull --------------------------------------------------------------------------------------------------------

    def _pull(self, data: Tensor, reduction: Reduction, edge: str, weights: Tensor | None) -> Tensor:
        result = torch.full_like(data, reduction.identity(data.dtype))
        sent = self.source.with_virtual_rows(data)
        self.pull_rows(sent, reduction, edge, lambda received, rows: result[rows].copy_(received))
        return result

    def pull_rows(
        self, sent: Tensor, reduction: Reduction, edge: str, write: Callable[[Tensor, slice], object]
    ) -> None:
        """A pull whose result is never materialised: write(received, rows) is called with the results of adjacent rows,
        block by block in any order, but not for rows in no block. `sent` comes from `BlockFile.with_virtual_rows`."""
        results = SplitRows(self.section, reduction, sent.dtype, write)

        def receive(block: Block) -> None:
            weights = None if edge == "copy" or block.weights is None else block.weights.to(sent.dtype)
            results.add(block, block.reduce(sent, _step(block, sent, reduction, edge, weights)))

        self.visit(receive)
        results.finish()

    def affine_step(self, step: AffineStep) -> StepResult:
        """See `Layout.affine_step`: block by block into the new values; float64 only within a block."""
        x, bias, values = step.x.detach(), step.bias, values_of(step)
        values.copy_(torch.as_tensor(step.beta * bias, device=values.device))

        def write(received: Tensor, rows: slice) -> None:
            constant = bias[rows] if isinstance(bias, Tensor) else bias
            values[rows] = (step.alpha * received[:, 0] + step.beta * constant).to(values.dtype)

        results = SplitRows(self.section, REDUCTIONS["sum"], devices.widest_float(x), write)
        data, sums = sum_in_float64(x, self.weight_dtype if step.weighted else None)
        data = self.source.with_virtual_rows(data.contiguous()[:, None])

        def receive(block: Block) -> None:
            weights = block.weights if step.weighted else None
            inside = isinstance(block, CompressedBlock)
            results.add(block, block.reduce(data, partial(sums, weights=weights, data=data, inside=inside)))

        with torch.no_grad():
            self.visit(receive)
            results.finish()
            return as_result(step, values)

    # ---- operations that visit blocks in an order of their own -----------------------------------------------------

    def relax_rows(
        self, sub: Subgraph, values: Tensor, reduction: Reduction, edge: str, weights: Tensor | float | None
    ) -> Frontier:
        """One round of a relaxation along the rows of `sub`, with the values before the round."""
        return relax_rows(self.section, sub, values, reduction, edge, weights)

    def fixpoint(self, call: LoopCall) -> PausedLoop:
        """The first state of an asynchronous relaxation."""
        return Fixpoint(self.section, call)


class Pushed(Streamed):
    """The reversed arcs of a streamed graph that has its rows alone: messages to a row of in-arcs are pushed along the
    rows, block by block in their order, so that sums are the same in every run.

    Access to the rows of in-arcs themselves sorts them first.
    """

    pipeline: Pipeline

    section: Section = cast(Section, AtFirstUse())

    def __init__(self, rows: Streamed):
        self._rows_of_arcs, self.source, self.memory = rows, rows.source, rows.memory
        self.num_vertices, self.num_arcs = rows.num_vertices, rows.num_arcs
        self._device, self.pipeline = rows.device, rows.pipeline

    def _at_first_use(self, name: str) -> Section:
        return self._rows_of_arcs.other_section().section

    def transposed(self) -> Layout:
        """The graph with its rows."""
        return self._rows_of_arcs

    def out_degree(self) -> Tensor:
        """See `Layout.out_degree`; by one pass over the rows."""
        return Layout.in_degree(self._rows_of_arcs)

    @property
    def nbytes(self) -> int:
        """Bytes of all buffers: it has nothing of its own."""
        return self.pipeline.capacity * self.pipeline.size

    def weight_statistics(self) -> tuple[float, float, float] | None:
        return self._rows_of_arcs.weight_statistics()

    def _pull(self, data: Tensor, reduction: Reduction, edge: str, weights: Tensor | None) -> Tensor:
        dtype = reduced_in(data.dtype, reduction)
        result = torch.full(data.shape, reduction.identity(data.dtype), dtype=dtype)
        self._send(data, reduction, edge, result)
        return result

    def _send(self, data: Tensor, reduction: Reduction, edge: str, result: Tensor) -> None:
        def send(block: Block) -> None:
            weights = None if edge == "copy" or block.weights is None else block.weights.to(data.dtype)
            sent = data[block.first_row : block.end_row]
            send_rows(block.offset, block.neighbors, weights, sent, reduction, edge, result)

        self._rows_of_arcs.section.visit(send, in_order=True)

    def affine_step(self, step: AffineStep) -> StepResult:
        with torch.no_grad():
            received = torch.zeros((self.num_vertices, 1), dtype=torch.float64)
            data = step.x.detach()[:, None].contiguous()
            self._send(data, REDUCTIONS["sum"], "mul" if step.weighted else "copy", received)
            return as_result(step, values_from(step, received[:, 0]))


def _step(block: Block, sent: Tensor, reduction: Reduction, edge: str, weights: Tensor | None) -> Step:
    """The function from offsets and neighbours of the rows of a block to their results."""
    inside = isinstance(block, CompressedBlock)
    return partial(reduce_rows, weights=weights, data=sent, reduction=reduction, edge=edge, inside=inside)


def _reopened(kind: Any, path: str, memory: int, device: str, section: str) -> Streamed:
    """The arcs of a file that was pickled by its path; the file is closed with the last reference to them."""
    source = kind(path) if kind is BlockFile else kind(path, memory)
    made = Streamed(source, memory, torch.device(device))
    weakref.finalize(made.pipeline, source.close)
    return made if section == made.section.name else made.other_section()
