"""Independent programs on one graph in parallel, such as searches from many sources."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import torch

from tgraph.core.graph import Graph
from tgraph.core.system import native
from tgraph.engine.run import Run, run
from tgraph.errors import ArgumentError
from tgraph.model.program import Program

ARCS_WORTH_A_THREAD = 1 << 18  # on smaller graphs a program runs mostly in Python, where threads wait for each other


def run_each(programs: Iterable[Program], graph: Graph, **options: Any) -> list[Run]:
    """Run independent `programs`, and return the `Run` of each, in order.

    On the CPU every core runs whole programs, where the graph is large and there are as many programs as cores: a
    second core speeds up a search with small frontiers less than it does by running another search. `options` are
    those of `tgraph.run`; with `trace` or `progress` the programs run one after the other.

    Raises the errors of `tgraph.run`, for the first program that fails; ArgumentError for a checkpoint.

    >>> graph = tg.generators.path(4)
    >>> runs = tg.run_each([tg.algorithms.BFS(source) for source in (0, 3)], graph)
    >>> [run.values.tolist() for run in runs]
    [[0, 1, 2, 3], [3, 2, 1, 0]]
    """
    if options.get("checkpoint") is not None:
        raise ArgumentError("checkpoint: is of one run, these are several; pass each to tgraph.run with its own")
    chosen, threads = list(programs), torch.get_num_threads()
    watched = options.get("trace") or options.get("progress")
    watched = watched or (graph.layout is not None and graph.layout.is_distributed)  # processes exchange in one order
    if watched or graph.device.type != "cpu" or len(chosen) < threads or graph.num_arcs < ARCS_WORTH_A_THREAD:
        return [run(program, graph, **options) for program in chosen]
    with ThreadPoolExecutor(threads, initializer=native.use_one_thread) as pool:
        return list(pool.map(lambda program: run(program, graph, **options), chosen))
