"""Dense parts of a graph: clustering, cores, communities."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

import tgraph as tg
from tgraph.markup.charts import Chart
from tgraph.markup.page import Fact, Figure, Section, Table, number
from tgraph.markup.scales import Scale
from tgraph.pages.paths import sizes_chart, sizes_of
from tgraph.pages.study import DETAILED, Study

WEDGES = 200_000  # drawn pairs of neighbours
LISTED = 10


def clustering(study: Study) -> Section:
    """Triangles, transitivity and the clustering coefficient; for a large graph from a sample."""
    if study.is_large:
        return _sampled(study)
    graph, algorithms = study.graph, tg.algorithms
    coefficient = algorithms.clustering(graph)
    triangles = algorithms.triangle_count(graph, per_vertex=True)
    degree = study.simple.out_degree
    paths = int((degree * (degree - 1)).sum()) // 2
    total = int(triangles.sum()) // 3
    closed = 3 * total / paths if paths else 0.0
    values = {"triangles": total, "transitivity": closed, "average": float(coefficient.mean())}
    facts = [
        Fact("Triangles", f"{total:,}"),
        Fact("Transitivity", number(closed), "of paths of two edges are closed"),
        Fact("Clustering", number(values["average"]), "mean over the vertices"),
    ]
    figures = [_by_degree(coefficient, degree)] if total else []
    said = "The coefficient respects directions, as in networkx and Fagiolo 2007; triangles ignore them."
    notes = [said] if graph.directed else []
    return Section("clustering", "Clustering", facts=facts, figures=figures, notes=notes, values=values, half=True)


def _sampled(study: Study) -> Section:
    """Transitivity by random wedges (Schank and Wagner, "Approximating clustering coefficient ...", 2005)."""
    graph = study.simple
    degree = graph.out_degree.cpu()
    pairs = degree.to(torch.float64) * (degree - 1).to(torch.float64) / 2
    generator = torch.Generator().manual_seed(study.seed)
    bounds = pairs.cumsum(0)
    drawn = torch.rand(WEDGES, generator=generator, dtype=torch.float64) * bounds[-1]
    middle = torch.searchsorted(bounds, drawn, right=True).clamp(max=len(pairs) - 1)
    first = (torch.rand(WEDGES, generator=generator, dtype=torch.float64) * degree[middle]).long()
    other = (torch.rand(WEDGES, generator=generator, dtype=torch.float64) * (degree[middle] - 1)).long()
    other += other >= first
    offset, neighbors = graph.offset.cpu(), graph.neighbors.cpu()
    u, v = (neighbors[offset[middle] + place].long() for place in (first, other))
    closed = float(_are_joined(offset, neighbors, u, v).to(torch.float64).mean())
    error, total = (closed * (1 - closed) / WEDGES) ** 0.5, float(bounds[-1])
    facts = [
        Fact("Transitivity", number(closed), f"± {number(error)} (standard error)"),
        Fact("Triangles", f"≈ {number(closed * total / 3)}", f"± {number(error * total / 3)}"),
    ]
    notes = [f"Estimated from {WEDGES:,} random paths of two edges, of {number(total)}."]
    values = {"transitivity": closed, "error": error}
    return Section("clustering", "Clustering", facts=facts, notes=notes, values=values, half=True)


def _are_joined(offset: Tensor, neighbors: Tensor, u: Tensor, v: Tensor) -> Tensor:
    """True for each row u that has v, by binary search in all ascending rows at once."""
    low, high = offset[u], offset[u + 1]
    end = high
    while bool((low < high).any()):
        middle = (low + high) // 2
        before = neighbors[middle.clamp(max=len(neighbors) - 1)] < v
        low, high = (
            torch.where((low < high) & before, middle + 1, low),
            torch.where((low < high) & ~before, middle, high),
        )
    return (low < end) & (neighbors[low.clamp(max=len(neighbors) - 1)] == v)


def _by_degree(coefficient: Tensor, degree: Tensor) -> Figure:
    """The mean coefficient of vertices of similar degree."""
    some = degree >= 2
    place = (degree[some].to(torch.float64).log2() * 2).floor().long()  # two ranges for each doubling
    count = place.bincount()
    mean = place.bincount(weights=coefficient[some].to(torch.float64)) / count.clamp(min=1)
    middle = place.bincount(weights=degree[some].to(torch.float64)) / count.clamp(min=1)
    at = [(d, c, k) for d, c, k in zip(middle.tolist(), mean.tolist(), count.tolist(), strict=True) if k]
    title = "Clustering by degree"
    x = Scale.over([d for d, _, _ in at], logarithmic=True)
    said = "The mean coefficient of vertices of about each degree"
    chart = Chart(title, said, x, Scale(0, 1), "degree", "coefficient")
    chart.line([(d, c) for d, c, _ in at], "a")
    tips = [f"about {k:,} vertices of degree {d:.3g}: {c:.3g}".replace("about ", "") for d, c, k in at]
    chart.points([(d, c) for d, c, _ in at], "a", tips, 3)
    return Figure(title, {"": chart.svg()})


def cores(study: Study) -> Section:
    """Core numbers, and the number of vertices in each core."""
    core = study.core
    deepest = int(core.max())
    count = core.bincount().cpu()
    values = {"largest": deepest, "counts": count.tolist()}
    facts = [
        Fact("Degeneracy", f"{deepest:,}", "the largest core number"),
        Fact("Innermost core", f"{int(count[-1]):,}", f"vertices, each with {deepest:,} neighbours or more in it"),
        Fact("Median core number", f"{int(core.median()):,}"),
    ]
    above = count.flip(0).cumsum(0).flip(0)
    width = -(-len(count) // 150)
    at = [(k, int(above[k])) for k in range(0, len(count), width)]
    title = "Vertices of a core number or more"
    x = Scale(0, max(deepest, 1), whole=True)
    y = Scale.over([1, *(size for _, size in at)], logarithmic=True, whole=True)
    chart = Chart(title, "The number of vertices in the core of each number", x, y, "core number", "vertices")
    chart.line(at, "a")
    chart.points(at, "a", [f"core {k:,}: {size:,} {'vertex' if size == 1 else 'vertices'}" for k, size in at], 2.6)
    figures = [Figure(title, {"": chart.svg()})] if deepest else []
    return Section("cores", "Cores", facts=facts, figures=figures, values=values, half=True)


def communities(study: Study) -> Section:
    """Communities, their sizes, and their modularity."""
    graph, community = study.graph, study.community
    sizes = sizes_of(community)
    quality = tg.algorithms.modularity(graph, community)
    values = {"communities": len(sizes), "largest": int(sizes[0]), "modularity": quality}
    facts = [
        Fact("Communities", f"{len(sizes):,}"),
        Fact("Modularity", number(quality), "0 as by chance, at most 1"),
        Fact("Largest", f"{int(sizes[0]) / len(community):.1%}", f"{int(sizes[0]):,} vertices"),
    ]
    fast = "label propagation, since better methods take long here"
    method = fast if graph.num_arcs > DETAILED else "the Leiden method"
    figures = [sizes_chart("communities", sizes)] if len(sizes) > 1 else []
    notes = [f"Found by {method}; other methods, and other seeds, find others."]
    parts: dict[str, Any] = {"facts": facts, "figures": figures, "more": [_largest(study)], "notes": notes}
    return Section("communities", "Communities", **parts, values=values, half=True)


def _largest(study: Study) -> Table:
    """The largest communities, with the vertex of highest PageRank in each."""
    _, group = study.community.unique(return_inverse=True)
    size = group.bincount()
    best = size.argsort(descending=True, stable=True)[:LISTED]
    rows = []
    for each in best.tolist():
        members = (group == each).nonzero()[:, 0]
        first = int(members[study.rank[members].argmax()])
        rows.append((study.name(first), int(size[each])))
    return Table("Largest communities", ("vertex of highest PageRank", "vertices"), rows, bars=1)
