"""Colourings, as commands."""

from tgraph.cli import report, routes, structure
from tgraph.cli.command import Algorithm

COMMANDS = {
    "color": Algorithm(
        "greedy_color",
        "Colours such that neighbours differ.",
        structure.colors,
        report.column("color"),
        {"strategy": ("largest_first", "smallest_last", "random_sequential"), "seed": 0},
    ),
    "bipartite": Algorithm(
        "bipartite_color",
        "The side of every vertex of a bipartite graph.",
        structure.colors,
        report.column("side"),
    ),
    "odd-cycle": Algorithm(
        "odd_cycle",
        "A cycle of odd length, which no bipartite graph has.",
        structure.cycle,
        routes.path_frame,
    ),
}
