"""The arcs of a graph in host memory as blocks, for a device that cannot hold them all."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.stream.file.blocks import BlockFile
from tgraph.stream.file.container import SECTIONS, Extent
from tgraph.stream.file.writing import ArcRange, GraphInfo, balanced_bounds, block_size, cut, local_offset


class HostBlocks(BlockFile):
    """A graph in host memory with the interface of a `BlockFile`: read block by block into a caller's buffer.

    graph : on the CPU, in the order of its partition. bounds : int64 [p + 1], where the blocks of its arcs begin.
    transpose_bounds : the same of its transpose, for a directed graph; by default as many blocks of equal size.

    Raises ArgumentError for offsets that are damaged.
    """

    def __init__(self, graph: Graph, bounds: Tensor, transpose_bounds: Tensor | None = None):
        self.path, self.direct = "the graph in memory", False
        self._graph = graph
        self._graphs = (graph, graph.transpose_detached()) if graph.directed else (graph,)
        self.num_vertices, self.num_arcs, self.directed = graph.num_vertices, graph.num_arcs, graph.directed
        self.neighbor_dtype, self.weight_dtype = graph.neighbors.dtype, graph.weight_dtype
        if transpose_bounds is None:
            transpose_bounds = balanced_bounds(self._graphs[-1].offset, len(bounds) - 1)
        info = GraphInfo(self.num_vertices, self.num_arcs, self.directed, self.neighbor_dtype, self.weight_dtype)
        self.index: list[Extent] = []
        for section, (each, ends) in enumerate(zip(self._graphs, (bounds, transpose_bounds), strict=False)):
            each.ensure_valid()
            blocks = cut(each.offset, ends)
            self.index += [Extent(section, *block, 0, block_size(block, info), 0) for block in blocks]

    def close(self) -> None:
        """Nothing to close."""

    def offset(self, section: str = "rows") -> Tensor:
        """Offsets of the rows of the section, int64 [n + 1]."""
        return self._graphs[SECTIONS.index(section)].offset

    @property
    def weight_statistics(self) -> tuple[float, float, float] | None:
        """(smallest, largest, mean) weight of the graph; None without weights or arcs."""
        if self._graph.weights is None or not self.num_arcs:
            return None
        return (*self._graph.weight_range, self._graph.mean_weight)

    @property
    def order(self) -> Tensor | None:
        """The order of the graph, see `Graph.permute`."""
        return self._graph.order

    @property
    def vertices(self) -> Any:
        """The ids of the graph."""
        return self._graph.vertices

    def identity(self) -> list[Tensor]:
        """The arcs of the graph, independent of how they are cut into blocks."""
        graph = self._graph
        return [graph.offset, graph.neighbors, *([] if graph.weights is None else [graph.weights])]

    def fetch(self, block: int, memory: Tensor) -> None:
        """Copy a block into `memory`, uint8 [at least `index[block].nbytes`]."""
        views, extent = self.views(block, memory), self.index[block]
        graph = self._graphs[extent.section]
        views.offset.copy_(local_offset(graph.offset, ArcRange(*extent[1:5])))
        views.neighbors.copy_(graph.neighbors[extent.first_arc : extent.end_arc])
        if views.weights is not None and graph.weights is not None:
            views.weights.copy_(graph.weights.detach()[extent.first_arc : extent.end_arc])

    def verify(self, block: int, memory: Tensor) -> None:
        """Nothing to verify: blocks are copied from memory."""
