"""Steps of commands: graphs read, made, examined, cut and written."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

import tgraph as tg
from tgraph.cli import ranks, report
from tgraph.cli.choices import FORMATS, LAYOUTS, METHODS, ORDERS, among, one_of
from tgraph.cli.declared import parameters
from tgraph.cli.options import (
    Device,
    File,
    Memory,
    Progress,
    Seed,
    blocks_file,
    drawing_file,
    picture_file,
)
from tgraph.cli.options import writable as can_be_written
from tgraph.cli.pipes import check_readable, is_stream, named, readable, writable
from tgraph.cli.reading import READING, arguments, checked, naming_options, reading, refuse
from tgraph.cli.results.result import shown
from tgraph.cli.saying import grouped, say, tell
from tgraph.core.system.text import in_number
from tgraph.errors import ArgumentError

if TYPE_CHECKING:
    from tgraph.io.text.names import Columns


def _check_reading(*, file: Path, format: str | None, **given: Any) -> None:
    check_readable(file, format)


@checked(_check_reading)
@reading()
def read(*, file: File, progress: Progress = False, **given: Any) -> tg.Graph:
    """The graph in a file, or of a stream."""
    format, options, clock = given["format"], arguments(**{**given, "format": None}), report.stopwatch()
    with readable(file) as path, naming_options(), warnings.catch_warnings():
        warnings.simplefilter("ignore", tg.io.ColumnsLeftOut)  # the line below names them
        graph = tg.read(path, format=format, progress=progress, **options)
        taken = _taken(graph, tg.io.columns_of(path, format=format, **options))
    say(f"{named(file)}: {size(graph)}, read in {clock()}; {taken}")
    _tell_of(graph, file)
    return graph


def _tell_of(graph: tg.Graph, file: Path) -> None:
    """The graph in the object of --json."""
    facts = {"vertices": graph.num_vertices, "edges": graph.num_edges, "directed": graph.directed}
    tell(graph={"file": str(file), **facts, "weights": graph.weight_dtype is not None})


def _taken(graph: tg.Graph, columns: Columns | None) -> str:
    """The columns read from a file, and the options that read the others."""
    if columns is None:
        return "no weights" if graph.weight_dtype is None else "with weights (--weights none: without)"
    from tgraph.io.text.names import named

    taken = f"edges from {named(columns.source, columns.target)}, "
    if columns.weight is None:
        taken += "no weights"
    else:
        taken += f"weights from {named(columns.weight)} (--weights none: without)"
    options = " or ".join(f"--weights {column}" for column in columns.numbers)
    left = [f"{named(*columns.numbers)} ({options} takes weights from there)"] if columns.numbers else []
    left += [named(*columns.others)] if columns.others else []
    return taken + (f"; left out: {', '.join(left)}" if left else "")


def verify(*, file: File) -> None:
    """Compare a .tg file with its checksums."""
    clock = report.stopwatch()
    nbytes = tg.verify(file)
    say(f"{file}: {report.scaled(nbytes)}B as they were written, verified in {clock()}")
    tell(file=str(file), bytes=nbytes, damaged=[])


def check_loading(*, file: Path, memory: str | None, **given: Any) -> None:
    """Raise ArgumentError for a stream of no format, and for what can be read in memory alone."""
    if memory is None and not ranks.are_several():
        check_readable(file, given["format"])
        return
    what = "--memory" if memory is not None else "torchrun"
    refuse({name: each for name, each in given.items() if name in READING}, what)
    if is_stream(file) or tg.io.format_module(file).__name__ != "tgraph.io.tg":
        raise ArgumentError(f"{what}: {file} is no .tg file; tgraph convert or tgraph partition --output write one")


@checked(check_loading)
@reading()
def load(
    *, file: File, memory: Memory = None, device: Device = "cpu", progress: Progress = False, **given: Any
) -> tg.Graph:
    """The graph in a file: in memory, read block by block where that is limited, or each part by a rank."""
    if memory is None and not ranks.are_several():
        return read(file=file, progress=progress, **given)
    if ranks.are_several():
        graph = tg.distributed.open(file, memory=memory, device=device)
        by = f" by {ranks.number()} ranks"
    else:
        graph, by = tg.open(file, str(memory), device), ""
    say(f"{file}: {grouped(graph.num_vertices)} vertices, {grouped(graph.num_arcs)} arcs, opened{by}")
    _tell_of(graph, file)
    return graph


def size(graph: tg.Graph) -> str:
    """The numbers of vertices and edges of a graph."""
    kind = "directed" if graph.directed else "undirected"
    n, m = graph.num_vertices, graph.num_edges
    return f"{grouped(n)} {in_number(n, 'vertex')}, {grouped(m)} {in_number(m, 'edge')}, {kind}"


def info(graph: tg.Graph, /) -> None:
    """Sizes, degrees, weights and storage of a graph."""
    isolated = (graph.out_degree == 0) & (graph.in_degree == 0)
    facts = {
        "self-loops": grouped(graph.num_self_loops),
        "parallel edges": grouped(graph.num_parallel_edges),
        "isolated vertices": grouped(int(isolated.sum())),
        "out-degree": _degrees(graph),
        "weights": _weights(graph),
        "vertex ids": _ids(graph),
        "layout": graph.storage.name,
        "memory": f"{report.scaled(graph.nbytes)}B",
    }
    say(report.table([(f"{name}:", fact) for name, fact in facts.items()]))
    degree = graph.out_degree
    tell(
        self_loops=graph.num_self_loops,
        parallel_edges=graph.num_parallel_edges,
        isolated_vertices=int(isolated.sum()),
        largest_out_degree=int(degree.max()) if len(degree) else 0,
        weight_range=None if graph.weight_dtype is None else graph.weight_range,
        layout=graph.storage.name,
        bytes=graph.nbytes,
    )


def _degrees(graph: tg.Graph) -> str:
    if not graph.num_vertices:
        return "none"
    ((vertex, largest),) = graph.top(graph.out_degree, 1)
    return f"{graph.num_arcs / graph.num_vertices:.3g} on average, {grouped(largest)} at most (vertex {shown(vertex)})"


def _weights(graph: tg.Graph) -> str:
    if graph.weight_dtype is None:
        return "none"
    smallest, largest = graph.weight_range
    return f"{str(graph.weight_dtype).removeprefix('torch.')}, {smallest:g} to {largest:g}"


def _ids(graph: tg.Graph) -> str:
    import torch

    if graph.vertices is None:
        return f"0 to {grouped(graph.num_vertices - 1)}" if graph.num_vertices else "none"
    examples = ", ".join(map(shown, graph.vertices[:3].tolist()))
    return f"{'integers' if isinstance(graph.vertices, torch.Tensor) else 'text'}, such as {examples}"


# Parameters of generators as options of the command, by name.
MODEL_OPTIONS: dict[str, Any] = {
    "scale": typer.Option(help="The graph has 2**scale vertices."),
    "edge_factor": typer.Option(help="Edges per vertex, before parallel ones are dropped."),
    "n": typer.Option(min=0, help="Vertices."),
    "m": typer.Option(min=0, help="Edges, or those of each new vertex."),
    "p": typer.Option(min=0, max=1, help="The probability that a pair is joined, or an edge moved."),
    "k": typer.Option(min=0, help="Neighbours of each vertex, an even number."),
    "seed": typer.Option(help="Another seed gives another graph."),
    "directed": typer.Option("--directed", help="Edges point one way."),
    "weighted": typer.Option("--weighted", help="Edges have weights in 1..255."),
    "rows": typer.Option(min=0, help="Vertices from top to bottom."),
    "columns": typer.Option(min=0, help="Vertices from left to right."),
    "degree": typer.Option(help="Neighbours of each vertex; on average where they vary."),
    "exponent": typer.Option(help="Exponent of the power law of degrees, above 2."),
    "radius": typer.Option(help="Points at most this far apart are joined."),
    "dim": typer.Option(min=1, help="Dimensions of the cube that points lie in."),
    "tau1": typer.Option(help="Exponent of the power law of degrees."),
    "tau2": typer.Option(help="Exponent of the power law of the sizes of communities."),
    "mu": typer.Option(min=0, max=1, help="The part of edges that leave their community."),
    "min_degree": typer.Option(min=1, help="The least degree."),
    "max_degree": typer.Option(min=1, help="The largest degree."),
    "min_community": typer.Option(min=1, help="Vertices of the smallest community."),
    "max_community": typer.Option(min=1, help="Vertices of the largest community."),
}


class Model(NamedTuple):
    """A generator: its name in `tgraph.generators`, whose parameters are the options, a sentence, and defaults."""

    run: str
    help: str
    defaults: Mapping[str, Any] = MappingProxyType({})


MODELS = {
    "rmat": Model("rmat", "A scale-free graph, as in Graph500 and GAP.", {"scale": 16}),
    "uniform": Model("uniform", "A graph of uniformly random edges.", {"scale": 16}),
    "grid": Model("grid2d", "A grid in which each vertex has four neighbours."),
    "erdos-renyi": Model("erdos_renyi", "Each pair of vertices is joined with one probability."),
    "random-edges": Model("random_edges", "So many random edges."),
    "barabasi-albert": Model("barabasi_albert", "New vertices are joined to those of large degree."),
    "watts-strogatz": Model("watts_strogatz", "A small world: a ring with some edges moved."),
    "regular": Model("random_regular", "Random edges, the same degree for each vertex."),
    "geometric": Model("random_geometric", "Points of a cube, joined where they are near."),
    "hyperbolic": Model("hyperbolic", "Points of a hyperbolic disk, joined where they are near."),
    "lfr": Model("lfr", "Communities, with power laws of degrees and sizes."),
    "tree": Model("random_tree", "A random tree."),
}
KINDS: dict[str, Any] = {"int": int, "float": float, "bool": bool, "int | None": int | None}


def generator(model: Model) -> Callable[..., tg.Graph]:
    """A step that makes a graph with a generator."""

    def make(**given: Any) -> tg.Graph:
        made = getattr(tg.generators, model.run)(**given)
        return made[0] if isinstance(made, tuple) else made

    make.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(
                option,
                inspect.Parameter.KEYWORD_ONLY,
                default=model.defaults.get(option, default),
                annotation=Annotated[KINDS[kind], MODEL_OPTIONS[option]],
            )
            for option, (kind, default) in parameters(model.run, "generators").items()
        ]
    )
    return make


def picture(
    graph: tg.Graph,
    /,
    *,
    output: Annotated[
        Path, typer.Argument(callback=drawing_file, help="A .png, .svg, .pdf or .html file.", show_default=False)
    ],
    title: Annotated[str, typer.Option(help="The heading.")] = "",
    seed: Seed = 0,
) -> None:
    """A picture of a graph, or a page to look around in: communities in colours, vertices by their rank."""
    groups, ranks = tg.algorithms.cdlp(graph), tg.algorithms.pagerank(graph)
    tg.draw(graph, output, color=groups, size=ranks, title=title, seed=seed)
    say(f"{output}: {size(graph)}")
    tell(picture=str(output))


def recommend(
    graph: tg.Graph,
    /,
    *,
    features: Annotated[int, typer.Option(min=1, help="How many numbers each vertex has.")] = 1,
    device: Device = "cpu",
) -> None:
    """Costs and gains of each layout of the arcs, and the one to take."""
    advice = tg.advise(graph.to(device), features)
    if advice.arcs < graph.num_arcs:
        say(f"measured on blocks of vertices with {grouped(advice.arcs)} of {grouped(graph.num_arcs)} arcs")
    say(str(advice))
    tell(recommended=advice.recommended, rows=[asdict(each) for each in advice.measured])


def parts(
    graph: tg.Graph,
    /,
    *,
    parts: Annotated[int, typer.Option(min=1, help="How many parts.", show_default=False)],
    method: Annotated[
        str,
        typer.Option(
            callback=among(METHODS), autocompletion=one_of(METHODS), help=f"How to find them: {', '.join(METHODS)}."
        ),
    ] = "ebp",
    seed: Annotated[int, typer.Option(help="Another seed gives other parts by wcp.")] = 0,
    picture: Annotated[Path | None, typer.Option(callback=picture_file, help="Draw the parts.")] = None,
    output: Annotated[
        Path | None,
        typer.Option(callback=blocks_file, help="Write the parts as blocks, for --memory and tgraph.open."),
    ] = None,
) -> None:
    """Cut a graph into parts of equally many arcs, few of which lead to others."""
    clock = report.stopwatch()
    found = tg.stream.partition(graph, parts, method, seed)
    took = clock()
    held = found.apply(graph)
    between = found.arcs_between(held)
    counted = f"{grouped(parts)} {'part' if parts == 1 else 'parts'}"
    say(f"{method}: {counted} in {took}")
    say(report.partition(found, held, between))
    tell(method=method, balance=found.balance, cut=found.cut(held)[0], rows=report.rows_of_parts(found, held, between))
    if picture is not None:
        from tgraph.stream.partitioning.picture import draw

        draw(between, picture, title=f"{method}, {counted}: {report.partition_total(found, held)}")
        say(f"picture: {picture}")
    if output is not None:
        tg.stream.write_partitioned(graph, output, found)
        say(f"blocks: {output}")


Out = Annotated[
    Path,
    typer.Argument(callback=can_be_written, help="The extension names the format.", show_default=False),
]
Reorder = Annotated[
    str | None,
    typer.Option(
        callback=among(ORDERS), autocompletion=one_of(ORDERS), help=f"Renumber vertices by {', '.join(ORDERS)}."
    ),
]
Layout = Annotated[
    str | None,
    typer.Option(
        callback=among(LAYOUTS),
        autocompletion=one_of(LAYOUTS),
        help=f"Store arcs as {', '.join(LAYOUTS)}; in .tg files.",
    ),
]
ToFormat = Annotated[
    str | None,
    typer.Option(
        "--to",
        callback=among(FORMATS),
        autocompletion=one_of(FORMATS),
        help="The format to write, where the extension does not tell.",
    ),
]
VerticesOut = Annotated[
    Path | None,
    typer.Option(help="Beside a table of edges: a table of vertices, .parquet or .csv.", show_default=False),
]


def check_out(*, out: Path, to: str | None, layout: str | None, **others: Any) -> None:
    """Raise ArgumentError for a format that is unknown or not named, and for a layout that it does not keep."""
    if to is None and is_stream(out):
        raise ArgumentError(f"{named(out, output=True)} has no extension; name the format to write by --to")
    try:
        tg.io.format_module(out, to)
    except ArgumentError as mistake:  # whose --format is that of the file which is read
        raise ArgumentError(str(mistake).replace("name the format: format=", "name the format: --to ")) from mistake
    if layout is not None and to != "tg" and (to is not None or out.suffix.lower() != ".tg"):
        raise ArgumentError(f"--layout: only .tg files keep a layout, not {out.name}")


@checked(check_out)
def save(
    graph: tg.Graph,
    /,
    *,
    out: Out,
    to: ToFormat = None,
    reorder: Reorder = None,
    layout: Layout = None,
    vertices_out: VerticesOut = None,
) -> None:
    """Write the graph to a file or standard output, in another order or layout where asked for."""
    graph = graph if reorder is None else graph.reorder(reorder)
    if layout is not None:
        before = graph.nbytes
        graph = graph.to_format(layout)
        say(f"layout {layout}: {report.scaled(graph.nbytes)}B, in place of {report.scaled(before)}B")
    if is_stream(out):
        with writable(out) as path:
            tg.write(graph, path, format=to, vertices=vertices_out)
    else:
        tg.write(graph, out, format=to, vertices=vertices_out)
    say(f"{named(out, output=True)}: {size(graph)}")
    tell(written=str(out), vertices=graph.num_vertices, edges=graph.num_edges, directed=graph.directed)
