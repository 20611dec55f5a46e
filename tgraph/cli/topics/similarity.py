"""Similarity, as commands."""

from tgraph.cli import mixing, report
from tgraph.cli.command import Algorithm

COMMANDS = {
    "similar": Algorithm(
        "most_similar",
        "The vertices most similar to every vertex by their neighbours.",
        mixing.similar,
        mixing.similar_frame,
        {"count": 10, "measure": "jaccard", "new_links": False},
    ),
    "simrank": Algorithm(
        "simrank",
        "SimRank of all pairs of a small graph: similar are those with similar neighbours.",
        mixing.matrix,
        mixing.matrix_frame,
        {"importance_factor": 0.9, "max_iterations": 1000, "tol": 0.0001, "weighted": False},
    ),
    "approximate-simrank": Algorithm(
        "approximate_simrank",
        "SimRank of every vertex to one, off by no more than epsilon.",
        report.ranks,
        report.column("similarity"),
        {"source": None, "importance_factor": 0.9, "epsilon": 0.05, "seed": 0},
    ),
}
