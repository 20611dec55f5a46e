"""Size and speed of other layouts of the arcs, measured on a sample."""

from __future__ import annotations

import tgraph as tg
from tgraph.markup.page import Section, Table
from tgraph.pages.study import Study

SAMPLE = 250_000  # measured arcs


def layouts(study: Study) -> Section:
    """Bytes and time of each layout, and the recommendation (`tgraph.advise`)."""
    graph = study.graph
    advice = tg.advise(graph, sample=SAMPLE)
    plain = advice.measured[0]
    rows = [
        (
            each.layout,
            each.bytes_per_edge,
            plain.bytes_per_edge / each.bytes_per_edge if each.bytes_per_edge else 1.0,
            each.milliseconds,
            plain.milliseconds / each.milliseconds,
            1e3 * each.build_seconds,
        )
        for each in advice.measured
    ]
    heading = ("layout", "bytes per arc", "times smaller", "ms of a sum", "times faster", "ms to build")
    notes = [f"{name} is left out: {reason}." for name, reason in advice.refused.items()]
    if advice.arcs < graph.num_arcs:
        notes.insert(0, f"Measured on a few ranges of vertices with {advice.arcs:,} of {graph.num_arcs:,} arcs.")
    said = "Times smaller and faster are relative to csr, the default layout; a sum is of one number over all arcs."
    notes.insert(0, said)
    name = advice.recommended
    lead = f"{'csr is as good as any' if name == 'csr' else f'graph.to_format({name!r}) is recommended'}: {advice.why}."
    return Section("layouts", "Layouts", lead, tables=[Table("Layouts of the arcs", heading, rows)], notes=notes)
