"""Whether there are cycles, by the kernels in `cycles.cpp`, and where these give up, by those for all arcs."""

from __future__ import annotations

from tgraph.core.graph import Graph
from tgraph.kernels.native.base.support import compiled, implements, refuses_wide_graph
from tgraph.kernels.native.coloring.two_coloring import color_by_depth
from tgraph.kernels.native.dag.topological import count_in_order
from tgraph.kernels.operators.coloring import two_coloring as two_coloring_operators
from tgraph.kernels.operators.dag import topological as topological_operators


@implements(topological_operators.has_cycle, refuses_wide_graph)
def has_cycle(graph: Graph) -> bool:
    found = compiled().probe_cycle(graph.offset, graph.neighbors)
    return count_in_order(graph)[1] < graph.num_vertices if found < 0 else bool(found)


@implements(two_coloring_operators.has_odd_cycle, refuses_wide_graph)
def has_odd_cycle(graph: Graph) -> bool:
    found = compiled().probe_odd_cycle(graph.offset, graph.neighbors, not graph.directed)
    if found >= 0:
        return bool(found)
    return color_by_depth(graph.to_undirected() if graph.directed else graph)[1] >= 0
