"""Steps that graph algorithms share and that no composition of the five operators does as fast.

Each is one function on a graph and tensors, served by the backends as `aggregate` is, with a portable twin.
"""

from tgraph.core.building import memory
from tgraph.primitives import (
    attention,
    calls,
    coloring,
    components,
    edges,
    flow,
    gauss_seidel,
    implicit,
    linear,
    matching,
    repulsion,
    row_similarity,
    simple_graph,
    union_find,
    values,
    walks,
    weights,
)
from tgraph.primitives.centrality import level_accumulate, multi_source, path_counts, sample_paths
from tgraph.primitives.cohesion import cliques, intersect, k_core, k_truss, triangle_edges
from tgraph.primitives.community import communities, label_propagation
from tgraph.primitives.dag import topological
from tgraph.primitives.paths import all_pairs, search, shortest_paths
from tgraph.primitives.sets import independent_set
from tgraph.primitives.structure import correlation, line_graph, mutual
from tgraph.primitives.trees import spanning_forest

__all__ = [
    "all_pairs",
    "attention",
    "calls",
    "cliques",
    "coloring",
    "communities",
    "components",
    "correlation",
    "edges",
    "flow",
    "gauss_seidel",
    "implicit",
    "independent_set",
    "intersect",
    "k_core",
    "k_truss",
    "label_propagation",
    "level_accumulate",
    "line_graph",
    "linear",
    "matching",
    "multi_source",
    "mutual",
    "path_counts",
    "repulsion",
    "row_similarity",
    "sample_paths",
    "search",
    "shortest_paths",
    "simple_graph",
    "spanning_forest",
    "topological",
    "triangle_edges",
    "union_find",
    "values",
    "walks",
    "weights",
]

for _name in __all__:
    memory.guard(vars(globals()[_name]))
