"""Cohesion: triangles, cliques, cores, trusses, dense subgraphs."""

from tgraph.algorithms.cohesion.cliques import k_clique_count, max_clique, maximal_clique_sizes, maximal_cliques
from tgraph.algorithms.cohesion.clustering import (
    average_clustering,
    clustering,
    local_clustering,
    square_clustering,
    transitivity,
)
from tgraph.algorithms.cohesion.cores import core_number, k_core, k_shell, onion_layers
from tgraph.algorithms.cohesion.densest import densest_subgraph
from tgraph.algorithms.cohesion.motifs import motif_counts, triadic_census
from tgraph.algorithms.cohesion.rich_club import rich_club_coefficient
from tgraph.algorithms.cohesion.triangles import triangle_count
from tgraph.algorithms.cohesion.trusses import k_truss, truss_number

__all__ = [
    "average_clustering",
    "clustering",
    "core_number",
    "densest_subgraph",
    "k_clique_count",
    "k_core",
    "k_shell",
    "k_truss",
    "local_clustering",
    "max_clique",
    "maximal_clique_sizes",
    "maximal_cliques",
    "motif_counts",
    "onion_layers",
    "rich_club_coefficient",
    "square_clustering",
    "transitivity",
    "triadic_census",
    "triangle_count",
    "truss_number",
]
