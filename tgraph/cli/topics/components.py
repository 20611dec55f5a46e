"""Components, as commands."""

from tgraph.cli import report, routes, structure
from tgraph.cli.command import Algorithm

COMMANDS = {
    "wcc": Algorithm(
        "WCC",
        "Weakly connected components.",
        report.groups("component", "components"),
        report.group_column("component"),
    ),
    "scc": Algorithm(
        "scc",
        "Strongly connected components.",
        report.groups("component", "components"),
        report.group_column("component"),
    ),
    "condensation": Algorithm(
        "condensation",
        "The graph of the strongly connected components.",
        structure.condensed,
        structure.condensed_frame,
    ),
    "attracting": Algorithm(
        "attracting_components",
        "Strongly connected components that no arc leaves.",
        structure.attracting,
        structure.attracting_frame,
    ),
    "biconnected": Algorithm(
        "biconnected_components",
        "Biconnected components.",
        structure.sets,
        structure.sets_frame,
    ),
    "articulation": Algorithm(
        "articulation_points",
        "Vertices without which their component falls apart.",
        structure.vertices,
        routes.path_frame,
    ),
    "bridges": Algorithm(
        "bridges",
        "Edges that lie on no cycle.",
        structure.pairs,
        structure.pairs_frame,
    ),
}
