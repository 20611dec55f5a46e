"""The interface of storage layouts."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.building.arc_counts import ArcCounts
from tgraph.core.building.symmetry import Mirror
from tgraph.core.csr import Csr, statistics_of
from tgraph.core.derived import computed_once
from tgraph.core.graph import Graph
from tgraph.core.rows import gather_rows, offset_of
from tgraph.core.storage import InMemory, Stretches
from tgraph.errors import ArgumentError, LayoutError
from tgraph.kernels.affine import AffineStep, StepResult
from tgraph.kernels.operators.linear.linear import finished, widened
from tgraph.kernels.operators.relaxation.blocks import join_blocks

if TYPE_CHECKING:
    from typing_extensions import Self


# Arcs per chunk of `Layout.scan`.
STRETCH = 1 << 22


class Layout(InMemory, ABC):
    """The arcs of a graph in a storage format. Row v lists the vertices that the arcs of v lead to.

    A layout is the `storage` of a graph (`tgraph.core.storage`). It is immutable and holds tensors of rows only: ids,
    direction and derived data belong to the graph. Its options are those that `Graph.to_format` accepts.

    name : its name in `Graph.to_format`.
    num_vertices, num_arcs : n and m of the graph that it was built from.
    rounds_once : whether `pull` accumulates 16-bit floats in float32, products included, and rounds once at the end.

    >>> layout = tg.generators.star(4).to_format("sell").layout
    >>> layout.name, layout.num_vertices, layout.num_arcs
    ('sell', 5, 8)
    """

    name: ClassVar[str]
    rounds_once: ClassVar[bool] = False
    num_vertices: int
    num_arcs: int

    @classmethod
    @abstractmethod
    def from_graph(cls, graph: Graph, **options: Any) -> Self:
        """The arcs and weights of a graph in CSR. Raises ArgumentError for invalid `options`, and for a graph that
        the layout cannot hold."""

    @classmethod
    def refuse_options(cls, unknown: dict[str, Any]) -> None:
        """Raise ArgumentError for `unknown` options, which `from_graph` does not name, listing those that it does."""
        if unknown:
            parameters = inspect.signature(cls.from_graph).parameters.values()
            known = [repr(each.name) for each in parameters if each.kind == each.KEYWORD_ONLY]
            takes = f"takes {', '.join(known)}" if known else "takes no options"
            raise ArgumentError(f"{next(iter(unknown))}: no option of the layout {cls.name!r}, which {takes}")

    @property
    def layout(self) -> Self:
        """Itself."""
        return self

    @property
    def csr(self) -> Csr:
        """Raises LayoutError: the arcs are decoded by name only."""
        raise LayoutError(
            f"offset, neighbors, weights: the arcs are stored in the layout {self.name!r}; graph.to_csr() is the graph "
            "in CSR, and graph.decoded() keeps it in graph.caches"
        )

    @property
    def csr_tensors(self) -> dict[str, Tensor | None]:
        """None: they would have to be decoded."""
        return {}

    @abstractmethod
    def to_csr(self) -> tuple[Tensor, Tensor, Tensor | None]:
        """(offset int64 [n + 1], neighbors [m], weights [m] or None), exactly those of the original graph."""

    def rows(self, vertices: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        """The rows of the `vertices` int64 [k], as a CSR of k rows. Layouts with random access to rows decode these
        only; this default decodes all."""
        offset, neighbors, weights = self.to_csr()
        chosen, arcs = gather_rows(offset, vertices)
        return chosen, neighbors.index_select(0, arcs), None if weights is None else weights.index_select(0, arcs)

    @property
    def arcs_at_once(self) -> int:
        """The number of arcs to decode at a time, where rows are decoded part by part."""
        return 1 << 22

    def stretches(self, vertices: Tensor) -> Stretches | None:
        """Where the arcs of the rows of the `vertices` int64 [k] are stored, for layouts in which single arcs can be
        read without decoding their row; None for others."""
        return None

    @abstractmethod
    def out_degree(self) -> Tensor:
        """Arcs of each row, int64 [n]; not cached."""

    def row_offset(self) -> Tensor:
        """Offsets of the rows in CSR, int64 [n + 1]."""
        return offset_of(self.out_degree())

    def scan(self, see: Callable[[int, int, Tensor, Tensor, Tensor | None], None]) -> None:
        """Call `see(first arc, first row, offset, neighbors, weights)` for chunks of consecutive rows, in any order,
        until every arc was passed once. One chunk is in memory at a time. A row may be split over several chunks."""
        offset, begin = self.row_offset(), 0
        while begin < self.num_vertices:
            first_arc = int(offset[begin])
            end = int(torch.searchsorted(offset, first_arc + STRETCH, right=True)) - 1
            end = min(max(end, begin + 1), self.num_vertices)
            see(first_arc, begin, *self.rows(torch.arange(begin, end, device=self.device)))
            begin = end

    def in_degree(self) -> Tensor:
        """Arcs that lead to each vertex, int64 [n]; not cached."""
        degree = torch.zeros(self.num_vertices, dtype=torch.int64, device=self.device)

        def see(first_arc: int, first_row: int, offset: Tensor, neighbors: Tensor, weights: Tensor | None) -> None:
            degree.add_(torch.bincount(neighbors, minlength=self.num_vertices))

        self.scan(see)
        return degree

    def weight_statistics(self) -> tuple[float, float, float] | None:
        """(smallest, largest, mean) weight, the first two NaN where one is NaN; None without weights or arcs."""
        weights = None if self.weight_dtype is None else self.to_csr()[2]
        return None if weights is None else statistics_of(weights)

    @computed_once
    def _arc_counts(self) -> ArcCounts:
        """Self-loops and repeated arcs, counted in chunks of decoded rows."""
        counts = ArcCounts()
        self.scan(counts.see)
        return counts.finish()

    def num_self_loops(self) -> int:
        """The number of arcs from a vertex to itself."""
        return self._arc_counts.loops

    def num_parallel_edges(self, directed: bool) -> int:
        """The number of edges in excess of one for each pair of vertices; `directed` as for the graph."""
        return self._arc_counts.parallel_edges(directed)

    def is_symmetric(self) -> bool:
        """True if every arc has its reverse of equal weight, by a 64-bit fingerprint (`core.building.symmetry`)."""
        mirror = Mirror()

        def see(first_arc: int, first_row: int, offset: Tensor, neighbors: Tensor, weights: Tensor | None) -> None:
            mirror.note(sorting.expand_rows(offset) + first_row, neighbors, weights)

        self.scan(see)
        return mirror.complete

    def transpose_with_permutation(self) -> tuple[Layout, None]:
        """`transposed`, and None: weights need no permutation."""
        return self.transposed(), None

    @abstractmethod
    def tensors(self) -> dict[str, Tensor]:
        """All stored tensors by name."""

    @abstractmethod
    def options(self) -> dict[str, Any]:
        """Arguments of `from_tensors` besides the tensors: numbers, strings and lists of these."""

    @classmethod
    @abstractmethod
    def from_tensors(cls, tensors: dict[str, Tensor], options: dict[str, Any]) -> Self:
        """The layout of stored `tensors`, not copied, and `options`. Raises ArgumentError where they do not fit."""

    def identity(self) -> list[Tensor]:
        """Tensors to hash that differ where the arcs of two layouts differ; all stored tensors by default."""
        return list(self.tensors().values())

    @property
    def nbytes(self) -> int:
        """Bytes of all stored tensors."""
        return sum(tensor.nbytes for tensor in self.tensors().values())

    @property
    def weight_dtype(self) -> torch.dtype | None:
        """The dtype of the weights, None without weights."""
        weights = self.tensors().get("weights")
        return None if weights is None else weights.dtype

    @property
    def device(self) -> torch.device:
        """The device of the tensors."""
        return next(iter(self.tensors().values())).device

    def to(self, device: torch.device) -> Self:
        """The same layout on another `device`."""
        moved = {name: tensor.to(device) for name, tensor in self.tensors().items()}
        return type(self).from_tensors(moved, self.options())

    @abstractmethod
    def transposed(self) -> Layout:
        """The layout of the reversed arcs with their weights."""

    def refuses(self, reduce: str, edge: str, dtype: torch.dtype) -> str | None:
        """Why `pull` does not support `reduce` of `edge` in the `dtype`, None where it does."""
        return None

    @abstractmethod
    def pull(self, data: Tensor, reduce: str, edge: str = "copy") -> Tensor:
        """out[v] = the reduction, over the arcs v -> u of row v, of edge(data[u], weight of the arc).

        data : [n, F], of the dtype of the result. reduce : "sum", "prod", "min" or "max"; an empty row gets the
        identity of the reduction (`Reduction.identity`). edge : "copy", or "add", "mul", "min" or "max" with the stored
        weights. Not differentiable. Floating-point sums are accumulated in a fixed order.
        """

    def affine_step(self, step: AffineStep) -> StepResult:
        """One `step` of an affine iteration over all rows, with the stored weights where it is weighted."""
        edge = "mul" if step.weighted else "copy"
        return finished(step, self.pull(widened(step.x)[:, None], "sum", edge)[:, 0])

    def join(self, graph: Graph, label: Tensor) -> bool:
        """Merge the trees at the two ends of every arc of the `graph`, which is in this layout. `label` : a forest,
        int32 or int64 [n], overwritten, as in `tgraph.primitives.union_find.join`. False where it is none."""
        return join_blocks(_Chunks(self), graph, label)


class _Chunk(NamedTuple):
    """Consecutive rows that are decoded."""

    first_row: int
    offset: Tensor
    neighbors: Tensor
    weights: Tensor | None

    @property
    def end_row(self) -> int:
        return self.first_row + len(self.offset) - 1


class _Chunks(NamedTuple):
    """The chunks of `Layout.scan`."""

    layout: Layout

    def visit(self, work: Callable[[_Chunk], None]) -> None:
        self.layout.scan(lambda first_arc, *rows: work(_Chunk(*rows)))
