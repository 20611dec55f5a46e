"""Searches from many sources at once in torch operators: all rows gather from their in-neighbours, level by level."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.dispatch import operator
from tgraph.core.graph import Graph
from tgraph.core.system import devices
from tgraph.kernels.operators.aggregation.aggregation import reduce_rows
from tgraph.kernels.reductions import REDUCTIONS

MESSAGES = 1 << 24  # gathered at once


@operator
def count_levels(graph: Graph, sources: Tensor) -> Tensor:
    """See `tgraph.primitives.multi_source.level_counts`."""
    together = max(1, MESSAGES // max(graph.num_arcs, graph.num_vertices, 1))
    found = [_count(graph, group) for group in sources.split(together)] if len(sources) else []
    levels = max((counts.shape[1] for counts in found), default=0)
    empty = sources.new_zeros((0, levels))
    return torch.cat([empty, *(torch.nn.functional.pad(part, (0, levels - part.shape[1])) for part in found)])


@operator
def count_hops(graph: Graph, sources: Tensor) -> Tensor:
    """See `tgraph.primitives.multi_source.hops`."""
    together = max(1, MESSAGES // max(graph.num_arcs, graph.num_vertices, 1))
    distance = torch.full((len(sources), graph.num_vertices), -1, dtype=torch.int32, device=graph.device)
    for group, found in zip(sources.split(together), distance.split(together), strict=True):
        for level, front in enumerate(_fronts(graph, group)):
            found.masked_fill_(front.T.bool(), level)
    return distance


@operator
def lengths(graph: Graph, sources: Tensor, weights: Tensor, width: float) -> Tensor:
    """See `tgraph.primitives.multi_source.lengths`; the weights [m] are of the dtype of the distances, as is the width
    of a bucket, which changes the work alone."""
    source, target = graph.to_edge_index().unbind(0)
    unreached = torch.inf if weights.is_floating_point() else torch.iinfo(weights.dtype).max
    distance = weights.new_full((len(sources), graph.num_vertices), unreached)
    distance[torch.arange(len(sources), device=graph.device), sources] = 0
    while True:
        sent = distance.index_select(1, source)
        sums = torch.where(sent == unreached, sent, sent + weights)
        after = distance.scatter_reduce(1, target.expand_as(sums), sums, "amin")
        if torch.equal(after, distance):
            return distance if weights.is_floating_point() else distance.masked_fill_(distance == unreached, -1)
        distance = after


def _count(graph: Graph, sources: Tensor) -> Tensor:
    return torch.stack([front.sum(0, dtype=torch.int64) for front in _fronts(graph, sources)], dim=1)


def _fronts(graph: Graph, sources: Tensor) -> Iterator[Tensor]:
    """Which vertices lie at each distance from each source, 0 or 1, int32 [n, k] for one distance after another."""
    reverse = graph.transpose()
    row = sorting.expand_rows(reverse.offset)
    front = torch.zeros((graph.num_vertices, len(sources)), dtype=torch.int32, device=graph.device)
    front[sources, torch.arange(len(sources), device=graph.device)] = 1
    seen = front.clone()
    while bool(front.any()):
        devices.end_round(graph.device)
        yield front
        sent = front.index_select(0, reverse.neighbors)
        front = reduce_rows(sent, reverse.offset, lambda: row, REDUCTIONS["sum"]).clamp(max=1) * (1 - seen)
        seen += front
