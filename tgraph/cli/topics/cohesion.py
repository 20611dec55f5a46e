"""Cohesion, as commands."""

from tgraph.cli import report, sets
from tgraph.cli.command import Algorithm

COMMANDS = {
    "triangles": Algorithm(
        "triangle_count",
        "The triangles that every vertex is in.",
        report.triangles,
        report.column("triangles"),
        given={"per_vertex": True},
    ),
    "clustering": Algorithm(
        "local_clustering",
        "How many pairs of neighbours of every vertex are neighbours.",
        report.clustering,
        report.column("clustering"),
    ),
    "directed-clustering": Algorithm(
        "clustering",
        "The same by directed triangles, or by weights.",
        report.clustering,
        report.column("clustering"),
        {"weighted": False},
    ),
    "square-clustering": Algorithm(
        "square_clustering",
        "How many squares at every vertex are there of those that could be.",
        report.clustering,
        report.column("clustering"),
    ),
    "transitivity": Algorithm(
        "transitivity",
        "The fraction of the paths of two edges that are closed.",
        sets.number("transitivity"),
        sets.number_frame,
    ),
    "cores": Algorithm(
        "core_number",
        "Core numbers: how deep in the densest part every vertex lies.",
        report.cores,
        report.column("core"),
    ),
    "onion": Algorithm(
        "onion_layers",
        "Layers of the onion decomposition: how early every vertex is peeled.",
        report.ranks,
        report.column("layer"),
    ),
    "trusses": Algorithm(
        "truss_number",
        "Truss numbers: how deep in a part full of triangles every edge lies.",
        sets.trusses,
        sets.arcs("truss"),
    ),
    "cliques": Algorithm(
        "maximal_cliques",
        "All maximal cliques.",
        sets.cliques,
        sets.clique_frame,
    ),
    "max-clique": Algorithm(
        "max_clique",
        "A largest clique.",
        sets.vertices("a clique"),
        sets.vertex_frame,
    ),
    "densest": Algorithm(
        "densest_subgraph",
        "A subgraph of at least half of the largest density, or of the largest.",
        sets.densest,
        sets.densest_frame,
        {"method": ("greedy", "exact")},
    ),
    "motifs": Algorithm(
        "motif_counts",
        "How many sets of four vertices are joined in each way.",
        sets.counts,
        sets.count_frame,
    ),
    "triads": Algorithm(
        "triadic_census",
        "How many sets of three vertices are joined in each directed way.",
        sets.counts,
        sets.count_frame,
    ),
    "rich-club": Algorithm(
        "rich_club_coefficient",
        "How densely the vertices above each degree are joined.",
        *sets.by_index("degree"),
    ),
}
