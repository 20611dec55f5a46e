"""Sampling hop by hop, for samplers with their own choice of arcs."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from tgraph.kernels.operators.sampling.neighbors import Sampled
from tgraph.kernels.operators.sampling.places import number_vertices
from tgraph.sampling.output import SamplerOutput


class Chosen(NamedTuple):
    """The arcs of a hop: counts by vertex, int64 [k], neighbors, int64 [e], and numbers, int64 [e] or None."""

    counts: Tensor
    neighbors: Tensor
    arcs: Tensor | None


Choose = Callable[[int, int, Tensor, int], Chosen]


def sample_hops(
    sizes: list[int],
    ends: list[tuple[int, int]],
    seeds: dict[int, Tensor],
    hops: int,
    disjoint: bool,
    choose: Choose,
) -> Sampled:
    """As `tgraph.kernels.operators.sampling.neighbors.sample_neighbors`, for the arcs of choose(relation, hop,
    vertices, position of the first vertex).

    sizes : vertices of each type. ends : the types of source and target of each relation. Numbers of a relation are
    empty where its arcs have none.
    """
    none = torch.empty(0, dtype=torch.int64)
    lists = [none for _ in sizes]  # a vertex of tree t is number t * size + vertex
    trees = 0
    for kind, given in seeds.items():
        lists[kind] = given + sizes[kind] * torch.arange(trees, trees + len(given)) if disjoint else given
        trees += len(given)
    added = [[len(each)] for each in lists]
    begin = [0] * len(lists)
    rows, columns, numbers = ([[none] for _ in ends] for _ in range(3))
    counts: list[list[int]] = [[] for _ in ends]
    for hop in range(hops):
        end = [len(each) for each in lists]
        for i, (source, target) in enumerate(ends):
            held = lists[target][begin[target] : end[target]]
            found = choose(i, hop, held % max(sizes[target], 1), begin[target])
            column = torch.arange(begin[target], end[target]).repeat_interleave(found.counts)
            neighbors = found.neighbors
            if disjoint:
                neighbors = neighbors + sizes[source] * (lists[target][column] // max(sizes[target], 1))
            row, lists[source] = number_vertices(lists[source], neighbors)
            rows[i].append(row)
            columns[i].append(column)
            numbers[i].append(none if found.arcs is None else found.arcs)
            counts[i].append(len(row))
        begin = end
        for each, size in zip(lists, added, strict=True):
            size.append(len(each) - sum(size))
    vertices = [each % max(size, 1) for each, size in zip(lists, sizes, strict=True)]
    of_trees = [each // max(size, 1) for each, size in zip(lists, sizes, strict=True)] if disjoint else None
    joined = [[torch.cat(found) for found in each] for each in (rows, columns, numbers)]
    return Sampled(vertices, of_trees, added, joined[0], joined[1], joined[2], list(counts))


def of_one_type(sampled: Sampled, edge: Tensor | None, weight: Tensor | None = None) -> SamplerOutput:
    """A sample of one type of vertices and one of arcs, with the numbers of these in the graph and their weights."""
    batch = None if sampled.trees is None else sampled.trees[0]
    ends, sizes = (sampled.rows[0], sampled.columns[0]), (sampled.sizes[0], sampled.counts[0])
    return SamplerOutput(sampled.vertices[0], *ends, edge, batch, *sizes, weight)
