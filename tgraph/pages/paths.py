"""Connectivity of a graph: components, and distances by searches from a sample of its vertices."""

from __future__ import annotations

import torch
from torch import Tensor

import tgraph as tg
from tgraph.markup.charts import Chart
from tgraph.markup.page import Fact, Figure, Section, number
from tgraph.markup.scales import Scale
from tgraph.pages.study import Study

EXACT = 1000  # vertices of a graph with searches from all of them
SEARCHES = 32
STREAMED_SEARCHES = 4
AT_ONCE = 1 << 24  # depths of searches in memory at once


def components(study: Study) -> Section:
    """Weakly and strongly connected components, and their sizes."""
    graph, n = study.graph, study.graph.num_vertices
    weak = sizes_of(study.component)
    values = {"weak": len(weak), "largest weak": int(weak[0])}
    name = "Weak components" if graph.directed else "Components"
    facts = [
        Fact(name, f"{len(weak):,}", "directions ignored" if graph.directed else ""),
        Fact("Largest", f"{int(weak[0]) / n:.1%}", f"{int(weak[0]):,} vertices"),
    ]
    sizes, notes = {name.lower(): weak}, []
    if graph.directed and study.streams:
        notes.append("Strong components are left out: they need the whole graph in memory.")
    elif graph.directed:
        strong = sizes_of(tg.algorithms.scc(graph))
        values |= {"strong": len(strong), "largest strong": int(strong[0])}
        facts.append(Fact("Strong components", f"{len(strong):,}", "reached in both directions"))
        facts.append(Fact("Largest strong", f"{int(strong[0]) / n:.1%}", f"{int(strong[0]):,} vertices"))
        sizes["strong components"] = strong
    lead = "The graph is connected." if len(weak) == 1 else ""
    figures = [sizes_chart(name, found) for name, found in sizes.items() if len(found) > 1]
    return Section(
        "components", "Components", lead, facts=facts, figures=figures, notes=notes, values=values, half=True
    )


def sizes_chart(name: str, sizes: Tensor) -> Figure:
    """The number of groups of each size."""
    size, count = sizes.unique(return_counts=True)
    at = list(zip(size.tolist(), count.tolist(), strict=True))
    title = f"Sizes of {name}"
    x = Scale.over([1, *size.tolist()], logarithmic=True, whole=True)
    y = Scale.over([1, *count.tolist()], logarithmic=True, whole=True)
    chart = Chart(title, f"The number of {name} of each size, logarithmic axes", x, y, "vertices", "count")
    tips = [f"{c:,} of {s:,} {'vertex' if s == 1 else 'vertices'}" for s, c in at]
    chart.points(at, "dot a", tips, radius=3.2)
    return Figure(title, {"": chart.svg()}, f"The largest has {int(size[-1]):,} vertices.")


def distances(study: Study) -> Section:
    """Distances between vertices, by searches from all vertices of a small graph, and from some of a large one."""
    graph, n = study.graph, study.graph.num_vertices
    sources = study.drawn(n if n <= EXACT and not study.streams else STREAMED_SEARCHES if study.streams else SEARCHES)
    exact = len(sources) == n
    if exact and not study.streams:  # in one pass over the arcs of a level for hundreds of searches
        hops, farthest = tg.primitives.multi_source.level_counts(graph, sources).cpu(), 0
    else:
        hops, farthest = _searched(graph, sources.tolist())
    count = hops.sum(0)
    reached = int(count[1:].sum())
    steps = torch.arange(len(count), dtype=torch.float64)
    values = {"searches": len(sources), "counts": count.tolist(), "reached": reached}
    if not reached:
        return Section("distances", "Distances", "No vertex reaches another.", values=values, half=True)
    mean, error = _mean(hops[:, 1:], steps[1:])
    longest = len(count) - 1
    if not exact:
        again, _ = _searched(graph, [farthest])
        longest = max(longest, again.shape[1] - 1)
    values |= {"mean": mean, "error": error, "longest": longest}
    share = reached / (len(sources) * max(n - 1, 1))
    bound = "" if exact else "at least: the longest distance found"
    facts = [
        Fact("Mean distance", number(mean), "exact" if exact else f"± {number(error)} (standard error)"),
        Fact("Nine in ten within", number(_within(count, 0.9)), "hops"),
        Fact("Diameter", f"{longest:,}" if exact else f"≥ {longest:,}", bound),
        Fact("Pairs with a path", f"{share:.1%}", "along the arcs" if graph.directed else ""),
    ]
    how = "all vertices" if exact else f"{len(sources):,} of {n:,} vertices, drawn at random"
    notes = [f"Hops of breadth-first searches from {how}."]
    if not exact:
        notes.append("The standard error is that of the means of single searches; the distribution has its own.")
    figures = [_histogram(count)]
    return Section("distances", "Distances", facts=facts, figures=figures, notes=notes, values=values, half=True)


def _searched(graph: tg.Graph, sources: list[int]) -> tuple[Tensor, int]:
    """(number of vertices at each distance by each search, int64 [k, longest + 1], the farthest vertex)"""
    counts, farthest, longest = [], 0, -1
    at_once = max(1, AT_ONCE // max(graph.num_vertices, 1))
    for first in range(0, len(sources), at_once):
        programs = [tg.algorithms.BFS(source) for source in sources[first : first + at_once]]
        for run in tg.run_each(programs, graph):
            depth = run.values
            found = depth[depth >= 0].bincount().cpu()
            if len(found) > longest:
                longest, farthest = len(found), int(depth.argmax())
            counts.append(found)
    return torch.stack([torch.nn.functional.pad(count, (0, longest - len(count))) for count in counts]), farthest


def _mean(hops: Tensor, steps: Tensor) -> tuple[float, float]:
    """The mean distance, and its standard error as a ratio of sums (Cochran, "Sampling techniques", 1977)."""
    pairs, total = hops.sum(1).to(torch.float64), hops.to(torch.float64) @ steps
    mean = float(total.sum() / pairs.sum())
    k = len(hops)
    if k < 2:
        return mean, float("nan")
    spread = (total - mean * pairs).square().sum() / (k - 1)
    return mean, float((spread / k).sqrt() / pairs.mean())


def _within(count: Tensor, share: float) -> float:
    """The number of hops within which a fraction of the pairs lies, by linear interpolation (as SNAP)."""
    reached = count[1:].cumsum(0).to(torch.float64) / count[1:].sum()
    place = int(torch.searchsorted(reached, torch.tensor(share, dtype=torch.float64)))
    before = float(reached[place - 1]) if place else 0.0
    return place + (share - before) / (float(reached[place]) - before)


def _histogram(count: Tensor) -> Figure:
    total = int(count[1:].sum())
    longest = len(count) - 1
    width = -(-longest // 120)  # hops that share a bar
    bars = [
        (first - 0.5, first + width - 0.5, int(count[first : first + width].sum()) / total)
        for first in range(1, longest + 1, width)
    ]
    x, y = Scale(0.5, longest + 0.5, whole=True), Scale.over([bar[2] for bar in bars], zero=True)
    title = "Distances between vertices"
    chart = Chart(title, "The share of pairs at each distance", x, y, "hops", "share of pairs")
    names = [f"{int(a + 0.5):,}" if width == 1 else f"{int(a + 0.5):,} to {int(b - 0.5):,}" for a, b, _ in bars]
    chart.bars(bars, "a", [f"{name} hops: {bar[2]:.3%} of pairs" for name, bar in zip(names, bars, strict=True)])
    return Figure(title, {"": chart.svg()}, "Among pairs with a path.")


def sizes_of(group: Tensor) -> Tensor:
    """The sizes of groups, largest first."""
    size = group.bincount().cpu()
    return size[size > 0].sort(descending=True).values
