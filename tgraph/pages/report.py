"""A report on a graph: the first measurements, on one page."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import tgraph as tg
from tgraph.core.system.text import counted, duration
from tgraph.errors import ArgumentError, MemoryBudgetError
from tgraph.markup.labels import readable
from tgraph.markup.page import Page, Section, Table
from tgraph.pages.degrees import degrees
from tgraph.pages.groups import clustering, communities, cores
from tgraph.pages.layouts import layouts
from tgraph.pages.paths import components, distances
from tgraph.pages.picture import picture
from tgraph.pages.ranking import ranking
from tgraph.pages.size import size
from tgraph.pages.study import Study

Part = Callable[[Study], Section]
PARTS: dict[str, Part] = {
    "Size": size,
    "Drawing": picture,
    "Degrees": degrees,
    "Components": components,
    "Distances": distances,
    "Clustering": clustering,
    "Cores": cores,
    "Communities": communities,
    "Top vertices": ranking,
    "Layouts": layouts,
}
USES_OTHERS = ("Drawing",)  # communities and ranks, with their time counted in the sections that show them
STREAMED = ("Size", "Degrees", "Components", "Distances", "Top vertices")  # computed block by block
IN_MEMORY = "it needs all arcs in memory, and the graph is read block by block within a budget"


class Report(Page):
    """A report on a graph. A notebook shows it, `save` writes it to a file .html, `html` is its text, and `values` its
    numbers: {section: {name: value}}.

    >>> tg.report(tg.generators.path(5), title="A path")
    Report(A path, 11 sections; save(path) writes the page)
    """

    @property
    def values(self) -> dict[str, dict[str, Any]]:
        """The numbers of each section with any, by its name.

        >>> report = tg.report(tg.generators.path(5))
        >>> report.values["distances"]["longest"], report.values["clustering"]["triangles"]
        (4, 0)
        """
        return {section.name: section.values for section in self.sections if section.values}

    def __repr__(self) -> str:
        return f"Report({readable(self.title)}, {len(self.sections)} sections; save(path) writes the page)"


def report(graph: tg.Graph, *, title: str = "", seed: int = 0) -> Report:
    """A report on the `graph`: its size, a drawing, degrees, components, distances, clustering, cores, communities, top
    vertices, and other layouts, with the time of each section.

    Slow measurements on a large graph use a sample drawn with the `seed`, and the page reports it, with the error:
    distances and centralities by searches from some vertices, layouts on a part of the arcs, beyond 20 million arcs
    also clustering. The report on a streamed graph has the sections computed block by block, and lists the others.
    `title` : the heading, "A graph" by default.

    Raises ArgumentError for anything but a Graph, and for a graph spread over ranks.

    >>> graph = tg.generators.barabasi_albert(200, 3)
    >>> report = tg.report(graph, title="Preferential attachment")
    >>> report.save("report.html")
    >>> report.values["cores"]["largest"]
    3
    """
    if not isinstance(graph, tg.Graph):
        raise ArgumentError(f"graph: expected a tgraph.Graph, got {type(graph).__name__}; see Graph.from_*")
    if graph.storage.is_distributed:
        raise ArgumentError(
            "graph: it is spread over ranks, and a report needs one process; read the file with tgraph.read or "
            "tgraph.open in one process"
        )
    study = Study(graph, seed)
    found: dict[str, Section] = {}
    seconds: dict[str, float] = {}
    missing: dict[str, str] = {}

    def make(name: str) -> None:
        start = time.perf_counter()
        try:
            found[name] = PARTS[name](study)
        except MemoryBudgetError as refusal:
            missing[name] = str(refusal)
        seconds[name] = time.perf_counter() - start

    names = sorted(PARTS if graph.num_vertices else ["Size"], key=USES_OTHERS.__contains__)
    if study.streams:
        missing |= {name: IN_MEMORY for name in names if name not in STREAMED}
        with tg.together() as calls:  # no result is needed by two of these
            for name in STREAMED:
                if name in names:
                    calls(make, name)
    else:
        for name in tg.progress.track(names, "report", unit="sections"):
            make(name)
    sections = [*(found[name] for name in PARTS if name in found), _made(seconds, missing, study.streams)]
    kind = "A directed graph" if graph.directed else "An undirected graph"
    lead = f"{kind} of {counted(graph.num_vertices, 'vertex')} and {counted(graph.num_edges, 'edge')}."
    return Report(title or "A graph", lead, sections)


def _made(seconds: dict[str, float], missing: dict[str, str], streams: bool) -> Section:
    """The times of the sections, and the sections left out."""
    tables = [Table("Time", ("section", "ms"), [(name, 1e3 * took) for name, took in seconds.items()], bars=1)]
    if missing:
        tables.append(Table("Left out", ("section", "why"), list(missing.items())))
    lead = f"By tgraph {tg.__version__}, in {duration(sum(seconds.values()))}."
    notes = ["The time of shared results counts to the first section that needs them."]
    if streams:
        notes = ["The sections were made at the same time, and share what was read of the graph."]
    return Section("making", "How this was made", lead, tables=tables, notes=notes)
