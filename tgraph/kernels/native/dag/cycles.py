"""Whether there are cycles, by the kernels in `cycles.cpp`, and where these give up, by those for all arcs."""

from __future__ import annotations

from typing import Any, cast

from tgraph.core.graph import Graph
from tgraph.core.system import native
from tgraph.kernels.native.coloring.two_coloring import color_by_depth
from tgraph.kernels.native.dag.topological import count_in_order


def has_cycle(graph: Graph) -> bool:
    """See `tgraph.primitives.topological.has_cycle`."""
    found = cast(Any, native.load()).probe_cycle(graph.offset, graph.neighbors)
    return count_in_order(graph)[1] < graph.num_vertices if found < 0 else bool(found)


def has_odd_cycle(graph: Graph) -> bool:
    """See `tgraph.primitives.coloring.has_odd_cycle`."""
    found = cast(Any, native.load()).probe_odd_cycle(graph.offset, graph.neighbors, not graph.directed)
    if found >= 0:
        return bool(found)
    return color_by_depth(graph.to_undirected() if graph.directed else graph)[1] >= 0
