"""The rows of one rank: the arcs among its own vertices, and the arcs to vertices of other ranks."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor

from tgraph.core.csr import Csr
from tgraph.core.derived import computed_once
from tgraph.core.graph import Graph
from tgraph.core.rows import Selection, gather_rows, offset_of
from tgraph.distributed.ranks.channel import Channel, Sending
from tgraph.distributed.ranks.ownership import Ownership
from tgraph.distributed.ranks.transport import exchange
from tgraph.distributed.streaming.side import Side
from tgraph.distributed.streaming.within import Within
from tgraph.kernels.operators.aggregation.rows import reduce_rows
from tgraph.kernels.reductions import reduction_of
from tgraph.primitives import bitmaps, weights


@dataclass(eq=False)
class Part:
    """The rows of the vertices that this rank owns, by local numbers: its k own vertices come first, in their order,
    and then the mirrors, the vertices of other ranks that its arcs touch.

    ownership : the assignment of vertices to ranks.
    mirrors : int64 [h], ascending, by number in the whole graph.
    inside : the arcs of own vertices to own vertices, a graph of k vertices.
    outside : their arcs to mirrors, a directed graph of k + h vertices, in which mirrors have no rows. Both are in CSR,
    or in blocks (`tgraph.distributed.streaming.side.Side`).
    cut : arcs of mirrors, whose rows are cut: a graph of k + h vertices, in which own vertices have no rows; None, on
    all ranks, where all rows lie with their owners.

    All of it is on one device. Made by all ranks together.
    """

    ownership: Ownership
    mirrors: Tensor
    inside: Graph
    outside: Graph
    cut: Graph | None = None

    def __post_init__(self) -> None:
        held = self.ownership
        counts = held.counts(self.mirrors)
        asked = torch.empty_like(counts)
        others = (held.num_ranks - 1) * counts.element_size()
        exchange(dist.all_to_all_single, asked, counts.contiguous(), group=held.group, sent=others, received=others)
        wanted, given = counts.tolist(), asked.tolist()
        self.requests: Channel = Channel(held, wanted, given)  # from mirrors to their owners
        asked_for = self.requests.send(self.mirrors).wait()
        self.copied: Tensor = asked_for.sub_(held.first)  # int64 [c], own vertices, by the rank with a mirror of them
        self.replies: Channel = self.requests.reversed()  # from owners to mirrors
        if self.cut is not None:
            self.cut_rows: CutRows = CutRows.of(self, self.cut)
            count = self.cut.offset.diff()[self.cut_rows.mirrors]
            self._counts_elsewhere = self.cut_rows.partials.send(count).wait()

    @classmethod
    def on(
        cls,
        device: torch.device,
        ownership: Ownership,
        mirrors: Tensor,
        inside: Graph,
        outside: Graph,
        cut: Graph | None = None,
    ) -> Part:
        """The part of graphs made on the CPU, moved to a device; blocks are computed there already."""
        graphs = (None if graph is None else graph.to(device) for graph in (inside, outside, cut))
        return cls(ownership, mirrors.to(device), *graphs)  # type: ignore[arg-type]

    @property
    def streamed(self) -> Within | None:
        """The budget within which the arcs are read block by block, on all ranks alike; None where they are in
        memory."""
        return self.inside.layout.within if isinstance(self.inside.layout, Side) else None

    @computed_once
    def degree(self) -> Tensor:
        """Number of arcs of each own vertex, with those at other ranks, int64 [k]."""
        here = self.inside.row_offset().diff() + self.outside.row_offset()[: self.num_own + 1].diff()
        if self.cut is not None:
            self.cut_rows.combine(here, self._counts_elsewhere, torch.add)
        return here

    def reweighted(self, function: Callable[[Tensor], Tensor]) -> Part:
        """The same arcs with a function of their weights, or of ones, in place of these."""
        return self.with_weights([weights.reweighted(graph, function).weights for graph in self.graphs])

    def with_weights(self, given: Sequence[Tensor | None], directed: bool = False) -> Part:
        """The same arcs in memory with other weights, [e] or none for each of the `graphs`; `directed` where those of
        the two arcs of an edge differ. Nothing is sent."""
        same = copy.copy(self)
        graphs = [
            Graph.of_storage(
                Csr.unchecked(graph.offset, graph.neighbors, None, graph.num_vertices, weights),
                directed=graph.directed or (directed and graph is self.inside),
            )
            for graph, weights in zip(self.graphs, given, strict=True)
        ]
        same.inside, same.outside, *cut = graphs
        same.cut = cut[0] if cut else None
        return same

    @property
    def graphs(self) -> tuple[Graph, ...]:
        """The graphs of the arcs of this rank."""
        return (self.inside, self.outside) if self.cut is None else (self.inside, self.outside, self.cut)

    @property
    def num_own(self) -> int:
        """k, the number of own vertices."""
        return self.ownership.num_own

    @property
    def num_local(self) -> int:
        """k + h, the number of own vertices and mirrors."""
        return self.num_own + len(self.mirrors)

    @property
    def num_arcs(self) -> int:
        """Number of arcs of this rank."""
        return sum(graph.num_arcs for graph in self.graphs)

    @property
    def nbytes(self) -> int:
        """Bytes of the tensors."""
        return sum(graph.nbytes for graph in self.graphs) + self.mirrors.nbytes + self.copied.nbytes

    @computed_once
    def copied_by_rank(self) -> tuple[Tensor, ...]:
        """`copied`, by the rank of the mirror."""
        return self.copied.split(self.replies.sending)

    def to_owners(self, slots: Tensor) -> tuple[Channel, list[Tensor]]:
        """(channel from some mirrors, int64 [j] ascending, to their owners; the own vertices that it reaches, by rank);
        to be called by all ranks."""
        marks, counts = [], []
        for here, size in _by_rank(slots, self.requests.sending):
            marks.append(bitmaps.of_ids(here, size))
            counts.append(len(here))
        vertices = [
            held[:0] if bits is None else held.index_select(0, bitmaps.members(bits))
            for held, bits in zip(self.copied_by_rank, self.requests.send_marks(marks).wait(), strict=True)
        ]
        return Channel(self.ownership, counts, [len(each) for each in vertices]), vertices

    def scan_inside(self, see: Callable[[int, int, Tensor, Tensor, Tensor | None], None]) -> None:
        """See `tgraph.formats.Layout.scan`: the arcs inside, at once or block by block."""
        graph = self.inside
        if isinstance(graph.layout, Side):
            graph.layout.scan(see)
        else:
            see(0, 0, graph.offset, graph.neighbors, graph.weights)

    @computed_once
    def with_arcs(self) -> tuple[Tensor, Tensor]:
        """Bitmaps of the own vertices that have arcs inside, and outside."""
        inside, outside = self.inside.row_offset(), self.outside.row_offset()[: self.num_own + 1]
        return bitmaps.pack(inside.diff() > 0), bitmaps.pack(outside.diff() > 0)

    @computed_once
    def own_rows(self) -> Selection:
        """The rows of own vertices in `outside`. One of its own tensors, so that it is checked once, whatever else of
        the graph is: see `tgraph.core.building.soundness`."""
        return Selection(self.outside.offset[: self.num_own + 1], self.outside.neighbors.view(-1))

    def fetch(self, values: Tensor) -> Sending:
        """Begin to fetch the values of the mirrors from own vertices [k, ...] of all ranks: they arrive in the last h
        rows of memory [k + h, ...], whose first rows are left open (see `Sending.memory`)."""
        memory = values.new_empty((self.num_local, *values.shape[1:]))
        sending = self.replies.send(values.index_select(0, self.copied), memory[self.num_own :])
        sending.memory = memory
        return sending

    def give_back(self, values: Tensor) -> Sending:
        """The values of the mirrors of `copied`, [c, ...], from `values` [h, ...] of the mirrors of all ranks."""
        return self.requests.send(values)

    def add_copies(self, values: Tensor) -> Tensor:
        """The sums [k, F] of the values returned by the mirrors of each own vertex, `values` [c, F], in the order of
        the ranks."""
        offset, slots = self._copies
        if (missing := self.num_own - len(values)) > 0:  # the operator takes no fewer values than rows
            values = torch.nn.functional.pad(values, (0, 0, 0, missing))
        return reduce_rows(offset, slots, None, values, reduction_of("sum"), "copy")

    @computed_once
    def _copies(self) -> tuple[Tensor, Tensor]:
        """(offset [k + 1], slots [c]): the sending slots of `replies` by own vertex."""
        return offset_of(torch.bincount(self.copied, minlength=self.num_own)), self.copied.argsort(stable=True)

    def slots_of(self, vertices: Tensor) -> tuple[Tensor, Tensor]:
        """The sending slots of `replies` of own vertices int64 [j], ascending, and the vertex of each."""
        if 8 * len(vertices) > self.num_own:
            marked = torch.zeros(self.num_own, dtype=torch.bool, device=vertices.device)
            marked[vertices] = True
            slots = marked.index_select(0, self.copied).nonzero().flatten()
        else:
            offset, order = self._copies
            slots = order.index_select(0, gather_rows(offset, vertices)[1]).sort().values
        return slots, self.copied.index_select(0, slots)


@dataclass(eq=False)
class CutRows:
    """The mirrors that have rows at this rank, and the own vertices that have rows at others.

    mirrors : local numbers, int64 [c] ascending. own : int64 [d], own vertices with rows at each rank, by rank.
    partials : the channel from mirrors to owners. lent : the reverse channel.
    """

    mirrors: Tensor
    own: list[Tensor]
    partials: Channel
    lent: Channel

    @classmethod
    def of(cls, part: Part, cut: Graph) -> CutRows:
        """To be called by all ranks."""
        mirrors = (cut.offset.diff() > 0).nonzero().flatten()
        partials, own = part.to_owners(mirrors - part.num_own)
        return cls(mirrors, own, partials, partials.reversed())

    def combine(self, values: Tensor, received: Tensor, operation: Callable[[Tensor, Tensor], Tensor]) -> None:
        """Combine `values` [k, ...] of own vertices with `received` [d, ...] by `partials`, in the order of ranks."""
        for vertices, part in zip(self.own, received.split(self.partials.receiving), strict=True):
            values[vertices] = operation(values[vertices], part)

    def slots_of(self, vertices: Tensor | None, size: int) -> tuple[Tensor, Tensor]:
        """The sending slots of `lent` of own vertices int64 [j], None for all, of `size`, and the vertex of each."""
        own = torch.cat(self.own)
        if vertices is None:
            return torch.arange(len(own), device=own.device), own
        marked = torch.zeros(size, dtype=torch.bool, device=own.device)
        marked[vertices] = True
        slots = marked.index_select(0, own).nonzero().flatten()
        return slots, own.index_select(0, slots)


def _by_rank(slots: Tensor, sizes: list[int]) -> Iterator[tuple[Tensor, int]]:
    """(the slots of each rank, counted from its first one, how many slots it has), of slots int64 [j] ascending."""
    start = 0
    for size in sizes:
        first, end = torch.searchsorted(slots, slots.new_tensor([start, start + size])).tolist()
        yield slots[first:end] - start, size
        start += size
