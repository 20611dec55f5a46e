"""The engines in which a program runs unchanged, places of the arcs, directions and backends, and what of that is so:
`matrix`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
from programs import PROGRAMS, Written
from torch.utils._pytree import tree_map

import tgraph as tg
from tgraph.errors import TGraphError

Place = tuple[tg.Graph, dict[str, Any]]  # a graph somewhere, and the options of the run
LAYOUTS: dict[str, dict[str, Any]] = {
    "coo": {}, "csr": {"narrow": True}, "csc": {}, "dcsr": {}, "dcsc": {}, "ell": {"limit": 1e9}, "sell": {},
    "wsb": {"min_density": 0}, "elias_fano": {}, "virtual": {}, "cbm": {},
}  # fmt: skip
BESIDE = 224  # bytes of a vertex with data of four columns and what they receive


@contextmanager
def in_float64() -> Iterator[None]:
    """Programs whose numbers have the default dtype compute in float64."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def made(scale: int, directed: bool, degree: int = 64) -> tg.Graph:
    """An R-MAT graph of which vertex 0 has the most arcs. Weights are 1 to 9 where it is directed, and else another one
    for each edge."""
    graph = tg.generators.rmat(scale, degree, directed=directed, seed=3).reorder("degree")
    source, target = graph.to_edge_index()
    weights = (7 * source + 13 * target) % 9 + 1
    if not directed:
        edge = torch.maximum(source, target) * graph.num_vertices + torch.minimum(source, target)
        weights = 1 + edge.unique(return_inverse=True)[1]
    return tg.Graph(graph.offset, graph.neighbors, weights.double(), directed=directed)


def for_program(program: Written, graph: tg.Graph) -> tg.Graph:
    return graph if program.weighted else tg.Graph(graph.offset, graph.neighbors, directed=graph.directed)


def in_memory(program: Written, graph: tg.Graph, folder: Path, **options: Any) -> Place:
    return for_program(program, graph), options


def in_layout(program: Written, graph: tg.Graph, folder: Path, name: str) -> Place:
    return for_program(program, graph).to_format(name, **LAYOUTS[name]), {}


def streamed(program: Written, graph: tg.Graph, folder: Path, **options: Any) -> Place:
    """In a quarter of the bytes of the graph, beside the data of the vertices."""
    path = folder / f"{'directed' if graph.directed else 'undirected'}.tg"
    if not path.exists():
        tg.stream.write_partitioned(graph, path, parts=8)
    return tg.open(path, memory=graph.nbytes // 4 + BESIDE * graph.num_vertices), options


def snapshot(program: Written, graph: tg.Graph, folder: Path) -> Place:
    graph = for_program(program, graph)
    store = tg.dynamic.Store(graph.weight_dtype, directed=graph.directed, num_vertices=graph.num_vertices)
    store.insert(*graph.to_edge_index(), graph.weights)
    return store.snapshot(), {}


def on_ranks(program: Written, graph: tg.Graph, folder: Path) -> Place:
    return tg.distributed.spread(for_program(program, graph)), {}


ENGINES: dict[str, Callable[..., Place]] = {
    "auto": in_memory,
    "as written": partial(in_memory, fuse=False),
    "push": partial(in_memory, mode="push"),
    "pull": partial(in_memory, mode="pull"),
    "portable": partial(in_memory, backend="portable"),
    **{name: partial(in_layout, name=name) for name in LAYOUTS},
    "streamed": streamed,
    "streamed, push": partial(streamed, mode="push"),
    "streamed, pull": partial(streamed, mode="pull"),
    "snapshot": snapshot,
    "two ranks": on_ranks,
}
STREAMED = [name for name in ENGINES if name.startswith("streamed")]
COLUMNS = {
    "memory": ("auto", "as written"), "push": ("push",), "pull": ("pull",), "portable": ("portable",),
    "layouts": LAYOUTS, "streamed": STREAMED, "snapshot": ("snapshot",), "two ranks": ("two ranks",),
}  # fmt: skip


class Reason(NamedTuple):
    """Why a program does not run somewhere, as docs/limits.md says, and what is in the error."""

    short: str
    error: str


WEIGHTS = Reason("weights", "a CBM holds a binary matrix")
AT_ONCE = Reason("all arcs at once", "to decode")
SINGLE = Reason("single arcs", "needs single arcs of the whole graph")
REASONS = (WEIGHTS, AT_ONCE, SINGLE)
REFUSED = {
    ("triangles", "streamed"): AT_ONCE,
    ("triangles", "two ranks"): SINGLE,
}


def declared(name: str, engine: str) -> str:
    """Why a program does not run in an engine, "" where it does."""
    if engine == "cbm" and PROGRAMS[name].weighted:
        return WEIGHTS.short
    reason = REFUSED.get((name, engine.partition(",")[0]))
    return "" if reason is None else reason.short


@in_float64()
def expected(name: str, graph: tg.Graph) -> Any:
    """The values of a program by torch's operations, as it is written, checked."""
    program = PROGRAMS[name]
    graph = for_program(program, graph)
    values = program.run(graph, graph, fuse=False, backend="portable")
    program.check(graph, values)
    return values


@in_float64()
def found(name: str, engine: str, graph: tg.Graph, folder: Path, values: Any) -> str:
    """Why a program does not run in an engine, "" where it does. Raises AssertionError for other values."""
    program = PROGRAMS[name]
    try:
        place, options = ENGINES[engine](program, graph, folder)
        computed = program.run(place, graph, **options)
    except TGraphError as error:
        reason = next((reason for reason in REASONS if reason.error in str(error)), None)
        if reason is None:
            raise
        return reason.short
    if engine == "two ranks":  # which have the gradients of their own rows
        ownership = place.layout.ownership
        local = lambda each: ownership.own(each) if each.shape[:1] == (graph.num_vertices,) else each  # noqa: E731
        whole = lambda each: each.full_tensor() if hasattr(each, "full_tensor") else each  # noqa: E731
        computed, values = (tree_map(lambda each: local(whole(each)), each) for each in (computed, values))
    elif place.layout is not None and (name, "streamed") not in REFUSED and engine != "cbm":
        assert "arcs" not in place.caches, "all arcs were decoded"
    torch.testing.assert_close(computed, values, rtol=1e-6, atol=1e-9)
    return ""


def cells(names: Iterable[str], engines: Iterable[str], scale: int, folder: str = "") -> dict[str, dict[str, str]]:
    """Of each program why it does not run in each engine, or that it is wrong there; on ranks all of them call this."""
    graphs, outcomes = {directed: made(scale, directed) for directed in (True, False)}, {}
    for name in names:
        graph = graphs[PROGRAMS[name].directed]
        values, outcomes[name] = expected(name, graph), {}
        for engine in engines:
            try:
                outcomes[name][engine] = found(name, engine, graph, Path(folder), values)
            except Exception as error:
                outcomes[name][engine] = f"WRONG, {type(error).__name__}: {error}".splitlines()[0]
    return outcomes


def row(reasons: dict[str, str]) -> list[str]:
    """The cells of a program, of the reasons against engines."""
    shown = []
    for engines in COLUMNS.values():
        against = {engine: reasons[engine] for engine in engines if reasons[engine]}
        names = f"{', '.join(against)}: " if len(against) < len(engines) else ""
        shown.append(f"{names}{', '.join(dict.fromkeys(against.values()))}" if against else "✓")
    return shown


def matrix() -> str:
    """The table of programs and engines in docs/model.md."""
    head = ["", "lines", *COLUMNS]
    lines = [head, ["---"] * len(head)]
    for name, program in PROGRAMS.items():
        lines.append([program.title, str(program.lines), *row({each: declared(name, each) for each in ENGINES})])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
