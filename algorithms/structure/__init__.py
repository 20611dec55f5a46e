"""Structure: parts and combinations of graphs, and how degrees and attributes are mixed."""

from tgraph.algorithms.structure.degrees import PowerLaw, degree_distribution, power_law_fit, power_law_p_value
from tgraph.algorithms.structure.mixing import (
    attribute_assortativity,
    average_neighbor_degree,
    degree_assortativity,
    numeric_assortativity,
    reciprocity,
)
from tgraph.algorithms.structure.neighborhoods import ego_graph, induced_subgraph, k_hop
from tgraph.algorithms.structure.quotients import line_graph, quotient_graph
from tgraph.algorithms.structure.sets import (
    complement,
    compose,
    difference,
    disjoint_union,
    intersection,
    symmetric_difference,
    union,
)

__all__ = [
    "PowerLaw",
    "attribute_assortativity",
    "average_neighbor_degree",
    "complement",
    "compose",
    "degree_assortativity",
    "degree_distribution",
    "difference",
    "disjoint_union",
    "ego_graph",
    "induced_subgraph",
    "intersection",
    "k_hop",
    "line_graph",
    "numeric_assortativity",
    "power_law_fit",
    "power_law_p_value",
    "quotient_graph",
    "reciprocity",
    "symmetric_difference",
    "union",
]
