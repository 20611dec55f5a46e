"""Colourings, as commands."""

from tgraph import algorithms
from tgraph.cli import report, routes, structure
from tgraph.cli.command import Algorithm

COMMANDS = {
    "color": Algorithm(
        algorithms.greedy_color,
        "Colours such that neighbours differ.",
        structure.colors,
        report.column("color"),
        ("strategy", "seed"),
    ),
    "bipartite": Algorithm(
        algorithms.bipartite_color,
        "The side of every vertex of a bipartite graph.",
        structure.colors,
        report.column("side"),
    ),
    "odd-cycle": Algorithm(
        algorithms.odd_cycle,
        "A cycle of odd length, which no bipartite graph has.",
        structure.cycle,
        routes.path_frame,
    ),
}
