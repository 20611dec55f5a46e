"""Who hears whom, as layers need it: arcs sorted by destination, from whatever a user calls an edge_index.

Rows are destinations. Sorting is done once for each edge_index: it is kept with that tensor as long as the tensor
lives, and done anew where the tensor has changed in place since; for a `tgraph.Graph` it is kept with the graph. So is
what is derived from it: the transpose for gradients, self-loops, normalised weights.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import torch
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

from tgraph import csr
from tgraph.errors import ArgumentError
from tgraph.graph import Graph, kept_for_later
from tgraph.kernels.bipartite import Arcs
from tgraph.rows import computed_once

T = TypeVar("T")
Sizes = tuple[int | None, int | None]

FLOWS = ("source_to_target", "target_to_source")


class Adjacency:
    """Arcs source[i] -> target[i] between `num_sources` and `num_targets` vertices, which may be the same.

    source, target : integers [E], in the user's order of the edges.
    values : [E, ...] in that order, where the edges came as a matrix, or None.
    """

    def __init__(
        self, source: Tensor, target: Tensor, num_sources: int, num_targets: int, values: Tensor | None = None
    ):
        self.source, self.target, self.values = source, target, values
        self.num_sources, self.num_targets = num_sources, num_targets
        self._kept: dict[Hashable, Any] = {}

    @property
    def num_edges(self) -> int:
        """E."""
        return len(self.source)

    @computed_once
    def _sorted(self) -> tuple[Graph, Tensor | None]:
        """The rows, and the user's number of the edge behind each arc; None where that is the arc's own."""
        with kept_for_later():
            return self._sort()

    def _sort(self) -> tuple[Graph, Tensor | None]:
        square = max(self.num_sources, self.num_targets)
        try:
            offset, neighbors, position = csr.sort_edges(self.target, self.source, square, permutation=True)
        except ArgumentError:
            self.check_ends()
            raise
        if self.num_sources != self.num_targets:
            self.check_ends()
        return Graph(offset, neighbors), position

    def check_ends(self) -> None:
        """Raise ArgumentError for the first end of an edge that is no vertex."""
        for name, ends, size in (("source", self.source, self.num_sources), ("target", self.target, self.num_targets)):
            wrong = ((ends < 0) | (ends >= size)).nonzero()
            if len(wrong):
                place = int(wrong[0])
                raise ArgumentError(
                    f"edge_index: the {name} {int(ends[place])} of edge {place} is not among the {size} vertices 0.."
                    f"{size - 1} that x has features of; give more features, or remove the edge"
                )

    @property
    def rows(self) -> Graph:
        """The sources of each target, as a graph whose arcs lead from targets to sources; of max(num_sources,
        num_targets) vertices."""
        return self._sorted[0]

    @property
    def position(self) -> Tensor | None:
        """The number of the edge behind each arc of the rows, int64 [E], or None where that is the arc's own."""
        return self._sorted[1]

    @property
    def columns(self) -> Graph:
        """The targets of each source: the transpose of the rows, and the rows themselves where these are symmetric."""
        return self.rows.transpose_detached()

    def in_row_order(self, edge_data: Tensor) -> Tensor:
        """Data [E, ...] of the edges in the order of the rows."""
        return edge_data if self.position is None else edge_data.index_select(0, self.position)

    @property
    def nbytes(self) -> int:
        """Bytes of what was derived so far."""
        rows, position = self.__dict__.get("__sorted_kept", (None, None))
        own = 0 if rows is None else rows.nbytes + sum(rows.caches.values())
        own += 0 if position is None else position.nbytes
        return own + sum(getattr(value, "nbytes", 0) for value in self._kept.values())

    def arcs(self, of_edges: bool = True) -> Arcs:
        """The rows as attention walks them; `of_edges` says that data of the edges takes part. Kept."""
        position = self.position if of_edges else None

        def cut() -> Arcs:
            return Arcs(self.rows.offset[: self.num_targets + 1], self.rows.neighbors, position, self.num_sources)

        return self.kept("arcs of edges" if of_edges else "arcs", cut)

    @property
    def edge_index(self) -> tuple[Tensor, Tensor]:
        """(source, target) of the edges, int64 [E] each."""
        return self.source.to(torch.int64), self.target.to(torch.int64)

    @property
    def degree(self) -> Tensor:
        """How many arcs reach each target, int64 [num_targets]."""
        return self.kept("degree", lambda: self.rows.offset.diff()[: self.num_targets])

    @property
    def unreached(self) -> Tensor | None:
        """Which targets no arc reaches, bool [num_targets, 1], or None where all are reached."""

        def find() -> Tensor | None:
            mask = self.degree == 0
            return mask[:, None] if bool(mask.any()) else None

        return self.kept("unreached", find)

    def matrix_weights(self) -> ArcWeights | None:
        """What a sparse matrix multiplies by, where its values are not all 1."""
        values = self.values
        if values is None or values.dim() != 1:
            return None
        if values.requires_grad:
            return ArcWeights(self.in_row_order(values))
        return self.kept("matrix", lambda: None if bool((values == 1).all()) else ArcWeights(self.in_row_order(values)))

    def kept(self, name: Hashable, compute: Callable[[], T]) -> T:
        """What `compute` derives from this adjacency, at first use."""
        if name not in self._kept:
            with kept_for_later():
                self._kept[name] = compute()
        return self._kept[name]


class ArcWeights:
    """A weight for each arc, `values` [m] in the order of the rows. `symmetric` says that an arc and its reverse weigh
    the same."""

    def __init__(self, values: Tensor, symmetric: bool = False):
        self.values, self._transposed = values, values if symmetric else None

    @property
    def nbytes(self) -> int:
        """Bytes of the weights, both orders."""
        shared = self._transposed is None or self._transposed is self.values
        return self.values.nbytes * (1 if shared else 2)

    def transposed(self, adjacency: Adjacency) -> Tensor | None:
        """The same in the order of `adjacency.columns`, kept; None where a gradient of them is recorded."""
        if self.values.requires_grad:
            return None
        if torch.compiler.is_compiling():
            return self._transposed
        return self.find_transposed(adjacency)

    def find_transposed(self, adjacency: Adjacency) -> Tensor:
        """As `transposed`, where torch.compile does not look on."""
        if self._transposed is None:
            with kept_for_later():
                self._transposed = self.values.index_select(0, adjacency.rows.transpose_permutation)
        return self._transposed


class Scale:
    """Weights of rank one: scale[source] * scale[target], `values` [n], and `loops` says that a vertex without a
    self-loop is to hear itself."""

    def __init__(self, values: Tensor, loops: bool):
        self.values, self.loops = values, loops

    @property
    def nbytes(self) -> int:
        """Bytes of the scale."""
        return self.values.nbytes


class SortedAdjacency(Adjacency):
    """One whose edges come sorted by target: `offset` [num_targets + 1], `neighbors` [E]."""

    def __init__(self, offset: Tensor, neighbors: Tensor, num_sources: int, values: Tensor | None = None):
        self.offset, self.neighbors, self.values = offset.to(torch.int64), neighbors, values
        self.num_sources, self.num_targets = num_sources, len(offset) - 1
        self._kept = {}

    @property
    def num_edges(self) -> int:
        return len(self.neighbors)

    @property
    def source(self) -> Tensor:  # type: ignore[override]
        """The source of each edge, int32 or int64 [E]."""
        return self.neighbors

    @computed_once
    def target(self) -> Tensor:
        """The target of each edge, of the dtype of the sources, [E]."""
        return csr.expand_rows(self.offset, self.neighbors.dtype)

    def _sort(self) -> tuple[Graph, Tensor | None]:
        self.check_ends()
        missing = max(self.num_sources - self.num_targets, 0)
        offset = torch.cat((self.offset, self.offset[-1:].expand(missing))) if missing else self.offset
        return Graph(offset.contiguous(), self.neighbors.contiguous()), None


class GraphAdjacency(Adjacency):
    """That of a Graph, along its arcs or, where `reverse`, against them; edges are its stored arcs."""

    def __init__(self, graph: Graph, reverse: bool = False):
        self.graph, self.reverse = graph, reverse
        self.num_sources = self.num_targets = graph.num_vertices

    @property
    def values(self) -> Tensor | None:  # type: ignore[override]
        """The weights of the graph, [m] or None."""
        return None if self.graph.weight_dtype is None else self.graph.weights

    @property
    def num_edges(self) -> int:
        return self.graph.num_arcs

    @property
    def degree(self) -> Tensor:
        return self.graph.out_degree if self.reverse else self.graph.in_degree

    @property
    def in_layout(self) -> Graph | None:
        """The graph whose arcs lead from sources to targets, where they are in a layout of their own: sums over arcs of
        equal weight are computed in it, and nothing is decoded."""
        if self.graph.layout is None:
            return None
        return self.graph.transpose() if self.reverse else self.graph

    @property
    def source(self) -> Tensor:  # type: ignore[override]
        """The source of each arc, [m]."""
        return self.graph.neighbors if self.reverse else self._tails()

    @property
    def target(self) -> Tensor:  # type: ignore[override]
        """The target of each arc, [m]."""
        return self._tails() if self.reverse else self.graph.neighbors

    def _tails(self) -> Tensor:
        return csr.expand_rows(self.graph.offset, self.graph.neighbors.dtype)

    @property
    def rows(self) -> Graph:
        return self.graph if self.reverse else self.graph.transpose_detached()

    @property
    def columns(self) -> Graph:
        return self.graph.transpose_detached() if self.reverse else self.graph

    @property
    def position(self) -> Tensor | None:  # also of an undirected graph, whose parallel arcs may differ in their data
        return None if self.reverse else self.graph.transpose_permutation

    def matrix_weights(self) -> None:
        """None: layers that take no edge weights do without those of a graph."""

    def kept(self, name: Hashable, compute: Callable[[], T]) -> T:
        return self.graph.kept(f"nn {name} {'against' if self.reverse else 'along'} arcs", compute)


# ---- from what users have ------------------------------------------------------------------------------------------


def adjacency_of(edge_index: Any, sizes: Sizes, flow: str = "source_to_target") -> Adjacency:
    """The adjacency of an edge_index.

    edge_index : integers [2, E], a plain tensor or PyG's EdgeIndex; a torch.sparse COO or CSR matrix, or a
        torch_sparse.SparseTensor, whose rows are destinations (adj_t); or a tgraph.Graph.
    sizes : how many vertices the ends in edge_index[0] and edge_index[1] are of, or None for one where it equals the
        other.
    flow : "source_to_target", messages go from edge_index[0] to edge_index[1], or "target_to_source".

    Raises ArgumentError for anything else, and for sizes that do not fit.
    """
    if flow not in FLOWS:
        raise ArgumentError(f"flow: {flow!r} is not one of {', '.join(map(repr, FLOWS))}")
    if isinstance(edge_index, Graph):
        found: Adjacency = GraphAdjacency(edge_index, flow == "target_to_source")
        _check_sizes(found, sizes)
        return found
    if hasattr(edge_index, "csr") and hasattr(edge_index, "sparse_sizes"):
        return _known(
            edge_index.storage.col(),
            edge_index.storage.value(),
            lambda: _of_sparse_tensor(edge_index),
            sizes,
            flow,
            sparse=True,
        )
    if not isinstance(edge_index, Tensor):
        raise ArgumentError(
            f"edge_index: expected an integer tensor [2, E], a sparse matrix or a tgraph.Graph, got "
            f"{type(edge_index).__name__}"
        )
    if edge_index.layout != torch.strided:
        values = edge_index.values() if edge_index.layout != torch.sparse_coo else edge_index._values()
        return _known(edge_index, values, lambda: _of_sparse(edge_index), sizes, flow, sparse=True)
    if hasattr(edge_index, "as_tensor") and hasattr(edge_index, "sparse_size"):  # PyG's EdgeIndex knows its sizes
        given = edge_index.sparse_size()
        sizes = tuple(own if own is not None else size for own, size in zip(given, sizes, strict=True))  # type: ignore[assignment]
        edge_index = edge_index.as_tensor()
    _check_edge_index(edge_index)
    return _known(edge_index, None, lambda: _of_edges(edge_index, sizes, flow), sizes, flow)


_adjacencies: WeakTensorKeyDictionary = WeakTensorKeyDictionary()  # {tensor: (state, {(sizes, flow): Adjacency})}


def _known(
    tensor: Tensor, values: Tensor | None, build: Callable[[], Adjacency], sizes: Sizes, flow: str, sparse: bool = False
) -> Adjacency:
    """What was built for this tensor before, if it has not changed since; of a `sparse` matrix, which has its sizes and
    flow, one for all."""
    key = None if sparse else (sizes, flow)
    if torch.compiler.is_compiling():
        found = build()
    elif tensor.is_inference() or (values is not None and (values.requires_grad or values.is_inference())):
        found = build()  # whose changes nobody counts, or which belongs to one forward pass
    else:
        state = (tensor._version, tensor.shape, None if values is None else values._version)
        known, held = _adjacencies.get(tensor, (None, {}))
        if known != state:
            held = {}
            _adjacencies[tensor] = (state, held)
        if key not in held:
            held[key] = build()
        found = held[key]
    if sparse:
        if flow == "target_to_source":
            raise ArgumentError("flow: 'target_to_source' needs an edge_index; transpose the sparse matrix instead")
        _check_sizes(found, sizes)
    return found


def _check_edge_index(edge_index: Tensor) -> None:
    if edge_index.is_floating_point() or edge_index.is_complex() or edge_index.dtype == torch.bool:
        raise ArgumentError(f"edge_index: expected integers, got {edge_index.dtype}; use edge_index.long()")
    if edge_index.dim() != 2 or edge_index.shape[0] != 2:
        raise ArgumentError(
            f"edge_index: expected [2, E], got {list(edge_index.shape)}; use edge_index.t() if it is [E, 2]"
        )


def _check_sizes(found: Adjacency, sizes: Sizes) -> None:
    for name, own, given in zip(("sources", "targets"), (found.num_sources, found.num_targets), sizes, strict=True):
        if given is not None and given != own:
            raise ArgumentError(
                f"edge_index: a matrix or graph of {own} {name} does not fit x with features of {given}"
            )


def _of_edges(edge_index: Tensor, sizes: Sizes, flow: str) -> Adjacency:
    ends = edge_index.detach()  # not a view of the tensor, which would keep it alive, but of its memory
    ends = ends if ends.dtype in (torch.int32, torch.int64) else ends.to(torch.int64)
    first, second = sizes
    first, second = second if first is None else first, first if second is None else second
    if first is None or second is None:
        raise ArgumentError("size: unknown; give the number of vertices")
    kind = Adjacency
    if torch.compiler.is_compiling():
        from tgraph.nn.traced import TracedAdjacency as kind
    if flow == "source_to_target":
        return kind(ends[0], ends[1], first, second)
    return kind(ends[1], ends[0], second, first)


def _of_sparse(matrix: Tensor) -> Adjacency:
    """That of a torch.sparse matrix, rows hearing columns."""
    if matrix.dim() - matrix.dense_dim() != 2:
        raise ArgumentError(f"edge_index: expected a sparse matrix, got shape {list(matrix.shape)}")
    if matrix.layout == torch.sparse_coo:
        matrix = matrix.coalesce()
        row, column = matrix.indices()
        return Adjacency(column, row, matrix.shape[1], matrix.shape[0], matrix.values())
    if matrix.layout == torch.sparse_csr:
        return SortedAdjacency(matrix.crow_indices(), matrix.col_indices(), matrix.shape[1], matrix.values())
    if matrix.layout == torch.sparse_csc:
        column = csr.expand_rows(matrix.ccol_indices().to(torch.int64))
        return Adjacency(column, matrix.row_indices(), matrix.shape[1], matrix.shape[0], matrix.values())
    raise ArgumentError(f"edge_index: layout {matrix.layout} is not supported; use matrix.to_sparse_csr()")


def _of_sparse_tensor(matrix: Any) -> Adjacency:
    """That of a torch_sparse.SparseTensor."""
    offset, neighbors, values = matrix.csr()
    return SortedAdjacency(offset, neighbors, matrix.sparse_sizes()[1], values)
