"""Similarity, as commands."""

from tgraph import algorithms
from tgraph.cli import mixing, report
from tgraph.cli.command import Algorithm

COMMANDS = {
    "similar": Algorithm(
        algorithms.most_similar,
        "The vertices most similar to every vertex by their neighbours.",
        mixing.similar,
        mixing.similar_frame,
        ("count", "measure", "new_links"),
    ),
    "simrank": Algorithm(
        algorithms.simrank,
        "SimRank of all pairs of a small graph: similar are those with similar neighbours.",
        mixing.matrix,
        mixing.matrix_frame,
        ("importance_factor", "max_iterations", "tol", "weighted"),
    ),
    "approximate-simrank": Algorithm(
        algorithms.approximate_simrank,
        "SimRank of every vertex to one, off by no more than epsilon.",
        report.ranks,
        report.column("similarity"),
        ("source", "importance_factor", "epsilon", "seed"),
    ),
}
