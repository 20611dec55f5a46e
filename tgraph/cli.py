"""The `tgraph` command: read a graph, run an algorithm on it, show or write what it gave.

A command is a chain of steps. Each step gets what the steps before it returned, by position; its keyword-only
parameters are options of the command.
"""

from __future__ import annotations

import inspect
import sys
import time
import warnings
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
import typer
from typer.core import TyperGroup

import tgraph as tg
from tgraph import io, report
from tgraph.algorithms import BFS, HITS, SSSP, WCC, PageRank
from tgraph.demo import compare
from tgraph.doctor import examine
from tgraph.errors import ArgumentError, TGraphError
from tgraph.formats import LAYOUTS
from tgraph.io.stream import replacing
from tgraph.reordering import ORDERS
from tgraph.stream.partition import METHODS, partition
from tgraph.stream.picture import draw

TABLES = {".parquet": "to_parquet", ".csv": "to_csv"}
PICTURES = (".png", ".svg", ".pdf")

# The command line's own errors (an unknown option, a missing argument); typer exports only the heirs of this class.
UsageError: type[Exception] = typer.BadParameter.__mro__[1]


class OneLineErrors(TyperGroup):
    """Says in one line on stderr what the user can put right; any other error is ours and keeps its traceback."""

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run the command and exit: 0 when done, 2 for a mistake of the user, 130 when interrupted."""
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *details: _complain(f"warning: {message}")
            try:
                code = super().main(*args, **extra | {"standalone_mode": False})
            except typer.Abort:
                code = 130
            except (TGraphError, OSError, UsageError) as mistake:
                _complain(_explain(mistake))
                code = 2
        if code == 130:
            _complain("interrupted")
        sys.exit(code if isinstance(code, int) else 0)


def _explain(mistake: Exception) -> str:
    if isinstance(mistake, OSError) and mistake.filename is not None:
        return f"{mistake.filename}: {mistake.strerror}"
    return mistake.format_message() if isinstance(mistake, UsageError) else str(mistake)  # type: ignore[attr-defined]


def _complain(message: str) -> None:
    typer.echo(f"tgraph: {' '.join(message.split())}", err=True)


# ---- what options mean, checked before any work is done -----------------------------------------------------------


def _graph_file(path: Path) -> Path:
    """A file in which a graph can be written."""
    io.format_module(path)
    return _writable(path)


def _table(path: Path | None) -> Path | None:
    if path is not None and path.suffix.lower() not in TABLES:
        raise ArgumentError(f"--output: {path} has none of the extensions {', '.join(TABLES)}")
    return path and _writable(path)


def _picture(path: Path | None) -> Path | None:
    if path is not None and path.suffix.lower() not in PICTURES:
        raise ArgumentError(f"{path} has none of the extensions of a picture, {', '.join(PICTURES)}")
    return path and _writable(path)


def _writable(path: Path) -> Path:
    if path.is_dir() or not path.parent.is_dir():
        raise ArgumentError(
            f"{path} cannot be written: " + ("a folder" if path.is_dir() else f"no folder {path.parent}")
        )
    return path


def _device(name: str) -> str:
    try:
        torch.zeros(1, device=name).item()
    except (RuntimeError, AssertionError, NotImplementedError) as fault:
        reason = str(fault).strip().partition("\n")[0]
        raise ArgumentError(f"--device: {name!r} cannot be used here: {reason}") from fault
    return name


class Mode(str, Enum):
    """The direction of iterations."""

    auto = "auto"
    push = "push"
    pull = "pull"


# ---- options that several commands share --------------------------------------------------------------------------

File = Annotated[Path, typer.Argument(help="A graph in any format that tgraph reads.", show_default=False)]
Format = Annotated[str | None, typer.Option(help="The format, where the extension does not tell.")]
Directed = Annotated[
    bool | None, typer.Option("--directed/--undirected", help="How to take the edges (default: as the file says).")
]
Weights = Annotated[str | None, typer.Option(help="Column of weights: its name, its number from 3 upwards, or 'none'.")]
Multi = Annotated[str, typer.Option(help="Parallel edges: keep, first, sum, min, max or error.")]
Device = Annotated[str, typer.Option(callback=_device, help="A torch device, such as cuda.")]
Progress = Annotated[bool, typer.Option("--progress", help="Show progress bars on stderr.")]
Source = Annotated[str | None, typer.Option(help="Where to start, by original id (default: largest out-degree).")]
Tolerance = Annotated[float, typer.Option(min=0, help="Stop once an iteration changes at most this in all (L1).")]
Rounds = Annotated[int, typer.Option(min=0, help="Give up after so many iterations.")]
ByWeight = Annotated[bool, typer.Option("--weighted", help="Edges count by their weights.")]
Seed = Annotated[int, typer.Option(help="Another seed gives another graph.")]
Weighted = Annotated[bool, typer.Option("--weighted", help="Draw integer weights from 1 to 255.")]


# ---- steps --------------------------------------------------------------------------------------------------------


def read(
    *,
    file: File,
    format: Format = None,
    directed: Directed = None,
    weights: Weights = None,
    multi: Multi = "keep",
    progress: Progress = False,
) -> tg.Graph:
    """The graph in a file."""
    options = {"directed": directed, "multi": None if multi == "keep" else multi, **_weight_options(weights)}
    given = {name: value for name, value in options.items() if value is not None}  # not all formats know all options
    start = time.perf_counter()
    graph = tg.read(file, format=format, progress=progress, **given)
    typer.echo(f"{file}: {_size(graph)}, read in {report.duration(time.perf_counter() - start)}")
    return graph


def _weight_options(column: str | None) -> dict[str, Any]:
    if column is None or column == "none":
        return {"weights": None if column is None else False}
    return {"weights": int(column)} if column.isdecimal() else {"weight": column}


def _size(graph: tg.Graph) -> str:
    kind = "directed" if graph.directed else "undirected"
    return f"{graph.num_vertices:,} vertices, {graph.num_edges:,} edges, {kind}"


def bfs(
    graph: tg.Graph,
    /,
    *,
    source: Source = None,
    max_depth: Annotated[int | None, typer.Option(min=0, help="Go no farther than so many hops.")] = None,
) -> tg.Program:
    """Breadth-first search."""
    return BFS(_start(graph, source), max_depth)


def sssp(
    graph: tg.Graph,
    /,
    *,
    source: Source = None,
    delta: Annotated[float | None, typer.Option(help="Width of the buckets of delta-stepping.")] = None,
) -> tg.Program:
    """Shortest paths."""
    return SSSP(_start(graph, source), delta)


def wcc(graph: tg.Graph, /) -> tg.Program:
    """Components."""
    return WCC()


def pagerank(
    graph: tg.Graph,
    /,
    *,
    damping: Annotated[float, typer.Option(min=0, max=1, help="The probability of following an edge.")] = 0.85,
    tol: Tolerance = 1e-6,
    max_iterations: Rounds = 100,
    weighted: ByWeight = False,
) -> tg.Program:
    """PageRank."""
    return PageRank(damping=damping, tol=tol, max_iterations=max_iterations, weighted=weighted)


def hits(
    graph: tg.Graph, /, *, tol: Tolerance = 1e-6, max_iterations: Rounds = 1000, weighted: ByWeight = False
) -> tg.Program:
    """Hubs and authorities."""
    return HITS(tol=tol, max_iterations=max_iterations, weighted=weighted)


def _start(graph: tg.Graph, source: str | None) -> int:
    """The index of the vertex that the user named, or of the best connected one, and say which."""
    if source is None:
        vertex = report.best_connected(graph)
        typer.echo(f"from vertex {vertex}, the one of largest out-degree (--source names another)")
        return graph.index(vertex)
    labels = isinstance(graph.vertices, np.ndarray)
    index = graph.index(source if labels or not source.lstrip("-").isdecimal() else int(source))
    typer.echo(f"from vertex {source}")
    return index


def execute(
    graph: tg.Graph,
    program: tg.Program,
    /,
    *,
    mode: Annotated[Mode, typer.Option(help="The direction of iterations.")] = Mode.auto,
    backend: Annotated[str, typer.Option(help="Which kernels compute.")] = "auto",
    device: Device = "cpu",
    output: Annotated[Path | None, typer.Option(callback=_table, help="Write the result, .parquet or .csv.")] = None,
    trace: Annotated[Path | None, typer.Option(callback=_picture, help="Draw what each iteration did.")] = None,
    progress: Progress = False,
) -> None:
    """Run the program, say what it found and cost, and write what was asked for."""
    graph = graph.to(device)
    run = tg.run(program, graph, mode=mode.value, backend=backend, trace=True, progress=progress)
    iterations, switches, seconds, rate = report.cost(run)
    typer.echo(f"iterations {iterations}, direction switches {switches}, time {seconds}, {rate} edges/s")
    typer.echo(report.finding(graph, program, run.values))
    if output is not None:
        table = report.frame(graph, program, run.values)
        with replacing(output) as temporary:
            getattr(table, TABLES[output.suffix.lower()])(temporary, index=False)
        typer.echo(f"result: {output}")
    if trace is not None and run.trace is not None:
        run.trace.plot(trace)
        typer.echo(f"trace: {trace}")


def info(graph: tg.Graph, /) -> None:
    """Say what a graph is like."""
    edges = graph.to_edge_index()
    if not graph.directed:
        edges = edges[:, edges[0] <= edges[1]]
    parallel = (edges[:, 1:] == edges[:, :-1]).all(0)
    isolated = (graph.out_degree == 0) & (graph.in_degree == 0)
    facts = {
        "self-loops": f"{graph.num_self_loops:,}",
        "parallel edges": f"{int(parallel.sum()):,}",
        "isolated vertices": f"{int(isolated.sum()):,}",
        "out-degree": _degrees(graph),
        "weights": _weights(graph),
        "vertex ids": _ids(graph),
        "layout": "csr" if graph.layout is None else graph.layout.name,
        "memory": f"{report.scaled(graph.nbytes)}B",
    }
    typer.echo(report.table([(f"{name}:", fact) for name, fact in facts.items()]))


def _degrees(graph: tg.Graph) -> str:
    if not graph.num_vertices:
        return "none"
    ((vertex, largest),) = graph.top(graph.out_degree, 1)
    return f"{graph.num_arcs / graph.num_vertices:.3g} on average, {largest:,} at most (vertex {vertex})"


def _weights(graph: tg.Graph) -> str:
    if graph.weight_dtype is None:
        return "none"
    smallest, largest = graph.weight_range
    return f"{str(graph.weight_dtype).removeprefix('torch.')}, {smallest:g} to {largest:g}"


def _ids(graph: tg.Graph) -> str:
    if graph.vertices is None:
        return f"0 to {graph.num_vertices - 1:,}" if graph.num_vertices else "none"
    examples = ", ".join(map(str, graph.vertices[:3].tolist()))
    return f"{'integers' if isinstance(graph.vertices, torch.Tensor) else 'text'}, such as {examples}"


def demo(
    *,
    file: Annotated[Path | None, typer.Argument(help="A graph (default: a generated one).", show_default=False)] = None,
    format: Format = None,
    directed: Directed = None,
    weights: Weights = None,
    device: Device = "cpu",
    picture: Annotated[Path, typer.Option(callback=_picture, help="Where to draw the iterations.")] = Path("demo.png"),
) -> None:
    """Run five algorithms on one graph, print what they found and cost, and draw their iterations."""
    if file is not None:
        graph = read(file=file, format=format, directed=directed, weights=weights)
    else:
        start = time.perf_counter()
        graph = tg.generators.rmat(16, weighted=True)
        took = report.duration(time.perf_counter() - start)
        typer.echo(f"a generated scale-free graph (R-MAT): {_size(graph)}, made in {took}")
    typer.echo(compare(graph.to(device), picture))


def doctor() -> None:
    """Say what is installed and which backend serves which device."""
    typer.echo(examine())


def random_graph(generator: Callable[..., tg.Graph]) -> Callable[..., tg.Graph]:
    """A step that makes a graph with one of the random generators."""

    def make(
        *,
        scale: Annotated[int, typer.Option(help="The graph has 2**scale vertices.")] = 16,
        edge_factor: Annotated[int, typer.Option(help="Edges per vertex, before parallel ones are dropped.")] = 16,
        seed: Seed = 0,
        directed: Annotated[bool, typer.Option("--directed", help="Edges point one way.")] = False,
        weighted: Weighted = False,
    ) -> tg.Graph:
        return generator(scale, edge_factor, seed, directed=directed, weighted=weighted)

    return make


def grid(
    *,
    rows: Annotated[int, typer.Option(min=0, help="Vertices from top to bottom.")] = 256,
    columns: Annotated[int, typer.Option(min=0, help="Vertices from left to right.")] = 256,
    seed: Seed = 0,
    weighted: Weighted = False,
) -> tg.Graph:
    """A grid."""
    return tg.generators.grid2d(rows, columns, seed=seed, weighted=weighted)


def recommend(
    graph: tg.Graph,
    /,
    *,
    features: Annotated[int, typer.Option(min=1, help="How many numbers each vertex has.")] = 1,
    device: Device = "cpu",
) -> None:
    """Measure every layout on the graph and say which one suits it."""
    advice = tg.advise(graph.to(device), features)
    if advice.arcs < graph.num_arcs:
        typer.echo(f"measured on blocks of vertices with {advice.arcs:,} of {graph.num_arcs:,} arcs")
    typer.echo(str(advice))


def parts(
    graph: tg.Graph,
    /,
    *,
    parts: Annotated[int, typer.Option(min=1, help="How many parts.", show_default=False)],
    method: Annotated[str, typer.Option(help=f"How to find them: {', '.join(METHODS)}.")] = "ebp",
    seed: Annotated[int, typer.Option(help="Another seed gives other parts by wcp.")] = 0,
    picture: Annotated[Path | None, typer.Option(callback=_picture, help="Draw the parts.")] = None,
) -> None:
    """Cut the graph into parts and say how large they are and how many arcs lead from one to another."""
    start = time.perf_counter()
    found = partition(graph, parts, method, seed)
    took = report.duration(time.perf_counter() - start)
    held = found.apply(graph)
    between = found.arcs_between(held)
    counted = f"{parts:,} {'part' if parts == 1 else 'parts'}"
    typer.echo(f"{method}: {counted} in {took}")
    typer.echo(report.partition(found, held, between))
    if picture is not None:
        draw(between, picture, title=f"{method}, {counted}: {report.partition_total(found, held)}")
        typer.echo(f"picture: {picture}")


def save(
    graph: tg.Graph,
    /,
    *,
    out: Annotated[Path, typer.Argument(callback=_graph_file, help="The extension names the format.")],
    reorder: Annotated[str | None, typer.Option(help=f"Renumber vertices by {', '.join(ORDERS)}.")] = None,
    layout: Annotated[str | None, typer.Option(help=f"Store arcs as {', '.join(LAYOUTS)}; in .tg files.")] = None,
) -> None:
    """Write the graph to a file, in another order or layout where asked for."""
    if layout is not None and out.suffix.lower() != ".tg":
        raise ArgumentError(f"--layout: only .tg files keep a layout, not {out.name}")
    graph = graph if reorder is None else graph.reorder(reorder)
    if layout is not None:
        before = graph.nbytes
        graph = graph.to_format(layout)
        typer.echo(f"layout {layout}: {report.scaled(graph.nbytes)}B, in place of {report.scaled(before)}B")
    tg.write(graph, out)
    typer.echo(f"{out}: {_size(graph)}")


# ---- commands -----------------------------------------------------------------------------------------------------


def chain(group: typer.Typer, name: str, help: str, *steps: Callable[..., Any]) -> None:
    """Register the command `name` that takes the steps in order, with the options of them all."""
    options = [
        {
            option.name: option
            for option in inspect.signature(step, eval_str=True).parameters.values()
            if option.kind is option.KEYWORD_ONLY
        }
        for step in steps
    ]
    every = {name: option for own in options for name, option in own.items()}

    def command(**given: Any) -> None:
        results: list[Any] = []
        for step, own in zip(steps, options, strict=True):
            results.append(step(*results, **{name: given[name] for name in own}))

    command.__signature__ = inspect.Signature(list(every.values()))  # type: ignore[attr-defined]
    command.__annotations__ = {name: option.annotation for name, option in every.items()}
    group.command(name, help=help)(command)


app = typer.Typer(cls=OneLineErrors, add_completion=False, pretty_exceptions_enable=False)
generate = typer.Typer()


@app.callback(invoke_without_command=True)
def tgraph(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    """Graph analytics as tensor programs."""
    if version:
        typer.echo(f"tgraph {tg.__version__}")
        raise typer.Exit()
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


chain(app, "bfs", "Hops from one vertex to every other.", read, bfs, execute)
chain(app, "sssp", "Shortest distances from one vertex to every other.", read, sssp, execute)
chain(app, "wcc", "Weakly connected components.", read, wcc, execute)
chain(app, "pagerank", "PageRank of every vertex.", read, pagerank, execute)
chain(app, "hits", "Hub and authority scores of every vertex.", read, hits, execute)
chain(app, "info", "What a graph is like.", read, info)
chain(app, "advise", "What each layout of the arcs costs and gains, and which one to take.", read, recommend)
chain(app, "partition", "Cut a graph into parts of equally many arcs, few of which lead to others.", read, parts)
chain(app, "convert", "Write a graph in another format, order or layout.", read, save)
chain(app, "demo", "Five algorithms on one graph: a table and a picture.", demo)
chain(app, "doctor", "What is installed, and which backend serves which device.", doctor)
app.add_typer(generate, name="generate", help="Make a graph and write it to a file.")
chain(generate, "rmat", "A scale-free graph, as in Graph500 and GAP.", random_graph(tg.generators.rmat), save)
chain(generate, "uniform", "A graph of uniformly random edges.", random_graph(tg.generators.uniform), save)
chain(generate, "grid", "A grid in which each vertex has four neighbours.", grid, save)


def main() -> None:
    """The entry point of the `tgraph` command."""
    app(prog_name="tgraph")
