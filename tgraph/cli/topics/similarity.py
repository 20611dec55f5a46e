"""Similarity, as commands."""

from tgraph import algorithms
from tgraph.cli import mixing
from tgraph.cli.command import Algorithm

COMMANDS = {
    "similar": Algorithm(
        algorithms.most_similar,
        "The vertices most similar to every vertex by their neighbours.",
        mixing.similar,
        mixing.similar_frame,
        ("count", "measure", "new_links"),
    ),
}
