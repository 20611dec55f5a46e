"""Aggregation, attention layers and searches on a GPU: TGraph compared with torch's own operators, torch-scatter, PyG
and cuGraph where they are installed, every result verified.

    python -m bench.gpu [--scale 20] [--degree 16] [--features 1,32,128] [--heads 32,64] [--repeat 20] [--device cuda]

Bytes are counted minimally: every neighbour, offset, input and output once. Achieved bandwidth is these bytes over the
time, its share that over a device copy measured in the same run. Peak memory is that of a call beyond what was there
before. Results go to bench/results/gpu-NAME.md and .json.
`--device cpu` runs the same comparison on the CPU, to try it out.
"""

from __future__ import annotations

import importlib
import re
import statistics
import sys
from collections.abc import Callable
from copy import deepcopy
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

import tgraph as tg
from bench import results as files
from bench.command import RESULTS, parsed
from bench.gnn import ATTENTION, HEADS, Step, both, forward
from bench.measure import timed
from bench.results import table

COPIED = 1 << 30  # bytes


@dataclass
class Row:
    """One system on one task. milliseconds : the median; None where it failed, and `note` is the reason. megabytes :
    the peak of the memory of a call on a CUDA device."""

    graph: str
    task: str
    system: str
    milliseconds: float | None
    gigabytes_per_second: float | None = None
    share: float | None = None
    note: str = ""
    megabytes: float | None = None


def main() -> None:
    arguments = parsed(
        __doc__, scale=20, degree=16, features=[1, 32, 128], heads=[32, 64], repeat=20, device="cuda", output=RESULTS
    )
    device = torch.device(arguments.device)
    if device.type == "cuda" and not torch.cuda.is_available():
        sys.exit("bench.gpu: torch sees no CUDA device; --device cpu tries the comparison out")
    copy = copy_bandwidth(device, COPIED if device.type == "cuda" else COPIED >> 5)
    rows: list[Row] = []
    for name, graph in graphs(arguments.scale, arguments.degree).items():
        graph = graph.to(device)
        for width in arguments.features:
            rows += aggregations(name, graph, width, copy, arguments.repeat)
        for columns in arguments.heads:
            rows += layers(name, graph, columns, arguments.repeat)
        rows += searches(name, graph, arguments.repeat)
        save(rows, copy, device, arguments.output)  # after each graph, so that nothing is lost when the machine goes


def graphs(scale: int, degree: int) -> dict[str, tg.Graph]:
    return {
        f"uniform-{scale}": tg.generators.uniform(scale, degree, weighted=True),
        f"rmat-{scale}": tg.generators.rmat(scale, degree, weighted=True),
    }


def copy_bandwidth(device: torch.device, size: int) -> float:
    """Bytes a second, read and written, of a copy on the device."""
    source = torch.ones(size // 4, device=device)
    target = torch.empty_like(source)
    return 2 * size / milliseconds(lambda: target.copy_(source), device, 10) * 1e3


def milliseconds(call: Callable[[], Any], device: torch.device, repeat: int) -> float:
    """The median of some calls after an untimed one, by events on the device where it has them."""
    call()
    times = []
    for _ in range(repeat):
        if device.type == "cuda":
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            call()
            end.record()
            end.synchronize()
            times.append(start.elapsed_time(end))
        else:
            times.append(1e3 * timed(call)[0])
    return statistics.median(times)


def peak(call: Callable[[], Any], device: torch.device) -> float | None:
    """Megabytes that a call takes at most beyond what is allocated; None on other devices than CUDA's."""
    if device.type != "cuda":
        return None
    torch.cuda.synchronize(device)
    before = torch.cuda.memory_allocated(device)
    torch.cuda.reset_peak_memory_stats(device)
    call()
    torch.cuda.synchronize(device)
    return (torch.cuda.max_memory_allocated(device) - before) / 1e6


def aggregations(name: str, graph: tg.Graph, width: int, copy: float, repeat: int) -> list[Row]:
    """Sum and max of what in-neighbours send, [n] or [n, width]."""
    reverse = graph.transpose()
    x = torch.rand((graph.num_vertices, width) if width > 1 else (graph.num_vertices,)).to(graph.device)
    moved = reverse.neighbors.nbytes + reverse.offset.nbytes + 2 * x.nbytes
    host, rows = graph.to("cpu"), []
    for reduce in ("sum", "max"):
        expected = tg.aggregate(host, x.cpu(), reduce, dtype=torch.float64 if reduce == "sum" else None)
        systems = {"tgraph": lambda reduce=reduce: tg.aggregate(graph, x, reduce)} | peers(reverse, x, reduce)
        for system, call in systems.items():
            row = measured(name, f"{reduce}, F={width}", system, call, expected, repeat)
            if row.milliseconds:
                row.gigabytes_per_second = moved / row.milliseconds / 1e6
                row.share = row.gigabytes_per_second * 1e9 / copy
            rows.append(row)
    return rows


def peers(reverse: tg.Graph, x: Tensor, reduce: str) -> dict[str, Callable[[], Tensor]]:
    """{system: the same aggregation by it} for those that are installed. Structures are made before the clock runs."""
    offset, neighbors = reverse.offset, reverse.neighbors.long()
    receiver = torch.repeat_interleave(offset.diff())
    shape = (reverse.num_vertices, *x.shape[1:])
    identity = 0.0 if reduce == "sum" else -torch.inf

    def scatter() -> Tensor:
        index = receiver.reshape(-1, *(1,) * (x.dim() - 1)).expand(-1, *x.shape[1:])
        kind = {"sum": "sum", "max": "amax"}[reduce]
        return x.new_full(shape, identity).scatter_reduce_(0, index, x[neighbors], kind)

    found: dict[str, Callable[[], Tensor]] = {
        "torch.segment_reduce": lambda: torch.segment_reduce(x[neighbors], reduce, offsets=offset, axis=0),
        "torch.scatter_reduce": scatter,
    }
    if reduce == "sum":
        ones = torch.ones(len(neighbors), device=x.device)
        matrix = torch.sparse_csr_tensor(offset, neighbors, ones, (shape[0], shape[0]), check_invariants=False)
        column = x if x.dim() == 2 else x[:, None]
        found["torch.sparse"] = lambda: (matrix @ column).reshape(shape)
    if torch_scatter := installed("torch_scatter"):
        found["torch_scatter"] = lambda: torch_scatter.segment_csr(x[neighbors], offset, reduce=reduce)
    if pyg := installed("torch_geometric.nn.aggr"):
        aggregator = {"sum": pyg.SumAggregation, "max": pyg.MaxAggregation}[reduce]()
        messages = x if x.dim() == 2 else x[:, None]
        found["PyG"] = lambda: aggregator(messages[neighbors], receiver, dim_size=shape[0]).reshape(shape)
    return found


def layers(name: str, graph: tg.Graph, columns: int, repeat: int) -> list[Row]:
    """The attention layers, forward and with gradients."""
    return [
        measured(name, task, system, step, expected, repeat, difference_by_norm)
        for task, (systems, expected) in tasks(graph, columns).items()
        for system, step in systems.items()
    ]


def tasks(graph: tg.Graph, columns: int) -> dict[str, tuple[dict[str, Step], Tensor]]:
    """{task: ({system: step}, the result of the step on the CPU)}: each layer of HEADS heads with that many columns."""
    host, found = graph.to("cpu"), {}
    edge_index = torch.stack((torch.repeat_interleave(host.out_degree), host.neighbors.long()))
    x = torch.randn((host.num_vertices, columns), generator=torch.Generator().manual_seed(0))
    modules = {"tgraph": tg.nn, "PyG": installed("torch_geometric.nn")}
    for kind in ATTENTION:
        torch.manual_seed(0)
        layers = {name: getattr(of, kind)(columns, columns, heads=HEADS) for name, of in modules.items() if of}
        for backward in (False, True):
            task = f"{kind}, H={HEADS}, D={columns}, {'forward and backward' if backward else 'forward'}"
            systems = {}
            for name, layer in layers.items():
                layer.load_state_dict(layers["tgraph"].state_dict())
                there = deepcopy(layer).to(graph.device)
                systems[name] = step(there, x.to(graph.device), edge_index.to(graph.device), backward)
            found[task] = systems, step(layers["tgraph"], x, edge_index, backward)()
    return found


def step(layer: torch.nn.Module, x: Tensor, edge_index: Tensor, backward: bool) -> Step:
    """The result of a layer, or the gradient of x after those of all parameters were computed too."""
    call = lambda x: layer(x, edge_index)  # noqa: E731
    return both(call, x, layer) if backward else forward(call, x)


def searches(name: str, graph: tg.Graph, repeat: int) -> list[Row]:
    """BFS and SSSP from the vertex of largest degree, components, PageRank."""
    source = int(graph.out_degree.argmax())
    algorithms, host, options = tg.algorithms, graph.to("cpu"), {"tol": 1e-4, "dangling": "ignore"}
    tasks: dict[str, Callable[[tg.Graph], Tensor]] = {
        "BFS": lambda g: algorithms.bfs(g, source),
        "SSSP": lambda g: algorithms.sssp(g, source),
        "WCC": algorithms.wcc,
        "PageRank": lambda g: algorithms.pagerank(g, **options),
    }
    rows = []
    others = cugraph(graph, source)
    for task, run in tasks.items():
        expected = run(host)
        rows.append(measured(name, task, "tgraph", lambda run=run: run(graph), expected, repeat))
        if task in others:
            rows.append(measured(name, task, "cuGraph", others[task], None, repeat))
    return rows


def cugraph(graph: tg.Graph, source: int) -> dict[str, Callable[[], Any]]:
    """{task: cuGraph's algorithm} where it is installed. Its results, in another order, are not verified."""
    library, frames = installed("cugraph"), installed("cudf")
    if not library or not frames:
        return {}
    rows = torch.repeat_interleave(graph.out_degree)
    edges = frames.DataFrame({"src": rows.int(), "dst": graph.neighbors.int(), "weight": graph.weights.float()})
    weighted, plain = library.Graph(directed=True), library.Graph(directed=True)
    weighted.from_cudf_edgelist(edges, source="src", destination="dst", edge_attr="weight")
    plain.from_cudf_edgelist(edges, source="src", destination="dst")
    return {
        "BFS": lambda: library.bfs(plain, start=source),
        "SSSP": lambda: library.sssp(weighted, source=source),
        "WCC": lambda: library.weakly_connected_components(plain),
        "PageRank": lambda: library.pagerank(plain, tol=1e-4 / graph.num_vertices, max_iter=1000),
    }


def installed(name: str) -> Any:
    """The module, or None."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def measured(
    graph: str,
    task: str,
    system: str,
    call: Callable[[], Any],
    expected: Tensor | None,
    repeat: int,
    check: Callable[[Tensor, Tensor], str] | None = None,
) -> Row:
    """Time a call whose result was verified first, by `difference` or another check; what fails is a row that says
    so."""
    try:
        result = call()
        if expected is not None and (fault := (check or difference)(result, expected)):
            return Row(graph, task, system, None, note=fault)
        device = result.device if isinstance(result, Tensor) else torch.device("cuda")
        row = Row(graph, task, system, milliseconds(call, device, repeat), megabytes=peak(call, device))
    except (RuntimeError, ValueError, torch.cuda.OutOfMemoryError) as fault:
        row = Row(graph, task, system, None, note=f"{type(fault).__name__}: {fault}".splitlines()[0][:120])
    print(f"  {graph}, {task}, {system}: {row.note or f'{row.milliseconds:.3g} ms'}", flush=True)
    return row


def difference(result: Tensor, expected: Tensor) -> str:
    """The fault of a result, nothing where it is right. Sums of floats may differ by rounding."""
    result = result.cpu()
    if result.shape != expected.shape:
        return f"WRONG: shape {list(result.shape)}, not {list(expected.shape)}"
    if not result.is_floating_point():
        wrong = result != expected
    else:  # torch.segment_reduce and others give 0, not -inf, where nothing is received
        empty = expected.isinf() & ((result == 0) | (result == expected))
        wrong = ~(empty | torch.isclose(result.double(), expected.double(), rtol=1e-4, atol=1e-7))
    return f"WRONG: {int(wrong.sum())} of {wrong.numel()} differ" if bool(wrong.any()) else ""


def difference_by_norm(result: Tensor, expected: Tensor) -> str:
    """The fault of a result, nothing where it is as near as float32 can be expected to be. A gradient jumps where
    a leaky_relu has its kink, so that single numbers may differ by rounding: what counts is the norm, by 2e-4 of which
    the gradients of GATConv differ, ours and PyG's alike."""
    error = float((result.cpu().double() - expected.double()).norm() / expected.double().norm().clamp(min=1e-30))
    return "" if error < 5e-4 else f"WRONG: by {error:.1e} of the norm"


def save(rows: list[Row], copy: float, device: torch.device, output: Path) -> None:
    """Write the table and the numbers."""
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu"
    stem = f"gpu-{re.sub('[^a-z0-9]+', '-', name.lower()).strip('-')}"
    facts = {"device": name, "torch": torch.__version__, "cuda": str(torch.version.cuda), "copy_bytes_per_s": copy}
    ours = {(row.graph, row.task): row.milliseconds for row in rows if row.system == "tgraph"}
    found = {"facts": facts, "rows": [asdict(row) for row in rows]}
    files.save(stem, markdown(rows, ours, facts), found, output, quiet=True)
    print(f"written: {output / stem}.md, {output / stem}.json")


def markdown(rows: list[Row], ours: dict[tuple[str, str], float | None], facts: dict[str, Any]) -> str:
    lines = []
    for row in rows:
        own = ours.get((row.graph, row.task))
        time = f"{row.milliseconds:.3g}" if row.milliseconds else row.note
        ratio = f"{row.milliseconds / own:.3g}" if row.milliseconds and own else ""
        reached = f"{row.share:.0%}" if row.share else ""
        speed = f"{row.gigabytes_per_second:.0f}" if row.gigabytes_per_second else ""
        memory = f"{row.megabytes:.0f}" if row.megabytes is not None else ""
        lines.append([row.graph, row.task, row.system, time, ratio, speed, reached, memory])
    head = ["graph", "task", "system", "ms", "over TGraph", "GB/s of minimal bytes", "of a device copy", "peak MB"]
    about = (
        f"{facts['device']}, torch {facts['torch']}, CUDA {facts['cuda']}; a device copy moves "
        f"{facts['copy_bytes_per_s'] / 1e9:.0f} GB/s. Medians. Results of all systems but cuGraph are verified."
    )
    return f"# Aggregation, attention and searches on {facts['device']}\n\n{about}\n\n{table(head, lines)}"


if __name__ == "__main__":
    main()
