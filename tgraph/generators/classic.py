"""Graphs of graph theory, with the numbering of networkx."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.generators.pairs import ends_of, num_pairs
from tgraph.generators.simple import check_count, on_cpu, simple


@on_cpu
def path(n: int) -> Graph:
    """A path of `n` vertices: i is joined to i + 1.

    >>> tg.generators.path(3).to_edge_index()
    tensor([[0, 1, 1, 2],
            [1, 0, 2, 1]])
    """
    vertex = torch.arange(check_count(n, "n"))
    return simple(vertex[:-1], vertex[1:], n)


@on_cpu
def cycle(n: int) -> Graph:
    """A cycle of `n` vertices: i is joined to i + 1, the last to the first. Two vertices have one edge, one none.

    >>> tg.generators.cycle(4).to_edge_index()
    tensor([[0, 0, 1, 1, 2, 2, 3, 3],
            [1, 3, 0, 2, 1, 3, 0, 2]])
    """
    vertex = torch.arange(check_count(n, "n"))
    return simple(vertex, vertex.roll(-1), n)


@on_cpu
def star(leaves: int) -> Graph:
    """A star: vertex 0 is joined to `leaves` others.

    >>> tg.generators.star(3).out_degree
    tensor([3, 1, 1, 1])
    """
    leaf = torch.arange(1, check_count(leaves, "leaves") + 1)
    return simple(torch.zeros_like(leaf), leaf, leaves + 1)


@on_cpu
def wheel(n: int) -> Graph:
    """A wheel: vertex 0 is joined to all vertices of a cycle of `n` - 1 others.

    >>> tg.generators.wheel(5).out_degree
    tensor([4, 3, 3, 3, 3])
    """
    rim = torch.arange(1, check_count(n, "n"))
    return simple(torch.cat((torch.zeros_like(rim), rim)), torch.cat((rim, rim.roll(-1))), n)


@on_cpu
def complete(n: int, *, directed: bool = False) -> Graph:
    """The complete graph of `n` vertices: each pair is joined, both ways if `directed`.

    >>> tg.generators.complete(5).num_edges
    10
    """
    n = check_count(n, "n")
    return simple(*_all_pairs(n, directed), n, directed=directed)


@on_cpu
def complete_bipartite(left: int, right: int) -> Graph:
    """The complete bipartite graph: each of the first `left` vertices is joined to each of the `right` after them.

    >>> tg.generators.complete_bipartite(2, 3).out_degree
    tensor([3, 3, 2, 2, 2])
    """
    return complete_multipartite((left, right))


@on_cpu
def complete_multipartite(sizes: Sequence[int]) -> Graph:
    """The complete multipartite graph: parts of these `sizes`, with all pairs between parts joined.

    >>> tg.generators.complete_multipartite([1, 1, 2]).out_degree
    tensor([3, 3, 2, 2])
    """
    counts = [check_count(size, f"sizes[{i}]") for i, size in enumerate(sizes)]
    n = sum(counts)
    part = torch.repeat_interleave(torch.arange(len(counts)), torch.tensor(counts, dtype=torch.int64))
    src, dst = _all_pairs(n)
    apart = part[src] != part[dst]
    return simple(src[apart], dst[apart], n)


@on_cpu
def ladder(rungs: int, *, circular: bool = False) -> Graph:
    """A ladder: two paths of `rungs` vertices, 0..rungs - 1 and the next ones, joined vertex by vertex; two cycles if
    `circular`.

    >>> tg.generators.ladder(3).num_edges, tg.generators.ladder(3, circular=True).num_edges
    (7, 9)
    """
    foot = torch.arange(check_count(rungs, "rungs"))
    following = foot.roll(-1) if circular else (foot + 1).clamp(max=max(rungs - 1, 0))
    src = torch.cat((foot, foot + rungs, foot))
    return simple(src, torch.cat((following, following + rungs, foot + rungs)), 2 * rungs)


@on_cpu
def lollipop(clique: int, tail: int) -> Graph:
    """A complete graph of `clique` vertices, 2 or more, with a path of `tail` more at its last vertex.

    >>> tg.generators.lollipop(3, 2).out_degree
    tensor([2, 2, 3, 2, 1])
    """
    clique, tail = check_count(clique, "clique", 2), check_count(tail, "tail")
    vertex = torch.arange(clique - 1, clique + tail)
    src, dst = _all_pairs(clique)
    return simple(torch.cat((src, vertex[:-1])), torch.cat((dst, vertex[1:])), clique + tail)


@on_cpu
def barbell(clique: int, path: int) -> Graph:
    """Two complete graphs of `clique` vertices, 2 or more, joined by a path of `path` vertices between them.

    >>> tg.algorithms.bridges(tg.generators.barbell(3, 1))
    tensor([[2, 3],
            [3, 4]])
    """
    clique, path = check_count(clique, "clique", 2), check_count(path, "path")
    between = torch.arange(clique - 1, clique + path + 1)
    src, dst = _all_pairs(clique)
    second = clique + path
    src = torch.cat((src, between[:-1], src + second))
    return simple(src, torch.cat((dst, between[1:], dst + second)), 2 * clique + path)


@on_cpu
def hypercube(dimensions: int) -> Graph:
    """The hypercube of 2**`dimensions` vertices; an edge flips a bit. Raises ArgumentError for more than 31 dimensions.

    >>> tg.algorithms.bfs(tg.generators.hypercube(3), 0)
    tensor([0, 1, 1, 2, 1, 2, 2, 3], dtype=torch.int32)
    """
    dimensions = check_count(dimensions, "dimensions")
    if dimensions > 31:
        raise ArgumentError(f"dimensions: {dimensions} are too many; give at most 31")
    vertex, bit = torch.arange(1 << dimensions), 1 << torch.arange(dimensions)
    return simple(vertex.repeat(dimensions), (vertex ^ bit[:, None]).flatten(), len(vertex))


def _all_pairs(n: int, directed: bool = False) -> tuple[Tensor, Tensor]:
    return ends_of(torch.arange(num_pairs(n, directed)), n, directed)
