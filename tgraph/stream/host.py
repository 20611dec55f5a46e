"""The arcs of a graph in host memory as blocks, for a device that cannot hold them all."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tgraph.graph import Graph
from tgraph.stream.blocks import Block, BlockFile
from tgraph.stream.container import SECTIONS, Extent, places


class HostBlocks(BlockFile):
    """A graph in memory that is read as a file is: block by block into a caller's buffer.

    graph : on the CPU, as it was partitioned. bounds : int64 [p + 1], where the blocks of its arcs begin.
    transpose_bounds : the same of its transpose, for a directed graph; by default as many blocks of equal size.
    """

    def __init__(self, graph: Graph, bounds: Tensor, transpose_bounds: Tensor | None = None):
        self.path, self.direct = "the graph in memory", False
        self._graph = graph
        self._graphs = (graph, graph.transpose_detached()) if graph.directed else (graph,)
        self.num_vertices, self.num_arcs, self.directed = graph.num_vertices, graph.num_arcs, graph.directed
        self.neighbor_dtype, self.weight_dtype = graph.neighbors.dtype, graph.weight_dtype
        if transpose_bounds is None:
            count = max(len(bounds) - 1, 1)
            transpose_bounds = torch.arange(count + 1, device=bounds.device) * self.num_arcs // count
        pairs = zip(self._graphs, (bounds, transpose_bounds), strict=False)
        self.index = [extent for section, pair in enumerate(pairs) for extent in self._extents(section, *pair)]

    def _extents(self, section: int, graph: Graph, bounds: Tensor) -> list[Extent]:
        """What each block of a section holds; a block without arcs has no rows."""
        begin, end = bounds[:-1], bounds[1:]
        first_row = torch.searchsorted(graph.offset, begin, right=True) - 1
        end_row = torch.where(end > begin, torch.searchsorted(graph.offset, end), first_row)
        held = torch.stack((first_row, end_row, begin, end), 1).tolist()
        return [Extent(section, *block, 0, self._nbytes(*block), 0) for block in held]

    def _nbytes(self, first_row: int, end_row: int, first_arc: int, end_arc: int) -> int:
        return places(end_row - first_row, end_arc - first_arc, self.neighbor_dtype, self.weight_dtype).nbytes

    def close(self) -> None:
        """Nothing is open."""

    def offset(self, section: str = "rows") -> Tensor:
        """Where the arcs of each vertex begin in the section, int64 [n + 1]."""
        return self._graphs[SECTIONS.index(section)].offset

    @property
    def order(self) -> Tensor | None:
        """The order of the graph, as `Graph.permute` keeps it."""
        return self._graph.order

    @property
    def vertices(self) -> Any:
        """The ids of the graph."""
        return self._graph.vertices

    def read(self, block: int, memory: Tensor) -> Block:
        """Copy a block into `memory`, uint8 [at least `index[block].nbytes`], and give views of it."""
        views, extent = self.views(block, memory), self.index[block]
        graph = self._graphs[extent.section]
        stored = graph.offset[extent.first_row : extent.end_row + 1]
        torch.clamp(stored, extent.first_arc, extent.end_arc, out=views.offset).sub_(extent.first_arc)
        views.neighbors.copy_(graph.neighbors[extent.first_arc : extent.end_arc])
        if views.weights is not None and graph.weights is not None:
            views.weights.copy_(graph.weights.detach()[extent.first_arc : extent.end_arc])
        return views
