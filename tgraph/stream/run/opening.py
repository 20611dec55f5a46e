"""Graphs within a budget of memory: `tgraph.open`, and what `tgraph.run` does with `memory`."""

from __future__ import annotations

import weakref
from pathlib import Path

import torch

from tgraph.core import devices
from tgraph.core.graph import Graph
from tgraph.files import PathLike
from tgraph.formats.graph import FormattedGraph
from tgraph.stream.file.blocks import BlockFile
from tgraph.stream.file.plain import PlainFile
from tgraph.stream.file.writing import balanced_bounds
from tgraph.stream.memory import PAGE, parse_memory
from tgraph.stream.run.budget import block_count
from tgraph.stream.run.host import HostBlocks
from tgraph.stream.run.streamed import Streamed


def open(path: PathLike, memory: str | int, device: torch.device | str | None = None) -> Graph:
    """The graph in a .tg file, read block by block whenever a program needs its arcs.

    Parameters
    ----------
    path : a file that `tgraph.write` wrote, whose arcs are read where they lie, or a partitioned one by
        `tgraph.stream.write_partitioned`, `tgraph.stream.convert` or `tgraph partition`.
    memory : what may be used, such as "500MB", or bytes as an int: for data of the vertices, which stays there, and for
        blocks of arcs.
    device : where blocks are computed on, by default the CPU.

    Every program runs on it. Aggregates over all arcs, relaxations and components go block by block; what needs single
    arcs (triangles, cores, communities) decodes the graph, and raises MemoryBudgetError where that does not fit.
    A plain file holds no in-arcs: what first needs those of a directed graph (a pull, such as of PageRank, or HITS) has
    them sorted by an external sort into temporary files beside it, of up to four times their size in all, of which one
    stays until the graph is gone and none after a crash. Its blocks hold a megabyte of neighbours or more each, and
    parts that bring them together are only in a partitioned file, which saves loads.
    Raises MemoryBudgetError where not one block fits beside the data of the vertices, FileFormatError for a file that
    is damaged or holds a layout, ArgumentError for another `memory` or `device`.
    """
    budget, target = parse_memory(memory), devices.available(device or "cpu")
    source = BlockFile(path) if _is_partitioned(path) else PlainFile(path, budget)
    try:
        graph = _graph_of(source, budget, target)
    except BaseException:
        source.close()
        raise
    weakref.finalize(graph.layout.pipeline, source.close)  # type: ignore[union-attr]
    return graph


def _is_partitioned(path: PathLike) -> bool:
    with Path(path).open("rb") as file:
        return b'"blocks"' in file.read(PAGE)


def within(graph: Graph, memory: str | int | None, device: torch.device | str | None) -> Graph:
    """The graph on a device and within a budget: as it is where it fits, else streamed from where it is.

    Raises MemoryBudgetError where the data of its vertices does not fit, ArgumentError for a `memory` or `device` that
    is none.
    """
    target = graph.device if device is None else devices.available(device)
    if memory is None:
        return graph.to(target)
    budget = parse_memory(memory)
    if isinstance(graph.layout, Streamed):
        return _graph_of(graph.layout.source, budget, target)
    if graph.nbytes <= budget:
        return graph.to(target)
    held = graph.to("cpu")
    plain = held.to_csr() if isinstance(held, FormattedGraph) else held
    return _graph_of(_blocks_of(plain, budget), budget, target)


def _blocks_of(graph: Graph, budget: int) -> HostBlocks:
    """A graph in memory as blocks of equal size, as many as suit the budget."""
    whole = HostBlocks(graph, torch.tensor([0, graph.num_arcs], device="cpu"))
    blocks = min(block_count(whole, max(extent.nbytes for extent in whole.index), budget), max(graph.num_arcs, 1))
    return HostBlocks(graph, balanced_bounds(graph.offset, blocks))


def _graph_of(source: BlockFile, budget: int, device: torch.device) -> Graph:
    order = None if source.order is None else source.order.to(device)
    return FormattedGraph(Streamed(source, budget, device), source.vertices, source.directed, order)
