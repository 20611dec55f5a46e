"""Embeddings, as commands."""

from tgraph import algorithms
from tgraph.cli import wandering
from tgraph.cli.command import Algorithm

COMMANDS = {
    "node2vec": Algorithm(
        algorithms.node2vec,
        "Points of the vertices, by random walks.",
        wandering.points,
        wandering.points_frame,
        ("dimensions", "p", "q", "length", "walks", "window", "epochs", "weighted", "seed"),
    ),
    "spectral-embedding": Algorithm(
        algorithms.spectral_embedding,
        "Points of the vertices, by eigenvectors of the Laplacian.",
        wandering.spectrum,
        wandering.spectrum_frame,
        ("dimensions", "weighted", "tol", "max_iterations"),
    ),
}
