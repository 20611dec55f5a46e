"""What random walks and embeddings found, in lines that a person can check, and the tables that they write."""

from __future__ import annotations

from typing import TYPE_CHECKING

import tgraph as tg
from tgraph.cli import report

if TYPE_CHECKING:
    import pandas
    from torch import Tensor


def walks(graph: tg.Graph, found: Tensor) -> str:
    """How many walks there are, and the vertices that they come to most often."""
    visits = found.flatten().bincount(minlength=graph.num_vertices)
    return f"{len(found):,} walks of {found.shape[1] - 1:,} steps; visits, {report.ranks(graph, visits)}"


def walks_frame(graph: tg.Graph, found: Tensor) -> pandas.DataFrame:
    """A table with a row for each vertex of each walk, in its order: the number of the walk, the step, the original
    id."""

    import pandas
    import torch

    ids = graph.frame(index=torch.arange(graph.num_vertices))["vertex"].to_numpy()
    walk, step = torch.meshgrid(*(torch.arange(size) for size in found.shape), indexing="ij")
    vertices = ids[found.cpu().flatten().numpy()]
    return pandas.DataFrame({"walk": walk.flatten().numpy(), "step": step.flatten().numpy(), "vertex": vertices})


def points(graph: tg.Graph, found: Tensor) -> str:
    """How many dimensions the points of an embedding have, and the two vertices that point the same way most of all, of
    the first thousand."""

    import torch

    if min(found.shape) < 1 or len(found) < 2:
        return f"{len(found):,} points of {found.shape[1]:,} dimensions"
    directions = torch.nn.functional.normalize(found[:1000], dim=1)
    alike = (directions @ directions.T).fill_diagonal_(-torch.inf)
    best = int(alike.argmax())
    first, second = report.names(graph, torch.tensor([best // len(alike), best % len(alike)]))
    return f"{len(found):,} points of {found.shape[1]:,} dimensions; {first} and {second} are near each other"


def points_frame(graph: tg.Graph, found: Tensor) -> pandas.DataFrame:
    """A table with a row for each vertex: its original id, and the coordinates of its point, x0, x1 ..."""
    return graph.frame(**{f"x{i}": column for i, column in enumerate(found.unbind(1))})


def spectrum(graph: tg.Graph, found: tuple[Tensor, Tensor]) -> str:
    """The eigenvalues of an embedding, and its points as above."""
    listed = ", ".join(f"{value:.4g}" for value in found[1].tolist())
    return f"eigenvalues {listed}; {points(graph, found[0])}"


def spectrum_frame(graph: tg.Graph, found: tuple[Tensor, Tensor]) -> pandas.DataFrame:
    """A table of the points."""
    return points_frame(graph, found[0])
