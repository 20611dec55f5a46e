"""What random walks and embeddings found, in lines that a person can check, and the tables that they write."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

import tgraph as tg
from tgraph.cli import report

if TYPE_CHECKING:
    import pandas


def walks(graph: tg.Graph, found: Tensor) -> str:
    """How many walks there are, and the vertices that they come to most often."""
    visits = found.flatten().bincount(minlength=graph.num_vertices)
    return f"{len(found):,} walks of {found.shape[1] - 1:,} steps; visits, {report.ranks(graph, visits)}"


def walks_frame(graph: tg.Graph, found: Tensor) -> pandas.DataFrame:
    """A table with a row for each vertex of each walk, in its order: the number of the walk, the step, the original
    id."""
    import pandas

    ids = graph.frame(index=torch.arange(graph.num_vertices))["vertex"].to_numpy()
    walk, step = torch.meshgrid(*(torch.arange(size) for size in found.shape), indexing="ij")
    vertices = ids[found.cpu().flatten().numpy()]
    return pandas.DataFrame({"walk": walk.flatten().numpy(), "step": step.flatten().numpy(), "vertex": vertices})
