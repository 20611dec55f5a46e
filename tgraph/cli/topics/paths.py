"""Searches and paths, as commands."""

from tgraph import algorithms
from tgraph.cli import report
from tgraph.cli.command import Algorithm

COMMANDS = {
    "bfs": Algorithm(
        algorithms.BFS,
        "Hops from one vertex to every other.",
        report.depths,
        report.column("depth"),
        ("source", "max_depth"),
    ),
    "sssp": Algorithm(
        algorithms.SSSP,
        "Shortest distances from one vertex to every other.",
        report.distances,
        report.column("distance"),
        ("source", "delta"),
    ),
}
