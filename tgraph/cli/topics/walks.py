"""Random walks, as commands."""

from tgraph.cli import wandering
from tgraph.cli.command import Algorithm

COMMANDS = {
    "random-walks": Algorithm(
        "random_walks",
        "Random walks from every vertex.",
        wandering.walks,
        wandering.walks_frame,
        {"length": 80, "walks": 1, "weighted": False, "seed": 0},
    ),
    "node2vec-walks": Algorithm(
        "node2vec_walks",
        "Random walks that stay near or lead away, as node2vec has them.",
        wandering.walks,
        wandering.walks_frame,
        {"length": 80, "p": 1.0, "q": 1.0, "walks": 1, "weighted": False, "seed": 0},
    ),
    "walks-with-restart": Algorithm(
        "walks_with_restart",
        "Random walks that go back to their start now and then.",
        wandering.walks,
        wandering.walks_frame,
        {"length": 80, "restart": 0.15, "walks": 1, "weighted": False, "seed": 0},
    ),
}
