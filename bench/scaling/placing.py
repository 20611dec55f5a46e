"""The partitions that are measured, each as the owners of vertices and the ranks of arcs."""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt

import torch
from torch import Tensor

import tgraph as tg
from bench.scaling.volumes import Volumes, count
from tgraph.distributed.parts.partitions import Placement, cut_hubs, two_dimensional
from tgraph.stream.partitioning.parts import Parts

CHUNK = 2**22

# Arcs of the largest graph that a partition is made of: METIS and the well-connected parts take longer than the rest.
LARGEST = dict.fromkeys(("metis", "wcp", "wcp hubs"), 4_000_000)


def measure(graph: tg.Graph, method: str, parts: int, number: Tensor | None = None) -> Volumes:
    """The volumes of a graph partitioned by one of METHODS. number : of the vertices, see `count`."""
    return METHODS[method](graph, parts, number)


def by_rows(method: str) -> Callable[[tg.Graph, int, Tensor | None], Volumes]:
    """A method of tgraph.stream: the arcs that lead to a vertex lie together, unless a bound cuts a hub."""

    def measured(graph: tg.Graph, parts: int, number: Tensor | None) -> Volumes:
        into = graph.transpose()
        found: Parts = tg.stream.partition(into, parts, method)
        ordered = found.apply(into)
        if number is not None and found.order is not None:
            number = number[found.order]
        return count(ordered, found.part_of(ordered).short(), found.part_of_arcs().short(), parts, number)

    return measured


def by_ends(place: Callable[[tg.Graph, int], Placement]) -> Callable[[tg.Graph, int, Tensor | None], Volumes]:
    """A placement of tgraph.distributed, in the given order of the vertices."""

    def measured(graph: tg.Graph, parts: int, number: Tensor | None) -> Volumes:
        return placed(graph, place(graph, parts), number)

    return measured


def well_connected_hubs(graph: tg.Graph, parts: int, number: Tensor | None) -> Volumes:
    """The owners of a well-connected partition, and hubs cut."""
    found = tg.stream.partition(graph.transpose(), parts, "wcp")
    if found.order is not None:
        graph, number = graph.permute(found.order), None if number is None else number[found.order]
    owner = found.part_of(graph.transpose())
    bounds = torch.searchsorted(owner, torch.arange(parts + 1))
    return placed(graph, cut_hubs(graph, parts, bounds=bounds), number)


def placed(graph: tg.Graph, placement: Placement, number: Tensor | None) -> Volumes:
    into, owner = graph.transpose(), placement.owner(torch.arange(graph.num_vertices)).short()
    return count(into, owner, ranks(placement, into), len(placement), number)


def ranks(placement: Placement, into: tg.Graph) -> Tensor:
    """The rank of each arc, int16 [m], of a graph with arcs by target."""
    found = torch.empty(into.num_arcs, dtype=torch.int16)
    for begin in range(0, into.num_arcs, CHUNK):
        source = into.neighbors[begin : begin + CHUNK]
        position = torch.arange(begin, begin + len(source))
        target = torch.searchsorted(into.offset, position, right=True, out_int32=True) - 1
        found[begin : begin + len(source)] = placement.rank(source, target)
    return found


def grid(graph: tg.Graph, parts: int) -> Placement:
    return two_dimensional(graph, grid_rows(parts), parts // grid_rows(parts))


def grid_rows(parts: int) -> int:
    """The rows of a grid of a power of two: sqrt(p), or sqrt(p / 2)."""
    return 1 << (isqrt(parts).bit_length() - 1)


METHODS = {
    "ebp": by_rows("ebp"),
    "wcp": by_rows("wcp"),
    "metis": by_rows("metis"),
    "hubs": by_ends(cut_hubs),
    "2d": by_ends(grid),
    "wcp hubs": well_connected_hubs,
}
