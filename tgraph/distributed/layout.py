"""The layout of a graph whose rows are distributed over ranks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from typing import Any, NoReturn, cast

import torch
from torch import Tensor

from tgraph.core.building.arc_counts import ArcCounts
from tgraph.core.building.inputs import Multi, SelfLoops
from tgraph.core.building.sorting import expand_rows, index_dtype
from tgraph.core.csr import Csr as LocalCsr
from tgraph.core.derived import computed_once
from tgraph.core.frontier import Frontier
from tgraph.core.graph import Graph
from tgraph.core.rows import gather_rows, offset_of
from tgraph.core.subgraph import Subgraph
from tgraph.distributed.data.factories import Spreading
from tgraph.distributed.data.sharded import NotByRowError, Sharded, from_local
from tgraph.distributed.learning.aggregation import aggregate
from tgraph.distributed.learning.local_rows import local_graph, local_rows
from tgraph.distributed.learning.mirrors import with_mirrors
from tgraph.distributed.parts.numbering import arc_numbers
from tgraph.distributed.parts.part import Part
from tgraph.distributed.parts.simplifying import simplified
from tgraph.distributed.programs.components import join
from tgraph.distributed.programs.fixpoint import Fixpoint
from tgraph.distributed.ranks.channel import Sending
from tgraph.distributed.ranks.failures import reporting, together
from tgraph.distributed.ranks.ownership import Ownership, is_own
from tgraph.distributed.ranks.recording import recording
from tgraph.distributed.streaming.side import Side
from tgraph.engine.tracing.trace import Trace
from tgraph.errors import ArgumentError, LayoutError
from tgraph.formats.uncompressed import Csr, Uncompressed
from tgraph.kernels import choose
from tgraph.kernels.affine import AffineStep, StepResult
from tgraph.kernels.call import Call
from tgraph.kernels.loops import LoopCall, PausedLoop
from tgraph.kernels.operators.aggregation.rows import reduce_rows
from tgraph.kernels.reductions import Reduction, reduction_of
from tgraph.model import operators
from tgraph.primitives.implicit import is_recorded
from tgraph.stream.run.scheduler import Counts, Pipeline
from tgraph.stream.run.split_rows import COMBINE

_OTHER = {"rows": "transpose", "transpose": "rows"}
_SINGLE_ARCS = (
    "graph: {} needs single arcs of the whole graph, and they are spread over ranks; read the file with tgraph.read or "
    "tgraph.open in one process, or write the algorithm with tg.aggregate or as a Relaxation"
)


class SingleArcsError(LayoutError):
    """Single arcs were asked of a graph that is spread over ranks."""

    def __init__(self, what: str = "this"):
        super().__init__(_SINGLE_ARCS.format(what))


class Distributed(Uncompressed):
    """The arcs of a graph by rank: each holds the rows of its own vertices (`Part`), and receives the values of others.

    Vertex data is `Sharded`, or a plain tensor [k, ...] of the own vertices alone, with plain results. All ranks must
    call every method that computes, in the same order.

    read : returns the part of a section of the graph, "rows" or "transpose". directed : whether these differ.
    content : returns tensors that identify the arcs of the whole graph, the same on all ranks.
    number : returns the numbers that users know the arcs of a section of the whole graph by, int64 [m]; None where
        these are their order.
    """

    directed: bool
    section: str

    name = "distributed"
    streams = True
    is_distributed = True
    weights: None = None

    def __init__(
        self,
        read: Callable[[str], Part],
        directed: bool,
        section: str = "rows",
        other: Any = None,
        content: Callable[[], list[Tensor]] | None = None,
        number: Callable[[str], Tensor] | None = None,
    ):
        self._read, self.directed, self.section, self._other = read, directed, section, other
        self._content, self._number = content, number
        self._numbers: dict[bool, list[Tensor]] = {}
        self._weighted: tuple[Tensor | None, int | None, Distributed] | None = None
        with torch._C.DisableTorchFunction():  # tables of a part are plain tensors, within `spreading` too
            self.part: Part = read(section)
        self.num_vertices = self.ownership.num_rows
        self.num_arcs = int(self.ownership.sum(torch.tensor(self.part.num_arcs, device="cpu")))
        self._partial: dict[torch.dtype, Tensor] = {}

    @property
    def ownership(self) -> Ownership:
        """The assignment of vertices to ranks."""
        return self.part.ownership

    # ---- the interface of a layout -----------------------------------------------------------------------------------

    @classmethod
    def from_graph(cls, graph: Any, **options: Any) -> Distributed:
        """Raises ArgumentError: a distributed graph is opened."""
        raise ArgumentError("format: 'distributed' is opened, not converted to; see tgraph.distributed.open and spread")

    @classmethod
    def from_tensors(cls, tensors: dict[str, Tensor], options: dict[str, Any]) -> Distributed:
        """Raises ArgumentError: a distributed graph is opened."""
        raise ArgumentError("layout: 'distributed' is no layout of stored tensors; see tgraph.distributed.open")

    def tensors(self) -> NoReturn:
        """Raises ArgumentError: no process has all arcs."""
        raise ArgumentError("layout: the arcs are spread over ranks, and no process has all; read the file instead")

    def options(self) -> dict[str, Any]:
        """None; see `tensors`."""
        return {}

    def identity(self) -> list[Tensor]:
        """See `Layout.identity`: the identity of the whole graph where it is known, or of the rows of this rank."""
        if self._content is not None:
            return self._content()
        arcs = self.part.graphs
        starts = torch.tensor(self.ownership.starts, device="cpu")
        return [starts, self.part.mirrors, *(tensor for graph in arcs for tensor in graph.storage.identity())]

    @property
    def nbytes(self) -> int:
        """Bytes of the part of this rank, and of all buffers for blocks."""
        pipeline = self._pipeline
        return self.part.nbytes + (0 if pipeline is None else pipeline.capacity * pipeline.size)

    @property
    def weight_dtype(self) -> torch.dtype | None:
        """The dtype of the weights, None without weights."""
        return self.part.inside.weight_dtype

    @property
    def device(self) -> torch.device:
        """The device of the rows of this rank."""
        return self.part.mirrors.device

    def to(self, device: torch.device) -> Distributed:
        """Raises ArgumentError: a part stays where it was opened."""
        raise ArgumentError(
            f"device: the parts are on {self.device}; open the graph with device={str(device)!r}, or spread one "
            "that is there"
        )

    def to_csr(self) -> NoReturn:
        """Raises ArgumentError: no process has all arcs."""
        raise SingleArcsError

    @property
    def csr(self) -> NoReturn:
        """Raises LayoutError: no process has all arcs."""
        raise SingleArcsError

    def _rows(self, vertices: Tensor) -> Csr:
        """The rows on every rank, of vertices that are the same everywhere."""
        held, rows = self.ownership, self.local_rows
        here = is_own(vertices, held).nonzero().flatten()
        offset, arcs = gather_rows(rows.offset, vertices.index_select(0, here) - held.first)
        place = held.concatenate(here.index_select(0, expand_rows(offset)))[0]
        order = place.argsort(stable=True)
        numbers = self.numbers[rows.neighbors].to(index_dtype(self.num_vertices))
        own = [numbers, *([] if rows.weights is None else [rows.weights])]
        neighbors, *weights = (held.concatenate(each.index_select(0, arcs))[0].index_select(0, order) for each in own)
        offset = offset_of(torch.bincount(place, minlength=len(vertices)))
        return offset, neighbors, weights[0] if weights else None

    def simplified(
        self, directed: bool, multi: Multi, self_loops: SelfLoops
    ) -> tuple[Distributed, Callable[[], Tensor]]:
        """The arcs of another graph of these edges (see `tgraph.distributed.parts.simplifying`), and what gives the
        number of the arc of this graph that each of them is, the first of those merged. Raises ArgumentError where rows
        are cut."""
        self.check_whole_rows()

        def read(section: str, *numbers: Multi) -> Part:
            both = [self._side(section)]
            if self.directed and not directed:
                both.append(self.transposed())
            parts = [side._numbered(side is not self) if numbers else side.part for side in both]
            return simplified(*parts, directed=directed, multi=(*numbers, multi)[0], self_loops=self_loops)

        made = Distributed(read, directed, self.section)
        first: Multi = "keep" if multi == "keep" else "first"
        return made, lambda: made._in_order(read(self.section, first))

    def reweighted(self, function: Callable[[Tensor], Tensor]) -> Distributed:
        """The same arcs with a function of their weights, or of ones, in place of these."""

        self.check_in_memory("a graph of other weights")
        read = lambda section: self._side(section).part.reweighted(function)  # noqa: E731
        return Distributed(read, self.directed, self.section, number=self._number)

    def weighted(self, values: Tensor | None) -> Distributed:
        """The same arcs with the `values` [m] as weights, in the order of the arcs of the whole graph, which all ranks
        have; without weights for None. Directed where those of the arcs of an undirected edge differ. The last result
        is kept. Raises ArgumentError where a gradient is recorded."""
        self.check_in_memory("a graph of other weights")
        if is_recorded(values):
            raise ArgumentError(
                "weights: a graph that is spread over ranks records no gradient by its weights; give them to "
                "tg.aggregate(..., weights=), or use weights.detach()"
            )
        kept, version = self._weighted, None if values is None else operators.version_of(values)
        if kept is not None and version is not None and kept[0] is values and kept[1] == version:
            return kept[2]

        def read(section: str) -> Part:
            part = self._side(section).part
            given = [None] * len(part.graphs) if values is None else self._of_arcs(values, section != self.section)
            return part.with_weights(given, directed)

        directed = self.directed or (values is not None and self._differ_by_direction(values))
        identity = lambda: [*self.identity(), *([] if values is None else [values])]  # noqa: E731
        made = Distributed(read, directed, self.section, content=identity, number=self._number)
        self._weighted = values, version, made
        return made

    def _of_arcs(self, values: Tensor, transposed: bool) -> list[Tensor]:
        """The `values` [m] of all arcs at the arcs of this rank, or at those of the transpose."""
        side = self.transposed() if transposed else self
        return [values.index_select(0, number) for number in side.arc_numbers(transposed)]

    def _differ_by_direction(self, values: Tensor) -> bool:
        """Whether the `values` [m] of the two arcs of an undirected edge differ anywhere."""
        differ = not torch.equal(*(torch.cat(self._of_arcs(values, transposed)) for transposed in (False, True)))
        return bool(self.ownership.sum(torch.tensor(int(differ), device="cpu")))

    def arc_numbers(self, transposed: bool) -> list[Tensor]:
        """The numbers of the arcs of this rank in the order of the whole graph, or in that of the transpose, int64 [e]
        for each of `part.graphs`; kept. To be called by all ranks."""
        self.check_in_memory("data of single arcs")
        if transposed not in self._numbers:
            found = arc_numbers(self.part, transposed)
            if self._number is not None:
                whole = self._number(self.section if not transposed else _OTHER[self.section])
                found = [whole.to(each.device).index_select(0, each) for each in found]
            self._numbers[transposed] = found
        return self._numbers[transposed]

    def _numbered(self, transposed: bool) -> Part:
        """The part, weighted by these numbers."""
        return self.part.with_weights(self.arc_numbers(transposed))

    def numbers_of_local_arcs(self, transposed: bool) -> Tensor:
        """The same for the arcs of `local_rows`, int64 [e]."""
        return cast(Tensor, local_rows(self._numbered(transposed)).weights)

    def _in_order(self, part: Part) -> Tensor:
        """The weights of all ranks of a `part` of these arcs, in the order of the whole graph, [m]."""
        own = [cast(Tensor, graph.weights) for graph in part.graphs]
        place, values = (self.ownership.concatenate(torch.cat(each))[0] for each in (self.arc_numbers(False), own))
        return torch.empty_like(values).index_copy_(0, place, values)

    @computed_once
    def transpose_permutation(self) -> Tensor:
        """See `Graph.transpose_permutation`, on every rank."""
        other = self.transposed()
        return other._in_order(other._numbered(True))

    def _side(self, section: str) -> Distributed:
        """This graph or its transpose, whichever is the `section`."""
        return self if section == self.section else self.transposed()

    def transposed(self) -> Distributed:
        """The other section; itself where the graph is undirected."""
        if not self.directed:
            return self
        if self._other is None:
            self._other = Distributed(self._read, True, _OTHER[self.section], self, number=self._number)
        return self._other

    def out_degree(self) -> Tensor:
        return self.spread(self.part.degree)

    def in_degree(self) -> Tensor:
        return self.transposed().out_degree()

    def num_self_loops(self) -> int:
        return int(self.ownership.sum(torch.tensor(self.part.inside.num_self_loops, device="cpu")))

    @computed_once
    def _arc_counts(self) -> ArcCounts:
        counts, rows = ArcCounts(), self.local_rows
        counts.see(0, self.ownership.first, rows.offset, self.numbers[rows.neighbors])
        found = torch.tensor([counts.loops, counts.repeats, counts.repeated_loops], device="cpu")
        counts.loops, counts.repeats, counts.repeated_loops = self.ownership.sum(found).tolist()
        return counts

    def weight_statistics(self) -> tuple[float, float, float] | None:
        if self.weight_dtype is None or not self.num_arcs:
            return None
        found, whole = [], self.weight_dtype.is_floating_point
        for graph in self.part.graphs:
            statistics = graph.storage.weight_statistics()
            none = (torch.inf, -torch.inf, 0.0)
            found.append((*(none if statistics is None else statistics), graph.num_arcs))
        numbers = self.ownership.gather(torch.tensor(found, dtype=torch.float64, device="cpu")).flatten(0, 1)
        low, high, mean, count = numbers.unbind(1)
        least, most = (low.nanmean().new_tensor(torch.nan),) * 2 if bool(low.isnan().any()) else (low.min(), high.max())
        kind = float if whole else int
        return kind(least), kind(most), float((mean * count).sum() / count.sum())

    # ---- pull --------------------------------------------------------------------------------------------------------

    def spread(self, local: Tensor) -> Sharded:
        """Vertex data from the values of the own vertices; differentiable."""
        return from_local(local, self.ownership)  # type: ignore[return-value]

    def spread_out(self, values: Any) -> Any:
        """See `Layout.spread_out`: each rank takes its own rows of a tensor that all have."""
        if isinstance(values, dict):
            return {name: self.spread_out(each) for name, each in values.items()}
        return values if isinstance(values, Sharded) else self.spread(self.own(values).clone())

    def spreading(self) -> AbstractContextManager[None]:
        return Spreading(self.ownership)

    def own(self, values: Any) -> Any:
        """The values of the own vertices, of tensors [n, ...]; anything else as it is."""
        if isinstance(values, Sharded):
            return values.local
        if isinstance(values, Tensor) and values.dim() and len(values) == self.num_vertices:
            return self.ownership.own(values)
        return values

    @property
    def is_main_rank(self) -> bool:
        """See `Layout.is_main_rank`: true on rank 0."""
        return self.ownership.rank == 0

    @contextmanager
    def recording(self, trace: Trace) -> Iterator[None]:
        """See `Layout.recording`: exchanges of all ranks, and visits of this one to blocks."""
        with ExitStack() as stack:
            stack.enter_context(recording(self.ownership, self.device, trace))
            if (pipeline := self._pipeline) is not None:
                trace.visits = stack.enter_context(pipeline.recording())
            yield

    def reserve(self, values: Any, in_place: bool) -> None:
        """See `Layout.reserve`: of a budget, where there is one, blocks get the rest."""
        if (within := self.part.streamed) is not None:
            within.reserve(values, in_place)

    @property
    def _pipeline(self) -> Pipeline | None:
        return None if self.part.streamed is None else self.part.streamed.pipeline

    @property
    def counts(self) -> Counts | None:
        """Visits of this rank to blocks so far, and loads of them, a copy; None where arcs are in memory."""
        return None if self._pipeline is None else self._pipeline.counts.copy()

    def check_in_memory(self, what: str) -> None:
        """Raise MemoryBudgetError, on all ranks alike, where an operation needs all arcs of a rank and these are in
        blocks."""
        if (within := self.part.streamed) is not None:
            within.raise_in_blocks(what)

    def together(self, what: Mapping[str, str]) -> AbstractContextManager[None]:
        return together(self.ownership.group, what)

    @contextmanager
    def calling(self, name: str) -> Iterator[None]:
        """See `Layout.calling`; operations that are not row by row raise ArgumentError, as those on single arcs do."""
        with reporting(self.ownership.group):
            try:
                yield
            except (NotByRowError, SingleArcsError, TypeError) as fault:
                if isinstance(fault, TypeError) and Sharded.__name__ not in str(fault):
                    raise  # otherwise a kernel was called with sharded data
                raise ArgumentError(_SINGLE_ARCS.format(name)) from fault

    def _pull(self, data: Tensor, reduction: Reduction, edge: str, weights: Tensor | None) -> Tensor:
        return self.spread(self.pull_own(self.own(data), reduction, edge))

    def pull_own(self, data: Tensor, reduction: Reduction, edge: str) -> Tensor:
        """The results of the own vertices, [k, F], from the `data` [k, F] of all ranks. The arcs inside are computed
        while values travel."""
        sending, combine = self.part.fetch(data), COMBINE[reduction.name]
        partials = self._cut_sums(sending, data, lambda graph, memory: _reduced(graph, memory, reduction, edge))
        inside = _reduced(self.part.inside, data, reduction, edge)
        sending.wait()
        outside = _reduced(self.part.outside, cast(Tensor, sending.memory), reduction, edge)[: self.part.num_own]
        received = combine(inside, outside)
        if partials is not None:
            self.part.cut_rows.combine(received, partials.wait(), combine)
        return received

    def _cut_sums(self, sending: Sending, data: Tensor, reduced: Callable[[Graph, Tensor], Tensor]) -> Sending | None:
        """Begin to send to their owners the messages to mirrors along their rows here, of `data` [k, ...] and the
        values that are `sending`; None where no row is cut."""
        part = self.part
        if part.cut is None:
            return None
        sending.wait()
        memory = cast(Tensor, sending.memory)
        memory[: part.num_own] = data
        return part.cut_rows.partials.send(reduced(part.cut, memory).index_select(0, part.cut_rows.mirrors))

    def aggregate(self, graph: Graph, data: Tensor, *arguments: Any) -> Tensor | None:
        return aggregate(graph, self, data, *arguments)

    def check_whole_rows(self) -> None:
        """Raise ArgumentError where rows are cut."""
        if self.part.cut is not None:
            raise ArgumentError(
                "graph: its rows are cut, and this needs those of each vertex in one place; open it without `cut`"
            )

    @computed_once
    def local_rows(self) -> LocalCsr:
        """The arcs of this rank as one Csr; see `tgraph.distributed.learning.local_rows`."""
        self.check_whole_rows()
        self.check_in_memory("a layer that scores arcs")
        return local_rows(self.part)

    @computed_once
    def local_arcs(self) -> tuple[Graph, Graph]:
        """(the graph of `local_rows.local_graph`, whose rows send; its transpose, whose rows receive)"""
        self.check_in_memory("a function of arcs, or the gradient of a reduction that is no sum or mean")
        received = local_graph(self.part)
        return received.transpose_detached(), received

    @computed_once
    def numbers(self) -> Tensor:
        """The numbers in the whole graph of own vertices and mirrors, int64 [k + h]."""
        own = torch.arange(self.part.num_own, device=self.device) + self.ownership.first
        return torch.cat((own, self.part.mirrors))

    @property
    def own_degree(self) -> Tensor:
        """The arcs of each own row, int64 [k]."""
        return self.part.degree

    def own_weights(self, dtype: torch.dtype) -> Tensor:
        """The sum of the weights of each own row, [k] of a `dtype`."""
        self.check_whole_rows()
        part, ones = self.part, torch.ones((self.part.num_local, 1), dtype=dtype, device=self.device)
        inside, outside = (
            _reduced(graph, ones[: graph.num_vertices], reduction_of("sum"), "mul")
            for graph in (part.inside, part.outside)
        )
        return inside[:, 0] + outside[: part.num_own, 0]

    def with_mirrors(self, data: Tensor) -> Tensor:
        return with_mirrors(self.part, data)

    def affine_step(self, step: AffineStep) -> StepResult:
        """See `Layout.affine_step`: first over the arcs inside, whose sums are the bias of a step over the others."""
        names = ("x", "before", "scale", "bias", "measure")
        local = replace(step, **{name: self.own(getattr(step, name)) for name in names}, spare=(None, None))
        sending = self.part.fetch(local.x)
        first = replace(local, scale=None, measure=None, wanted=(), spare=(self._memory(local.before), None))
        partials = self._cut_sums(sending, local.x, lambda graph, memory: _weighted_sums(graph, memory, step))
        partial = _step(self.part, self.part.inside, first).values
        if partials is not None:
            self.part.cut_rows.combine(partial, partials.wait(), torch.add)
        spare = self.own(step.spare[0]), self.own(step.spare[1])
        sending.wait()
        last = replace(local, x=cast(Tensor, sending.memory), bias=partial, beta=1.0, spare=spare)
        done = _step(self.part, self.part.outside, last)
        numbers = [0.0 if each is None else float(each) for each in (done.change, done.total, done.dangling_mass)]
        change, total, dangling = self.ownership.sum(torch.tensor(numbers, dtype=torch.float64, device="cpu")).tolist()
        values = self.spread(done.values)
        return StepResult(
            values,
            values if done.next_x is done.values else self.spread(done.next_x),
            change,
            None if done.total is None else total,
            None if done.dangling_mass is None else dangling,
        )

    def _memory(self, like: Tensor) -> Tensor:
        """Memory for the sums over the arcs inside: fresh memory costs more than the sums."""
        if like.dtype not in self._partial:
            self._partial[like.dtype] = torch.empty_like(like)
        return self._partial[like.dtype]

    # ---- loops -------------------------------------------------------------------------------------------------------

    def fixpoint(self, call: LoopCall) -> PausedLoop:
        """The first state of a relaxation."""
        return Fixpoint(self.part, self.directed, call)

    def relax_rows(
        self, sub: Subgraph, values: Tensor, reduction: Reduction, edge: str, weights: Tensor | float | None
    ) -> Frontier:
        """One round of a relaxation along the rows of the active vertices of `sub`."""
        call = LoopCall(sub.graph, values, sub.active, reduction, edge, weights, any_order=False)
        steps = Fixpoint(self.part, self.directed, call)
        steps.advance(1, 0)
        return Frontier(sub.graph, mask=steps.frontier)

    def join(self, graph: Graph, label: Tensor) -> bool:
        """See `tgraph.primitives.union_find.join`, over all arcs."""
        return join(self.part, self.own(label), self.directed)


def _reduced(graph: Graph, data: Tensor, reduction: Reduction, edge: str) -> Tensor:
    if isinstance(graph.layout, Side):
        return graph.layout.reduced(data, reduction, edge)
    weights = None if edge == "copy" or graph.weights is None else graph.weights.to(data.dtype)
    return reduce_rows(graph.offset, graph.neighbors, weights, data, reduction, edge)


def _weighted_sums(graph: Graph, x: Tensor, step: AffineStep) -> Tensor:
    """The results of the vertices of a graph in a step, without its bias, in float64 as steps add."""
    sums = _reduced(graph, x.to(torch.float64)[:, None], reduction_of("sum"), "mul" if step.weighted else "copy")
    return (step.alpha * sums[:, 0]).to(step.before.dtype)


def _step(part: Part, graph: Graph, step: AffineStep) -> StepResult:
    """A step in which own vertices receive by the arcs of a graph, inside or outside."""
    if isinstance(graph.layout, Side):
        return graph.layout.affine_step(step)
    rows = part.own_rows if graph is part.outside else graph.selection()
    arcs = Subgraph(graph, graph.everything(), "pull", None, rows, mirrored=False)
    weights = graph.weights if step.weighted else None
    others = tuple(each for each in (step.scale, step.bias, step.measure, step.before) if isinstance(each, Tensor))
    call = Call(
        "affine_step", step.x, edge="mul" if step.weighted else "copy", weights=weights, others=others, sub=arcs
    )
    kernels = choose("auto", call)
    return kernels.run(arcs, replace(step, weights=weights))
