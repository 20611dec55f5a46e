"""A trace as a page: diagnoses and remedies, iterations, block reads, and ranks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import astuple
from html import escape

from tgraph.core.system.text import counted, duration, in_bytes, scaled
from tgraph.engine.tracing.data import TraceData, stretches
from tgraph.engine.tracing.findings import findings, length
from tgraph.engine.tracing.records import Interval, Iteration, count_ranks, joined
from tgraph.markup.charts import Chart, keys
from tgraph.markup.labels import Markup
from tgraph.markup.page import Fact, Figure, Page, Section, Table
from tgraph.markup.scales import Scale

WIDE = 960  # units of a chart of the whole width
PLACES = 800  # distinguishable x-positions of such a chart
LISTED = 500  # iterations in a table
SERIES = {"active_edges": "ink", "active_vertices": "a", "changed_vertices": "b"}


def of_trace(trace: TraceData) -> Page:
    """The page of a trace."""
    name = trace.name or "a run"
    size = f"{trace.num_vertices:,} vertices and {trace.num_arcs:,} arcs"
    sections = [_summary(trace), _iterations(trace)]
    sections += [_blocks(trace)] if trace.visits else []
    sections += [_ranks(trace)] if trace.shares else []
    sections.append(_backends(trace))
    return Page(f"Trace of {name}", f"The iterations of {name} on a graph of {size}.", sections)


def _summary(trace: TraceData) -> Section:
    steps = trace.iterations
    edges, seconds = sum(step.active_edges for step in steps), trace.milliseconds / 1e3
    facts = [
        Fact("Iterations", f"{len(steps):,}", counted(trace.switches, "direction switch")),
        Fact("Time", duration(seconds), f"{duration(seconds / len(steps))} per iteration" if steps else ""),
        Fact("Active edges", scaled(edges) if edges else "0", "summed over the iterations"),
        Fact("Speed", scaled(edges / seconds) if seconds and edges else "-", "active edges per second"),
    ]
    loads = [visit for visit in trace.visits if visit.loading is not None]
    if trace.visits:
        facts.append(Fact("Read", in_bytes(sum(visit.nbytes for visit in loads)), f"in {len(loads):,} blocks"))
    if trace.shares:
        sent = sum(share.bytes_sent for share in trace.shares)
        facts.append(Fact("Sent", in_bytes(sent), f"by {count_ranks(trace.shares):,} ranks"))
    found = findings(trace)
    return Section(
        "summary",
        "Summary",
        "" if found else "Nothing stands out as slow that another setting would make faster.",
        facts=facts,
        remarks=[Markup(f"<strong>{escape(each.what)}</strong> {escape(each.remedy)}") for each in found],
    )


# ---- iterations ------------------------------------------------------------------------------------------------------


def _iterations(trace: TraceData) -> Section:
    steps = trace.iterations
    section = Section("iterations", "Iterations", _directions(steps))
    if not steps:
        section.lead = "No vertex was active: there was no iteration."
        return section
    section.figures = [_activity(trace), _times(trace)]
    listed = steps if len(steps) <= LISTED else sorted(steps, key=lambda step: -step.milliseconds)[:LISTED]
    what = f"All {len(steps):,} iterations" if len(steps) <= LISTED else f"The {LISTED} slowest iterations"
    heading = ("iteration", "direction", "active vertices", "active edges", "changed vertices", "ms", "backend")
    rows = [astuple(step) for step in sorted(listed, key=lambda step: step.iteration)]
    section.more = [Table(what, heading, rows)]
    return section


def _directions(steps: Sequence[Iteration]) -> str:
    """The stretches of one direction, in words."""
    found = [(direction, last - first + 1) for direction, first, last in stretches(steps)]
    said = ", then ".join(f"{counted(count, 'iteration')} of {direction}" for direction, count in found[:6])
    more = len(found) - 6
    return f"{said}, and {counted(more, 'more change')} of direction." if more > 0 else f"{said}."


def _activity(trace: TraceData) -> Figure:
    """Active and changed vertices and edges, over the direction as a background."""
    steps = trace.iterations
    x = Scale(-0.5, len(steps) - 0.5, whole=True)
    y = Scale.over([1, trace.num_arcs, trace.num_vertices], logarithmic=True)
    title, what = "Active vertices and edges", f"Counts on a logarithmic scale over {counted(len(steps), 'iteration')}"
    chart = Chart(title, what, x, y, "iteration", "count", width=WIDE, height=280)
    for direction, first, last in stretches(steps):
        text = f"{direction}, iterations {first:,} to {last:,}" if last > first else f"{direction}, iteration {first:,}"
        chart.spans([(first - 0.5, last + 0.5)], f"{direction} faint", [text], (y.low, y.high))
    for name, kind in SERIES.items():
        values = [(i, max(getattr(step, name), 0)) for i, step in _thinned(steps, name)]
        chart.line(values, f"{kind} dashed" if name == "changed_vertices" else kind, name.replace("_", " "))
        if len(steps) <= 60:
            chart.points(values, kind, [f"{name.replace('_', ' ')} of iteration {i:,}: {v:,}" for i, v in values], 3)
    chart.line([(x.low, trace.num_arcs), (x.high, trace.num_arcs)], "f dashed", f"all edges: {trace.num_arcs:,}")
    used = {step.direction: f"{step.direction}, behind" for step in steps}
    meaning = {kind: name.replace("_", " ") for name, kind in SERIES.items()} | {"f": "all edges"} | used
    return Figure(title, {"": chart.svg()}, keys(meaning), wide=True)


def _times(trace: TraceData) -> Figure:
    steps = trace.iterations
    x = Scale(-0.5, len(steps) - 0.5, whole=True)
    y = Scale.over((step.milliseconds for step in steps), zero=True)
    title = "Time of each iteration"
    what = f"{trace.milliseconds:,.1f} ms in all"
    chart = Chart(title, what, x, y, "iteration", "milliseconds", width=WIDE, height=210)
    for direction in ("push", "pull"):
        own = [(i, step) for i, step in _thinned(steps, "milliseconds") if step.direction == direction]
        width = max(1.0, len(steps) / PLACES) / 2
        bars = [(i - width, i + width, step.milliseconds) for i, step in own]
        tip = "iteration {0.iteration:,}: {0.milliseconds:,.3g} ms, {0.direction}, {0.active_edges:,} edges"
        chart.bars(bars, direction, [tip.format(step) for _, step in own])
    many = f" Of neighbouring iterations, {len(steps):,} in all, the largest is shown."
    thinned = many if len(steps) > PLACES else ""
    slowest = max(steps, key=lambda step: step.milliseconds)
    caption = f"The slowest, iteration {slowest.iteration:,}, took {duration(slowest.milliseconds / 1e3)}.{thinned}"
    return Figure(title, {"": chart.svg()}, caption, wide=True)


def _thinned(steps: Sequence[Iteration], name: str) -> list[tuple[float, Iteration]]:
    """(x-position, iteration); of many, the iteration of largest value among neighbours at one position."""
    if len(steps) <= PLACES:
        return [(i, step) for i, step in enumerate(steps)]
    width = -(-len(steps) // PLACES)
    groups = [steps[first : first + width] for first in range(0, len(steps), width)]
    return [(i * width + (len(g) - 1) / 2, max(g, key=lambda step: getattr(step, name))) for i, g in enumerate(groups)]


# ---- blocks and ranks ------------------------------------------------------------------------------------------------


def _blocks(trace: TraceData) -> Section:
    visits = trace.visits
    loads = [visit for visit in visits if visit.loading is not None]
    loading = [visit.loading for visit in loads if visit.loading is not None]
    computing = [visit.computing for visit in visits]
    begin, end = min(first for first, _ in computing + loading), max(last for _, last in computing + loading)
    busy, reading, both = length(computing), length(loading), length([*computing, *loading])
    read, times = sum(visit.nbytes for visit in loads), {visit.block for visit in visits}
    most = max(visit.calls for visit in visits)
    shared = f"; read for up to {most} calls together" if most > 1 else ""
    facts = [
        Fact("Visits to blocks", f"{len(visits):,}", f"to {len(times):,} blocks"),
        Fact("Loaded", f"{len(loads):,}", f"{in_bytes(read)}; the others were still in memory{shared}"),
        Fact("Reading", duration(reading), f"{in_bytes(read / reading)}/s" if reading else ""),
        Fact("Computing", duration(busy), f"waited for reads {duration(both - busy)}"),
    ]
    if trace.conditions.memory is not None:
        facts.append(Fact("Memory", in_bytes(trace.conditions.memory), "budget of the graph"))
    x, y = Scale(0, max(1e3 * (end - begin), 1e-3)), Scale(0, 2)
    what = "Loading of blocks, above, and computing on them, below"
    chart = Chart("Blocks over time", what, x, y, "milliseconds", "", width=WIDE, height=170)
    for height, kind, name, intervals in ((1, "c", "loading", loading), (0, "d", "computing", computing)):
        _row(chart, intervals, begin, kind, name, (height + 0.12, height + 0.88), (end - begin) / PLACES)
    meaning = keys({"c": "loading, above", "d": "computing, below"})
    return Section(
        "blocks",
        "Blocks read from the disk",
        f"{in_bytes(read)} were loaded in {counted(len(loads), 'read')}; "
        f"{(busy + reading - both) / max(min(busy, reading), 1e-12):.0%} of the shorter of reading and computing was "
        "hidden by the other.",
        facts=facts,
        figures=[Figure("Blocks over time", {"": chart.svg()}, meaning, wide=True)],
    )


def _ranks(trace: TraceData) -> Section:
    count = count_ranks(trace.shares)
    last = max(share.end for share in trace.shares)
    x, y, height = Scale(0, max(1e3 * last, 1e-3)), Scale(0, count), 80 + min(44 * count, 900)
    what = "Computing and waiting of each rank, and below its messages under way"
    chart = Chart("Ranks over time", what, x, y, "milliseconds", "", width=WIDE, height=height)
    rows = []
    for rank in range(count):
        own = [share for share in trace.shares if share.rank == rank]
        mine = [exchange for exchange in trace.exchanges if exchange.rank == rank]
        bottom, finest = count - 1 - rank, last / PLACES
        waits = [exchange.waiting for exchange in mine]
        row, whole = (bottom + 0.4, bottom + 0.88), (1e3 * own[0].begin, 1e3 * own[-1].end)
        chart.spans([whole], "d", [f"rank {rank} computes"], row)
        _row(chart, waits, 0, "f", f"rank {rank} waits", row, finest)
        travels = [exchange.travelling for exchange in mine]
        _row(chart, travels, 0, "c", f"messages of rank {rank} under way", (bottom + 0.14, bottom + 0.32), finest)
        chart.words(0, bottom + 0.6, f"rank {rank} ", "end")
        names = ("computing", "waiting", "travelling", "hidden")
        seconds = [1e3 * sum(getattr(share, name) for share in own) for name in names]
        nbytes = [sum(getattr(share, name) for share in own) for name in ("bytes_sent", "bytes_received")]
        rows.append((rank, *seconds, sum(share.exchanges for share in own), *nbytes))
    stages = ("computing, ms", "waiting, ms", "under way, ms", "hidden, ms")
    heading = ("rank", *stages, "exchanges", "B sent", "B received")
    meaning = keys({"d": "computing", "f": "waiting for others", "c": "messages under way"})
    waiting, busy = sum(share.waiting for share in trace.shares), sum(share.computing for share in trace.shares)
    return Section(
        "ranks",
        "Ranks",
        f"{counted(count, 'rank')} waited in {waiting / max(waiting + busy, 1e-12):.0%} of the time.",
        figures=[Figure("Ranks over time", {"": chart.svg()}, meaning, wide=True)],
        tables=[Table("Time and exchanges of each rank", heading, rows)],
        notes=["Hidden is the time of messages under way while the rank computed."],
    )


def _row(
    chart: Chart, intervals: Iterable[Interval], begin: float, kind: str, what: str, row: Interval, finest: float
) -> None:
    """Boxes of the intervals, in milliseconds since `begin`; gaps below `finest` seconds are closed."""
    boxes = [(1e3 * (a - begin), 1e3 * (b - begin)) for a, b in joined(intervals, finest)]
    chart.spans(boxes, kind, [f"{what}: {a:,.2f} to {b:,.2f} ms" for a, b in boxes], row)


# ---- backends --------------------------------------------------------------------------------------------------------


def _backends(trace: TraceData) -> Section:
    given = trace.conditions
    whys = ("; ".join(f"{name}: {why}" for name, why in each.refused.items()) or "-" for each in trace.served)
    rows = [(each.operator, each.backend or "none", why) for each, why in zip(trace.served, whys, strict=True)]
    asked = f'mode="{given.mode}", backend="{given.backend}"'
    asked += "" if given.width is None else f", buckets of width {given.width:g}"
    asked += f"; compute: {given.computed}" if given.computed else ""
    table = Table("Backend of each operator", ("operator", "backend", "faster ones without support, why"), rows)
    return Section("backends", "Backends", f"Options of the run: {asked}.", tables=[table])
