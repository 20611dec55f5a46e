"""Independent programs on one graph in parallel, such as searches from many sources."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import torch

from tgraph.core.graph import Graph
from tgraph.core.system import native
from tgraph.engine.run import Run, placed, run
from tgraph.engine.together import together
from tgraph.errors import ArgumentError
from tgraph.model.program import Program
from tgraph.progress import is_wanted

ARCS_WORTH_A_THREAD = 1 << 18  # on smaller graphs a program runs mostly in Python, where threads wait for each other


def run_each(programs: Iterable[Program], graph: Graph, **options: Any) -> list[Run]:
    """Run independent `programs`, and return the `Run` of each, in order.

    Each block that is read of a streamed graph serves all programs that need it (`tgraph.together`). In memory, on the
    CPU, every core runs whole programs, where the graph is large and there are as many programs as cores: a second
    core speeds up a search with small frontiers less than it does by running another search. `options` are
    those of `tgraph.run`; with `progress`, and in memory with `trace`, the programs run one after the other.

    Raises the errors of `tgraph.run`, for the first program that fails; ArgumentError for a checkpoint, and for other
    objects than programs and a graph.

    >>> graph = tg.generators.path(4)
    >>> runs = tg.run_each([tg.algorithms.BFS(source) for source in (0, 3)], graph)
    >>> [run.values.tolist() for run in runs]
    [[0, 1, 2, 3], [3, 2, 1, 0]]
    """
    if options.get("checkpoint") is not None:
        raise ArgumentError("checkpoint: is of one run, these are several; pass each to tgraph.run with its own")
    if not isinstance(programs, Iterable) or isinstance(programs, Graph):
        raise ArgumentError(f"programs: expected several, got {programs!r}; write run_each([program], graph)")
    if not isinstance(graph, Graph):
        raise ArgumentError(f"graph: expected a tgraph.Graph, got {type(graph).__name__}; see Graph.from_*")
    graph = placed(graph, options.pop("memory", None), options.pop("device", None))
    chosen, threads = list(programs), torch.get_num_threads()
    spread = graph.layout is not None and graph.layout.is_distributed  # processes exchange in one order
    if graph.storage.streams and not spread and not is_wanted(options.get("progress", False)):
        with together() as calls:
            noted = [calls(run, program, graph, **options) for program in chosen]
        return [call.result() for call in noted]
    watched = spread or options.get("trace") or options.get("progress")
    if watched or graph.device.type != "cpu" or len(chosen) < threads or graph.num_arcs < ARCS_WORTH_A_THREAD:
        return [run(program, graph, **options) for program in chosen]
    with ThreadPoolExecutor(threads, initializer=native.use_one_thread) as pool:
        return list(pool.map(lambda program: run(program, graph, **options), chosen))
