"""Neighbours sampled by the kernel in `neighbors.cpp`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tgraph.kernels.native.base.support import compiled, implements, refuses_data, unavailable
from tgraph.kernels.operators.sampling import neighbors as declared
from tgraph.kernels.operators.sampling.neighbors import Relation, Sampled


def _refuses(relations: list[Relation], *others: Any) -> str | None:
    reasons = (refuses_data(relation.offset) for relation in relations)
    return unavailable() or next((reason for reason in reasons if reason), None)


@implements(declared.sample_neighbors, _refuses)
def sample_neighbors(
    relations: list[Relation],
    seeds: dict[int, Tensor],
    num_types: int,
    hops: int,
    replace: bool,
    disjoint: bool,
    latest: bool,
    latest_time: Tensor | None,
) -> Sampled:
    given = list(seeds.items())
    kernel = compiled().sample_neighbors
    vertices, trees, sizes, *arcs, counts = kernel(
        relations, given, num_types, hops, replace, disjoint, latest, latest_time
    )
    rows, columns, numbers = ([torch.from_numpy(array) for array in arrays] for arrays in arcs)
    held = [torch.from_numpy(array) for array in trees] if disjoint else None
    return Sampled([torch.from_numpy(array) for array in vertices], held, sizes, rows, columns, numbers, counts)
