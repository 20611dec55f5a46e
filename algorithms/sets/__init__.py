"""Sets of vertices: independent sets, dominating sets, vertex covers."""

from tgraph.algorithms.sets.dominating import dominating_set
from tgraph.algorithms.sets.independent import maximal_independent_set
from tgraph.algorithms.sets.vertex_cover import vertex_cover

__all__ = ["dominating_set", "maximal_independent_set", "vertex_cover"]
