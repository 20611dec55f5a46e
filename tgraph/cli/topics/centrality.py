"""Centralities, as commands."""

from tgraph import algorithms
from tgraph.cli import report
from tgraph.cli.command import Algorithm

COMMANDS = {
    "pagerank": Algorithm(
        algorithms.PageRank,
        "PageRank of every vertex.",
        report.ranks,
        report.column("rank"),
        ("damping", "tol", "max_iterations", "weighted"),
    ),
    "hits": Algorithm(
        algorithms.HITS,
        "Hub and authority scores of every vertex.",
        report.hubs,
        report.columns,
        ("tol", "max_iterations", "weighted"),
    ),
    "betweenness": Algorithm(
        algorithms.betweenness,
        "How many shortest paths pass through every vertex.",
        report.ranks,
        report.column("betweenness"),
        ("k", "seed", "normalized", "endpoints"),
    ),
}
