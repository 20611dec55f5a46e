"""Cohesion, as commands."""

from functools import partial

from tgraph import algorithms
from tgraph.cli import report
from tgraph.cli.command import Algorithm

COMMANDS = {
    "triangles": Algorithm(
        partial(algorithms.triangle_count, per_vertex=True),
        "The triangles that every vertex is in.",
        report.triangles,
        report.column("triangles"),
    ),
    "clustering": Algorithm(
        algorithms.local_clustering,
        "How many pairs of neighbours of every vertex are neighbours.",
        report.clustering,
        report.column("clustering"),
    ),
    "cores": Algorithm(
        algorithms.core_number,
        "Core numbers: how deep in the densest part every vertex lies.",
        report.cores,
        report.column("core"),
    ),
}
