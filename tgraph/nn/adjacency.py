"""Destination-major CSR adjacencies: the arcs of an edge_index, sparse matrix or graph sorted by target.

An edge_index is sorted once, or not at all where its targets ascend, as in a sampled batch: the adjacency is cached on
the tensor for the tensor's lifetime, and rebuilt if the tensor was modified in place; for a `tgraph.Graph` it is cached
on the graph, together with derived data: the transpose for gradients, self-loops, normalised weights.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar, cast

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.building.edge_index import check_ends, sort_by_target
from tgraph.core.csr import Csr
from tgraph.core.derived import computed_once, detached_cache_scope
from tgraph.core.graph import Graph
from tgraph.core.subgraph import whole
from tgraph.kernels.operators.csr.degree_weights import multiply_ends
from tgraph.model import operators

T = TypeVar("T")


class Adjacency:
    """Edges source[i] -> target[i] from `num_sources` to `num_targets` vertices, which may be the same set.

    source, target : integers [E], in the user's order of the edges.
    values : [E, ...] in that order, the values of a sparse matrix, or None.
    """

    csr: Csr | None = None  # `arcs(of_edges=False)`, once that was called

    def __init__(
        self, source: Tensor, target: Tensor, num_sources: int, num_targets: int, values: Tensor | None = None
    ):
        self.source: Tensor = source
        self.target: Tensor = target
        self.values: Tensor | None = values
        self.num_sources: int = num_sources
        self.num_targets: int = num_targets
        self._cache: dict[Hashable, Any] = {}

    @property
    def num_edges(self) -> int:
        """E."""
        return len(self.source)

    @computed_once
    def _sorted(self) -> tuple[Tensor, Tensor, Tensor | None]:
        """(offset [num_targets + 1], the source of each arc, the position of each arc in the user's order or None)"""
        with detached_cache_scope():
            return self._sort()

    def _sort(self) -> tuple[Tensor, Tensor, Tensor | None]:
        return sort_by_target(self.source, self.target, self.num_sources, self.num_targets)

    def check_ends(self) -> None:
        """Raise ArgumentError for the first endpoint that is out of range."""
        check_ends(self.source, self.target, self.num_sources, self.num_targets)

    @computed_once
    def rows(self) -> Graph:
        """The CSR by target, as a graph of max(num_sources, num_targets) vertices, with arcs to sources."""
        offset, neighbors, _ = self._sorted
        with detached_cache_scope():
            if (missing := self.num_sources - self.num_targets) > 0:
                offset = torch.cat((offset, offset[-1:].expand(missing)))
            return Graph(offset, neighbors)

    @property
    def position(self) -> Tensor | None:
        """The position in the user's order of each arc of the rows, int64 [E], or None for the identity."""
        return self._sorted[2]

    @property
    def columns(self) -> Graph:
        """The transpose of the rows: the targets of each source. The same object if the rows are symmetric."""
        return self.rows.transpose_detached()

    def in_row_order(self, edge_data: Tensor) -> Tensor:
        """Edge data [E, ...] in the order of the rows."""
        return edge_data if self.position is None else edge_data.index_select(0, self.position)

    @property
    def nbytes(self) -> int:
        """Bytes of everything cached."""
        rows = self.__dict__.get("_rows_kept")
        own = 0 if rows is None else sum(rows.caches.values())
        own += sum(tensor.nbytes for tensor in self.__dict__.get("__sorted_kept", ()) if tensor is not None)
        return own + sum(getattr(value, "nbytes", 0) for value in self._cache.values())

    def arcs(self, of_edges: bool = True) -> Csr:
        """The rows as a Csr, cached; with the permutation of the edges if `of_edges`, for operators on edge data."""
        found = self.cached("arcs of edges" if of_edges else "arcs", lambda: self._cut(of_edges))
        if not of_edges and not torch.compiler.is_compiling():
            self.csr = found
        return found

    def _cut(self, of_edges: bool) -> Csr:
        offset, neighbors, position = self._sorted
        return Csr.trusted(offset, neighbors, position if of_edges else None, self.num_sources)

    @property
    def transpose_permutation(self) -> Tensor:
        """The position in the rows of each arc of the transpose, int64 [E]."""
        number = self.arcs(of_edges=False).by_column(numbered=True)[2]
        assert number is not None
        return number

    @property
    def local(self) -> Adjacency:
        """Itself; for a graph spread over processes, the arcs of this process (see `SpreadAdjacency`)."""
        return self

    def with_mirrors(self, *data: Tensor) -> tuple[Tensor, ...]:
        """The `data` [num_sources, ...]; on a spread graph, data of own vertices extended to sources of `local`."""
        return data

    def with_sink(self, target_data: Tensor) -> Tensor:
        """Target data [num_targets, ...], with a row appended where `arcs` has a sink (see `SunkAdjacency`)."""
        return target_data

    def without_sink(self, received: Tensor) -> Tensor:
        """The inverse of `with_sink`."""
        return received

    @property
    def edge_index(self) -> tuple[Tensor, Tensor]:
        """(source, target) of the edges, int64 [E] each."""
        return self.source.to(torch.int64), self.target.to(torch.int64)

    @property
    def degree(self) -> Tensor:
        """In-degree of each target, int64 [num_targets]."""
        return self.cached("degree", lambda: self.rows.offset.diff()[: self.num_targets])

    @property
    def unreached(self) -> Tensor | None:
        """Mask of targets without incoming arcs, bool [num_targets, 1], or None if there are none."""

        def find() -> Tensor | None:
            mask = self.degree == 0
            return mask[:, None] if bool(mask.any()) else None

        return self.cached("unreached", find)

    def matrix_weights(self) -> ArcWeights | None:
        """The values of a sparse matrix as arc weights, or None if all are 1 or there are none."""
        values = self.values
        if values is None or values.dim() != 1:
            return None
        if values.requires_grad:
            return ArcWeights(self.in_row_order(values))
        return self.cached(
            "matrix", lambda: None if bool((values == 1).all()) else ArcWeights(self.in_row_order(values))
        )

    def cached(self, name: Hashable, compute: Callable[[], T]) -> T:
        """The result of `compute`, cached under this name."""
        if name not in self._cache:
            with detached_cache_scope():
                self._cache[name] = compute()
        return self._cache[name]


class ArcWeights:
    """Weights of each arc, `values` [m] or [m, ...] in the order of the rows."""

    def __init__(self, values: Tensor):
        self.values: Tensor = values
        self._transposed: Tensor | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of the weights, in both orders."""
        shared = self._transposed is None or self._transposed is self.values
        return self.values.nbytes * (1 if shared else 2)

    def transposed(self, adjacency: Adjacency) -> Tensor | None:
        """The weights in the order of `adjacency.columns`, cached; None if they require a gradient."""
        if self.values.requires_grad:
            return None
        if torch.compiler.is_compiling():
            return self._transposed
        return self.find_transposed(adjacency)

    def find_transposed(self, adjacency: Adjacency) -> Tensor:
        """As `transposed`, outside of torch.compile tracing."""
        if self._transposed is None:
            with detached_cache_scope():
                self._transposed = self._transpose(adjacency)
        return self._transposed

    def _transpose(self, adjacency: Adjacency) -> Tensor:
        return self.values.index_select(0, adjacency.transpose_permutation)


class EndWeights(ArcWeights):
    """Weights scale[source] * scale[target], of a `scale` [n]."""

    def __init__(self, arcs: Csr, scale: Tensor):
        super().__init__(multiply_ends(scale, arcs.offset, arcs.neighbors))
        self._scale = scale

    def _transpose(self, adjacency: Adjacency) -> Tensor:
        arcs = adjacency.arcs(of_edges=False)
        offset, neighbors, _ = arcs.by_column()
        return self.values if neighbors is arcs.neighbors else multiply_ends(self._scale, offset, neighbors)


def inverse_root(degree: Tensor) -> Tensor:
    """1 / sqrt(degree), 0 where the degree is 0."""
    alone = degree == 0
    return degree.masked_fill(alone, 1).rsqrt().masked_fill(alone, 0)


class Scale:
    """Weights of the arcs of a graph in a layout, which stay there: values[source] * values[target], times the weights
    of the arcs if any.

    values : [n], applied to vertex data before and after the sum, or None for ones. own : what the data of each vertex
    counts in its own sum beyond its stored self-loops, [n] or a number for all. of_arcs : weights [m] in the order of
    the edges; True for those of the graph, False for none.
    """

    def __init__(self, values: Tensor | None, own: Tensor | float, of_arcs: Tensor | bool):
        self.values: Tensor | None = values
        self.own: Tensor | float = own
        self.of_arcs: Tensor | bool = of_arcs

    @property
    def nbytes(self) -> int:
        """Bytes of the scale."""
        return sum(each.nbytes for each in (self.values, self.own, self.of_arcs) if isinstance(each, Tensor))


class SortedAdjacency(Adjacency):
    """An adjacency whose edges are given sorted by target: `offset` [num_targets + 1], `neighbors` [E]."""

    def __init__(self, offset: Tensor, neighbors: Tensor, num_sources: int, values: Tensor | None = None):
        self.offset: Tensor = offset.to(torch.int64)
        self.neighbors: Tensor = neighbors
        self.values: Tensor | None = values
        self.num_sources: int = num_sources
        self.num_targets: int = len(offset) - 1
        self._cache = {}

    @property
    def num_edges(self) -> int:
        return len(self.neighbors)

    @property
    def source(self) -> Tensor:  # type: ignore[override]
        """The source of each edge, int32 or int64 [E]."""
        return self.neighbors

    @computed_once
    def target(self) -> Tensor:  # type: ignore[override]
        """The target of each edge, of the dtype of the sources, [E]."""
        return sorting.expand_rows(self.offset, self.neighbors.dtype)

    def _sort(self) -> tuple[Tensor, Tensor, None]:
        self.check_ends()
        dtype = sorting.index_dtype(max(self.num_sources, self.num_targets))
        arcs = Csr(self.offset.contiguous(), self.neighbors.to(dtype).contiguous(), None, self.num_sources)  # checks
        return arcs.offset, arcs.neighbors, None


class GraphAdjacency(Adjacency):
    """The adjacency of a Graph along its arcs, or against them if `reverse`; its edges are the stored arcs."""

    num_sources: int
    num_targets: int

    def __init__(self, graph: Graph, reverse: bool = False):
        self.graph: Graph = graph
        self.reverse: bool = reverse
        self.num_sources = self.num_targets = graph.num_vertices

    @property
    def values(self) -> Tensor | None:  # type: ignore[override]
        """The weights of the graph, [m] or None."""
        return None if self.graph.weight_dtype is None else self.graph.decoded().weights

    @property
    def num_edges(self) -> int:
        return self.graph.num_arcs

    @property
    def degree(self) -> Tensor:
        return self.graph.out_degree if self.reverse else self.graph.in_degree

    @property
    def in_layout(self) -> Graph | None:
        """The graph with arcs from sources to targets if it is in a layout, which aggregates without decoding; None
        for CSR."""
        if self.graph.layout is None:
            return None
        return self.graph.transpose() if self.reverse else self.graph

    def over_layout(
        self, data: Any, reduce: str, edge: str | Callable[..., Tensor], edge_data: Tensor | None = None
    ) -> Tensor:
        """`tgraph.aggregate` over the edges of a graph in a layout, with data of theirs [E, ...] if any."""
        if edge_data is None:
            found: Tensor = operators.aggregate(cast(Graph, self.in_layout), data, reduce, edge=edge)
            return found
        if not self.reverse:
            return operators.aggregate(self.graph, data, reduce, edge=edge, weights=edge_data)
        arcs = whole(self.graph, self.graph.everything(), "push").reverse()  # in the order of those that receive
        return operators.aggregate(arcs, data, reduce, edge=edge, weights=edge_data).values

    @property
    def source(self) -> Tensor:  # type: ignore[override]
        """The source of each arc, [m]."""
        return self.graph.decoded().neighbors if self.reverse else self._tails()

    @property
    def target(self) -> Tensor:  # type: ignore[override]
        """The target of each arc, [m]."""
        return self._tails() if self.reverse else self.graph.decoded().neighbors

    def _tails(self) -> Tensor:
        arcs = self.graph.decoded()
        return sorting.expand_rows(arcs.offset, arcs.neighbors.dtype)

    def _cut(self, of_edges: bool) -> Csr:
        return Csr(self.rows.offset, self.rows.neighbors, self.position if of_edges else None, self.num_sources)

    @property
    def rows(self) -> Graph:
        return (self.graph if self.reverse else self.graph.transpose_detached()).decoded()

    @property
    def columns(self) -> Graph:
        return (self.graph.transpose_detached() if self.reverse else self.graph).decoded()

    @property
    def position(self) -> Tensor | None:  # undirected graphs too: parallel arcs may differ in their data
        return None if self.reverse else self.graph.decoded().transpose_permutation

    @property
    def transpose_permutation(self) -> Tensor:
        return self.rows.transpose_permutation

    def matrix_weights(self) -> None:
        """None: layers without an edge_weight argument ignore the weights of a graph."""

    def cached(self, name: Hashable, compute: Callable[[], T]) -> T:
        return self.graph.kept(f"nn {name} {'against' if self.reverse else 'along'} arcs", compute)
