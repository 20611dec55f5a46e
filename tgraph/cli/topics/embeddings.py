"""Embeddings, as commands."""

from tgraph.cli import wandering
from tgraph.cli.command import Algorithm

COMMANDS = {
    "node2vec": Algorithm(
        "node2vec",
        "Points of the vertices, by random walks.",
        wandering.points,
        wandering.points_frame,
        {
            "dimensions": 128,
            "p": 1.0,
            "q": 1.0,
            "length": 80,
            "walks": 10,
            "window": 10,
            "epochs": 1,
            "weighted": False,
            "seed": 0,
        },
    ),
    "spectral-embedding": Algorithm(
        "spectral_embedding",
        "Points of the vertices, by eigenvectors of the Laplacian.",
        wandering.spectrum,
        wandering.spectrum_frame,
        {"dimensions": 2, "weighted": False, "tol": 1e-07, "max_iterations": 1000},
    ),
}
