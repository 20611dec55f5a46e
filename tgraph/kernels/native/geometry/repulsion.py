"""`sorted_repulsion` compiled: a quadtree, and all points on all threads."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.kernels.native.base.support import compiled, implements, refuses_tensors
from tgraph.kernels.operators.geometry import repulsion as declared


def refuses(code: Tensor, points: Tensor, mass: Tensor, width: float, theta: float) -> str | None:
    """Why points are not supported, None if they are."""
    return refuses_tensors(code, points, mass)


@implements(declared.sorted_repulsion, refuses)
def sorted_repulsion(code: Tensor, points: Tensor, mass: Tensor, width: float, theta: float) -> Tensor:
    forces = torch.empty_like(points)
    compiled().repulsion(code, points.view(-1), mass, width, theta, forces.view(-1))
    return forces
