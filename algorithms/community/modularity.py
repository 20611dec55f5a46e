"""How good a partition is: modularity (Newman, "Analysis of weighted networks", 2004; directed: Leicht and Newman,
2008; resolution: Reichardt and Bornholdt, 2006), coverage and performance (Fortunato, 2010), cuts and conductance.

    Q = sum over the communities C of  inside(C) / m - resolution * out(C) * in(C) / m^2

where inside(C) is the weight of the arcs from C to C, out(C) and in(C) that of the arcs which leave and reach vertices
of C, and m that of all; of an undirected graph arcs both ways, a self-loop twice. O(n + m).
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

import tgraph as tg


class Quality(NamedTuple):
    """coverage : the share of edges inside of communities. performance : the share of pairs of vertices that are
    adjacent in one community, or in two communities and not adjacent."""

    coverage: float
    performance: float


class Cuts(NamedTuple):
    """Of each of k communities, ordered by their smallest vertices: `first`, int64 [k], that vertex; float64 [k] each:
    `internal`, the weight of the edges inside; `external`, that of the edges that leave; `conductance`, the share of
    `external` in the volume of the community or of the rest, whichever is smaller (NaN where that is 0)."""

    first: Tensor
    internal: Tensor
    external: Tensor
    conductance: Tensor


def modularity(graph: tg.Graph, communities: Tensor, *, weighted: bool = False, resolution: float = 1.0) -> float:
    """The modularity of a partition: 0 for one community of all, at most 1.

    communities : integers [n], equal for the vertices of a community. weighted : edges count by graph.weights.
    resolution : how much the expected part counts. NaN for a graph without edges. Raises ArgumentError for communities
    of another shape or dtype, and for weights that are negative or not finite.

    >>> graph = tg.generators.barbell(3, 0)
    >>> round(tg.algorithms.modularity(graph, torch.tensor([0, 0, 0, 1, 1, 1])), 3)
    0.357
    """
    group, count = _labels(graph, communities)
    inside = tg.primitives.communities.inside(graph, group, weighted=weighted)
    leaving, entering = _strengths(graph, group, count, weighted)
    total = float(leaving.sum())
    if not total:
        return float("nan")
    return float(inside.sum()) / total - resolution * float((leaving / total * (entering / total)).sum())


def partition_quality(graph: tg.Graph, communities: Tensor) -> Quality:
    """Coverage and performance of a partition, as networkx counts them: a parallel edge each time, weights not at all.

    communities : as in `modularity`. NaN where there are no edges, or no pairs.

    >>> graph = tg.generators.barbell(3, 0)
    >>> tg.algorithms.partition_quality(graph, torch.tensor([0, 0, 0, 1, 1, 1]))
    Quality(coverage=0.8571428571428571, performance=0.9333333333333333)
    """
    group, first = _numbered(graph, communities)
    arcs = int(tg.primitives.communities.inside(graph, group).sum())
    within = arcs if graph.directed else arcs // 2
    n, size = graph.num_vertices, torch.bincount(group, minlength=len(first))
    pairs, between = n * (n - 1), n * n - int((size * size).sum())
    if not graph.directed:
        pairs, between = pairs // 2, between // 2
    apart = between - (graph.num_edges - within)
    coverage = within / graph.num_edges if graph.num_edges else float("nan")
    return Quality(coverage, (within + apart) / pairs if pairs else float("nan"))


def community_cuts(graph: tg.Graph, communities: Tensor, *, weighted: bool = False) -> Cuts:
    """The edges inside of each community and out of it, and its conductance.

    communities, weighted : as in `modularity`. Volumes are those of arcs that leave. Raises ArgumentError for integer
    weights whose sums float64 might round.

    >>> graph = tg.generators.barbell(3, 0)
    >>> cuts = tg.algorithms.community_cuts(graph, torch.tensor([0, 0, 0, 1, 1, 1]))
    >>> cuts.first, cuts.external.tolist(), cuts.conductance.round(decimals=3).tolist()
    (tensor([0, 3]), [1.0, 1.0], [0.143, 0.143])
    """
    group, first = _numbered(graph, communities)
    if weighted:
        tg.primitives.shortest_paths.check_sums(graph, tg.primitives.shortest_paths.EXACT, graph.num_arcs)
    inside = _by_group(tg.primitives.communities.inside(graph, group, weighted=weighted), group, len(first))
    leaving, _ = _strengths(graph, group, len(first), weighted)
    external, rest = leaving - inside, leaving.sum() - leaving
    internal = inside if graph.directed else inside / 2
    return Cuts(first, internal, external, external / torch.minimum(leaving, rest))


def _strengths(graph: tg.Graph, group: Tensor, count: int, weighted: bool) -> tuple[Tensor, Tensor]:
    """Of each community the weight of the arcs that leave its vertices, and of those that reach them."""
    if not weighted and (graph.directed or not graph.num_self_loops):
        leaving = _by_group(graph.out_degree.to(torch.float64), group, count)
        return leaving, _by_group(graph.in_degree.to(torch.float64), group, count) if graph.directed else leaving
    everyone = torch.zeros_like(group)

    def strength(arcs: tg.Graph) -> Tensor:
        of_vertices = arcs.kept(
            f"strengths, weighted={weighted}",
            lambda: tg.primitives.communities.inside(arcs, everyone, weighted=weighted),
        )
        return _by_group(of_vertices, group, count)

    leaving = strength(graph)
    return leaving, strength(graph.transpose()) if graph.directed else leaving


def _by_group(values: Tensor, group: Tensor, count: int) -> Tensor:
    return torch.bincount(group, values, minlength=count).to(values.dtype)  # without groups it counts


def _numbered(graph: tg.Graph, communities: Tensor) -> tuple[Tensor, Tensor]:
    """The number of each vertex's community, and the first vertex of each."""
    return tg.primitives.communities.number(_labels(graph, communities)[0])


def _labels(graph: tg.Graph, communities: Tensor) -> tuple[Tensor, int]:
    """The communities as labels from 0 to n - 1, and a number above all of them."""
    n = graph.num_vertices
    if not isinstance(communities, Tensor) or communities.shape != (n,) or communities.is_floating_point():
        got = f"{communities.dtype} {list(communities.shape)}" if isinstance(communities, Tensor) else repr(communities)
        raise tg.errors.ArgumentError(f"communities: expected integers [{n}], one for each vertex, got {got}")
    label = communities.to(graph.device, torch.int64)
    least, largest = (int(each) for each in label.aminmax()) if n else (0, -1)
    if least >= 0 and largest < n:
        return label, largest + 1
    names, label = label.unique(return_inverse=True)
    return label, len(names)
