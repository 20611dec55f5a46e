"""Random walks, as commands."""

from tgraph import algorithms
from tgraph.cli import wandering
from tgraph.cli.command import Algorithm

COMMANDS = {
    "random-walks": Algorithm(
        algorithms.random_walks,
        "Random walks from every vertex.",
        wandering.walks,
        wandering.walks_frame,
        ("length", "walks", "weighted", "seed"),
    ),
    "node2vec-walks": Algorithm(
        algorithms.node2vec_walks,
        "Random walks that stay near or lead away, as node2vec has them.",
        wandering.walks,
        wandering.walks_frame,
        ("length", "p", "q", "walks", "weighted", "seed"),
    ),
    "walks-with-restart": Algorithm(
        algorithms.walks_with_restart,
        "Random walks that go back to their start now and then.",
        wandering.walks,
        wandering.walks_frame,
        ("length", "restart", "walks", "weighted", "seed"),
    ),
}
