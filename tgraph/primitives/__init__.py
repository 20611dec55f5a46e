"""Steps that graph algorithms share and that no composition of the five operators does as fast.

Each is one function on a graph and tensors, served by the backends as `aggregate` is, with a portable twin.
"""

from tgraph.primitives import (
    attention,
    edges,
    flow,
    gauss_seidel,
    intersect,
    k_core,
    label_propagation,
    level_accumulate,
    linear,
    multi_source,
    repulsion,
    row_similarity,
    shortest_paths,
    union_find,
    values,
)

__all__ = [
    "attention",
    "edges",
    "flow",
    "gauss_seidel",
    "intersect",
    "k_core",
    "label_propagation",
    "level_accumulate",
    "linear",
    "multi_source",
    "repulsion",
    "row_similarity",
    "shortest_paths",
    "union_find",
    "values",
]
