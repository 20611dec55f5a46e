"""The top vertices by several measures."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

import tgraph as tg
from tgraph.markup.page import Section, Table
from tgraph.pages.study import ROUGHLY, Study

EXACT = 500  # vertices of a graph with paths counted from all of them
SAMPLES, GROUPS = 32, 4  # sources of paths, and groups of them for the standard error
LISTED = 10


def ranking(study: Study) -> Section:
    """The top vertices by degree, PageRank, betweenness, harmonic centrality and triangles."""
    graph, notes = study.graph, ["PageRank: damping 0.85, its sum is 1."]
    if study.streams:
        notes.append(f"PageRank ended with the first pass over the file that changed it by {ROUGHLY} in all, or less.")
    if graph.directed and not study.streams:
        tables = [_table(study, "In-degree", graph.in_degree), _table(study, "Out-degree", graph.out_degree)]
    else:
        tables = [_table(study, "Out-degree" if graph.directed else "Degree", graph.out_degree)]
    tables.append(_table(study, "PageRank", study.rank))
    if not study.streams:
        tables += _by_paths(study, notes)
        if not study.is_large:
            tables.append(_table(study, "Triangles", tg.algorithms.triangle_count(graph, per_vertex=True)))
    values = {table.caption: [row[:2] for row in table.rows] for table in tables}
    return Section(
        "top", "Top vertices", "By original id.", tables=[t for t in tables if t.rows], notes=notes, values=values
    )


def _table(study: Study, name: str, values: Tensor) -> Table:
    return Table(name, ("vertex", name.lower() if name != "PageRank" else name), study.top(values, LISTED), bars=1)


def _by_paths(study: Study, notes: list[str]) -> list[Table]:
    graph, n = study.graph, study.graph.num_vertices
    exact = n <= EXACT
    sources = study.drawn(n if exact else SAMPLES)
    shuffled = sources[torch.randperm(len(sources), generator=torch.Generator().manual_seed(study.seed))]
    groups = [shuffled] if exact else list(shuffled.chunk(GROUPS))
    pairs = max((n - 1) * (n - 2), 1)
    total = n if graph.directed else 2 * n  # betweenness from some sources counts undirected pairs half
    betweenness = [
        tg.algorithms.betweenness(graph, group, normalized=False) * (total / len(group) / pairs) for group in groups
    ]
    near = [tg.algorithms.harmonic(graph, sources=group) * (n / len(group)) / max(n - 1, 1) for group in groups]
    if not exact:
        notes.append(
            f"Betweenness and harmonic centrality are estimated from shortest paths from {SAMPLES} of {n:,} vertices, "
            f"drawn at random; ± is the standard error, by the differences between {GROUPS} groups of them."
        )
    notes.append("Betweenness and harmonic centrality are shares of the largest value that a vertex could have.")
    return [_estimated(study, "Betweenness", betweenness), _estimated(study, "Harmonic centrality", near)]


def _estimated(study: Study, name: str, groups: Sequence[Tensor]) -> Table:
    """The top vertices by the mean of groups of estimates, with its standard error."""
    table = torch.stack(list(groups))
    mean = table.mean(0)
    if len(groups) == 1:
        return _table(study, name, mean)
    error = table.std(0) / len(groups) ** 0.5
    rows = [
        (study.name(vertex), float(mean[vertex]), float(error[vertex]))
        for vertex in mean.argsort(descending=True, stable=True)[:LISTED].tolist()
        if mean[vertex] > 0
    ]
    return Table(name, ("vertex", name.lower(), "±"), rows, bars=1)
