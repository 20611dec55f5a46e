"""Samples of vertices, arcs and pairs, but for those of neighbors, by the kernels beside this file."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tgraph.core.system.pages import fresh
from tgraph.kernels.native.base.support import compiled, implements, refuses_data, refuses_first
from tgraph.kernels.operators.sampling import labor as labor_operators
from tgraph.kernels.operators.sampling import members as members_operators
from tgraph.kernels.operators.sampling import negatives as negatives_operators
from tgraph.kernels.operators.sampling import places as places_operators
from tgraph.kernels.operators.sampling import push as push_operators
from tgraph.kernels.operators.sampling import visits as visits_operators
from tgraph.kernels.operators.sampling.visits import Step


@implements(labor_operators.least_arcs, refuses_first)
def least_arcs(offset: Tensor, neighbors: Tensor, rows: Tensor, count: int, key: int) -> tuple[Tensor, Tensor]:
    found, arcs = fresh((len(rows),), torch.int64), fresh((len(rows), count), torch.int64)
    compiled().least_arcs(offset, neighbors, rows, count, key, arcs, found)
    return found, filled(arcs, found)


@implements(members_operators.arcs_from, refuses_first)
def arcs_from(offset: Tensor, neighbors: Tensor, rows: Tensor, sources: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    found = fresh((len(rows),), torch.int64)
    arcs, places = compiled().arcs_from(offset, neighbors, rows, sources, found)
    return found, torch.from_numpy(arcs), torch.from_numpy(places)


@implements(negatives_operators.sample_negatives, refuses_first)
def sample_negatives(
    offset: Tensor,
    neighbors: Tensor,
    num_columns: int,
    loops: Tensor | None,
    sources: Tensor | None,
    count: int,
    by_degree: bool,
    key: int,
) -> Tensor:
    pairs = fresh((2, count), torch.int64)
    compiled().sample_negatives(offset, neighbors, num_columns, loops, sources, by_degree, key, pairs[0], pairs[1])
    return pairs


@implements(places_operators.number_vertices, lambda known, vertices: refuses_data(vertices))
def number_vertices(known: Tensor, vertices: Tensor) -> tuple[Tensor, Tensor]:
    places = torch.empty(len(vertices), dtype=torch.int64, device="cpu")
    kernel = compiled().number_vertices
    return places, torch.from_numpy(kernel(known, vertices, places))


@implements(push_operators.push_residuals, refuses_first)
def push_residuals(
    offset: Tensor, neighbors: Tensor, seeds: Tensor, alpha: float, epsilon: float, count: int
) -> tuple[Tensor, Tensor, Tensor]:
    count = min(count, len(offset) - 1)
    found, vertices = fresh((len(seeds),), torch.int64), fresh((len(seeds), count), torch.int64)
    scores = fresh((len(seeds), count), torch.float64)
    compiled().push_residuals(offset, neighbors, seeds, alpha, epsilon, count, vertices, scores, found)
    return found, filled(vertices, found), filled(scores, found)


def _refuses(steps: list[Step], start: Tensor, *others: Any) -> str | None:
    reasons = (refuses_data(step.offset) for step in steps)
    return refuses_data(start) or next((reason for reason in reasons if reason), None)


@implements(visits_operators.most_visited, _refuses)
def most_visited(
    steps: list[Step],
    start: Tensor,
    first: int,
    walks: int,
    traversals: int,
    termination: float,
    count: int,
    key: int,
) -> tuple[Tensor, Tensor, Tensor]:
    count = min(count, walks * traversals)
    found, vertices = fresh((len(start),), torch.int64), fresh((len(start), count), torch.int64)
    visits = fresh((len(start), count), torch.float32)
    held = [(offset.contiguous(), neighbors.contiguous(), *weights) for offset, neighbors, *weights in steps]
    compiled().most_visited(
        held, start.contiguous(), first, walks, traversals, termination, count, key, vertices, visits, found
    )
    return found, filled(vertices, found), filled(visits, found)


def filled(table: Tensor, found: Tensor) -> Tensor:
    """The first `found` entries of each row, one row after the other."""
    return table[torch.arange(table.shape[1], device="cpu") < found[:, None]]
