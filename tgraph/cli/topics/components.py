"""Components, as commands."""

from tgraph import algorithms
from tgraph.cli import report, routes, structure
from tgraph.cli.command import Algorithm

COMMANDS = {
    "wcc": Algorithm(
        algorithms.WCC,
        "Weakly connected components.",
        report.groups("component", "components"),
        report.group_column("component"),
    ),
    "scc": Algorithm(
        algorithms.scc,
        "Strongly connected components.",
        report.groups("component", "components"),
        report.group_column("component"),
    ),
    "condensation": Algorithm(
        algorithms.condensation,
        "The graph of the strongly connected components.",
        structure.condensed,
        structure.condensed_frame,
    ),
    "attracting": Algorithm(
        algorithms.attracting_components,
        "Strongly connected components that no arc leaves.",
        structure.attracting,
        structure.attracting_frame,
    ),
    "biconnected": Algorithm(
        algorithms.biconnected_components,
        "Biconnected components.",
        structure.sets,
        structure.sets_frame,
    ),
    "articulation": Algorithm(
        algorithms.articulation_points,
        "Vertices without which their component falls apart.",
        structure.vertices,
        routes.path_frame,
    ),
    "bridges": Algorithm(
        algorithms.bridges,
        "Edges that lie on no cycle.",
        structure.pairs,
        structure.pairs_frame,
    ),
}
