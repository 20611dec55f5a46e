"""A Graph whose arcs are stored in a layout."""

from __future__ import annotations

import weakref
from typing import Any

import torch
from torch import Tensor

from tgraph.core import devices
from tgraph.core.building import sorting
from tgraph.core.building.arc_counts import ArcCounts
from tgraph.core.building.symmetry import Mirror
from tgraph.core.graph import Graph, derived
from tgraph.core.ids import VertexIds
from tgraph.core.rows import Selection, computed_once, gather_rows
from tgraph.formats.layout import Layout


class FormattedGraph(Graph):
    """A Graph that stores its arcs in a `layout` rather than in CSR.

    Operators over all arcs are computed on the layout (backend "layout"). `offset`, `neighbors` and `weights` are
    decoded at first use and cached: `caches` lists them as "arcs", `drop_caches` frees them.

    Parameters
    ----------
    layout : the arcs. vertices : original ids, as for a Graph, or None. directed : as for a Graph. order : the
        permutation of a reordered graph, as `Graph.permute` keeps it.
    """

    layout: Layout

    def __init__(self, layout: Layout, vertices: Any = None, directed: bool = True, order: Tensor | None = None):
        ids = vertices if vertices is None or isinstance(vertices, VertexIds) else VertexIds(vertices)
        fields = {"layout": layout, "directed": directed, "_ids": ids, "order": order, "_cache": {}}
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    # ---- read from the layout --------------------------------------------------------------------------------------

    @property
    def num_vertices(self) -> int:
        return self.layout.num_vertices

    @property
    def num_arcs(self) -> int:
        return self.layout.num_arcs

    @property
    def device(self) -> torch.device:
        return self.layout.device

    @property
    def weight_dtype(self) -> torch.dtype | None:
        return self.layout.weight_dtype

    @property
    def nbytes(self) -> int:
        """Bytes of the layout and the ids; `caches` lists derived and decoded tensors."""
        return self.layout.nbytes + (0 if self.vertices is None else self.vertices.nbytes)

    @derived
    def out_degree(self) -> Tensor:
        """Arcs that leave each vertex, int64 [n]."""
        return self.layout.out_degree()

    @derived
    def in_degree(self) -> Tensor:
        """Arcs that reach each vertex, int64 [n]."""
        if not self.directed:
            return self.out_degree
        if self._kept_transpose() is not None:
            return self.transpose_detached().out_degree
        return self.layout.in_degree()

    @derived
    def num_self_loops(self) -> int:
        """The number of arcs from a vertex to itself."""
        return self.arc_counts.loops

    @derived
    def num_parallel_edges(self) -> int:
        """The number of edges in excess of one for each pair of vertices."""
        return self.arc_counts.parallel_edges(self.directed)

    @derived
    def arc_counts(self) -> ArcCounts:
        """Self-loops and repeated arcs, counted in chunks of decoded rows."""
        counts = ArcCounts()
        self.layout.scan(counts.see)
        return counts.finish()

    @derived
    def is_symmetric(self) -> bool:
        """True where every arc has its reverse of equal weight, by a 64-bit fingerprint (`core.building.symmetry`)."""
        if not self.directed:
            return True
        mirror = Mirror()

        def see(first_arc: int, first_row: int, offset: Tensor, neighbors: Tensor, weights: Tensor | None) -> None:
            mirror.note(sorting.expand_rows(offset) + first_row, neighbors, weights)

        self.layout.scan(see)
        return mirror.complete

    @derived
    def weight_statistics(self) -> tuple[float, float, float]:
        """(smallest, largest, mean) weight; (1, 1, 1) without weights or arcs."""
        return self.layout.weight_statistics() or (1, 1, 1.0)

    @property
    def weight_range(self) -> tuple[float, float]:
        """(smallest, largest) weight; both NaN where one is NaN; (1, 1) without weights or arcs."""
        return self.weight_statistics[:2]

    @property
    def mean_weight(self) -> float:
        """The mean weight; 1 without weights or arcs."""
        return self.weight_statistics[2]

    # ---- decoded at first use ----------------------------------------------------------------------------------------

    @derived
    def offset(self) -> Tensor:
        """int64 [n + 1], as for the graph in CSR."""
        return self.layout.row_offset()

    @property
    def neighbors(self) -> Tensor:  # type: ignore[override]
        """int32 or int64 [m], as for the graph in CSR."""
        return self._arcs.neighbors

    @property
    def weights(self) -> Tensor | None:  # type: ignore[override]
        """[m] or None, as for the graph in CSR."""
        return self._arcs.weights

    @property
    def _arcs(self) -> Graph:
        """The graph in CSR, without ids."""

        def decode() -> Graph:
            return Graph(*self.layout.to_csr(), directed=self.directed)

        return self.kept("arcs", decode)

    def selection(
        self, rows: Tensor | None = None, *, width: int | None = None, num_arcs: int | None = None
    ) -> Selection:
        """The arcs of the vertices `rows`, int64 [k], or of all; decoded at first use."""
        return DecodedSelection(self, rows, width, num_arcs)

    # ---- derived graphs ----------------------------------------------------------------------------------------------

    def transpose(self) -> Graph:
        """The graph with every arc reversed, in the transposed layout; cached, and itself where it is undirected."""
        return self.transpose_detached()

    def _reversed(self) -> Graph:
        reverse = FormattedGraph(self.layout.transposed(), self._ids)
        reverse._cache["transpose"] = weakref.ref(self)
        return reverse

    def to(self, device: torch.device | str) -> Graph:
        """The same graph on another `device`, in the same layout. Raises ArgumentError for an unavailable device."""
        if (device := devices.available(device)) == self.device:
            return self
        order = None if self.order is None else self.order.to(device)
        return FormattedGraph(self.layout.to(device), self._ids, self.directed, order)

    def to_csr(self) -> Graph:
        """The same graph in CSR."""
        offset, neighbors, weights = self.layout.to_csr()
        return Graph(offset, neighbors, weights, self.vertices, self.directed).with_order(self.order)

    def validate(self) -> Graph:
        """Check every entry of the decoded layout and return the graph. Raises ArgumentError for invalid entries."""
        self.to_csr().validate()
        return self

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, layout {self.layout.name})"


class DecodedSelection(Selection):
    """A selection of rows of a graph in a layout. `neighbors` and `weights` of some rows decode these rows only; the
    stored structure is that of the graph in CSR, which decodes all of them."""

    def __init__(self, graph: FormattedGraph, rows: Tensor | None, width: int | None, num_arcs: int | None):
        self.graph, self.rows, self.width = graph, rows, width
        self._num_arcs = graph.num_arcs if self.is_whole else num_arcs

    @property
    def stored_offset(self) -> Tensor:  # type: ignore[override]
        return self.graph.offset

    @property
    def stored_neighbors(self) -> Tensor:  # type: ignore[override]
        return self.graph.neighbors

    @computed_once
    def _decoded(self) -> tuple[Tensor, Tensor, Tensor | None]:
        """(offset, neighbors, weights) of the rows selected."""
        if self.rows is None:
            offset, neighbors, weights = self.graph.offset, self.graph.neighbors, self.graph.weights
        else:
            offset, neighbors, weights = self.graph.layout.rows(self.rows.to(torch.int64))
        if self.width is None:
            return offset, neighbors, weights
        kept, arcs = gather_rows(offset, None, width=self.width)
        return kept, neighbors.index_select(0, arcs), None if weights is None else weights.index_select(0, arcs)

    @property
    def offset(self) -> Tensor:
        return self._decoded[0]

    @property
    def neighbors(self) -> Tensor:
        return self._decoded[1]

    @property
    def weights(self) -> Tensor | None:  # type: ignore[override]
        return self._decoded[2]

    @computed_once
    def positions(self) -> Tensor | None:
        """Position of each selected arc in CSR, int64 [e], or None where the selection is the whole graph."""
        if self.is_whole:
            return None
        return gather_rows(self.graph.offset, self.rows, num_arcs=self.num_arcs, width=self.width)[1]
