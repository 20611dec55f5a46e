"""Trees, sets and matchings, as commands."""

from tgraph.cli import sets
from tgraph.cli.command import Algorithm

COMMANDS = {
    "spanning-forest": Algorithm(
        "minimum_spanning_forest",
        "The lightest edges that keep every component connected.",
        sets.subgraph,
        sets.edge_frame,
    ),
    "independent-set": Algorithm(
        "maximal_independent_set",
        "Vertices of which no two are neighbours, as many as fit.",
        sets.vertices("an independent set"),
        sets.vertex_frame,
        {"seed": 0},
    ),
    "dominating-set": Algorithm(
        "dominating_set",
        "Vertices that reach every other by an arc.",
        sets.vertices("a dominating set"),
        sets.vertex_frame,
    ),
    "vertex-cover": Algorithm(
        "vertex_cover",
        "Vertices of which every edge has one, at most twice as many as needed.",
        sets.vertices("a cover"),
        sets.vertex_frame,
        {"seed": 0},
    ),
    "bipartite-cover": Algorithm(
        "minimum_vertex_cover",
        "The fewest vertices of which every edge of a bipartite graph has one.",
        sets.vertices("a cover"),
        sets.vertex_frame,
    ),
    "matching": Algorithm(
        "maximal_matching",
        "Edges no two of which share a vertex, as many as fit.",
        sets.matching,
        sets.matching_frame,
        {"seed": 0},
    ),
    "heavy-matching": Algorithm(
        "heavy_matching",
        "A matching of at least half of the largest weight.",
        sets.matching,
        sets.matching_frame,
    ),
    "bipartite-matching": Algorithm(
        "maximum_bipartite_matching",
        "A matching of the most edges, of a bipartite graph.",
        sets.matching,
        sets.matching_frame,
    ),
}
