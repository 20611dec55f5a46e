"""Graphs within a memory budget: `tgraph.open`, and the `memory` argument of `tgraph.run`."""

from __future__ import annotations

import weakref
from pathlib import Path
from typing import Protocol, runtime_checkable

import torch

from tgraph.core.graph import Graph
from tgraph.core.system import devices
from tgraph.engine import run
from tgraph.files import PathLike
from tgraph.files.folders import check_no_folder
from tgraph.stream.file.blocks import BlockFile
from tgraph.stream.file.writing import balanced_bounds
from tgraph.stream.memory import PAGE, parse_memory
from tgraph.stream.run.budget import block_count
from tgraph.stream.run.host import HostBlocks
from tgraph.stream.run.plain import PlainFile
from tgraph.stream.run.streamed import Streamed


def open(path: PathLike, memory: str | int, device: torch.device | str | None = None) -> Graph:
    """Open the graph in a .tg file; its arcs are read block by block whenever a program needs them.

    Parameters
    ----------
    path : a file written by `tgraph.write`, whose arcs are read in place, or a partitioned one, written by
        `tgraph.stream.write_partitioned`, `tgraph.stream.convert` or `tgraph partition`.
    memory : the memory budget, such as "500MB", or bytes as an int: for vertex data, which is resident, and for blocks
        of arcs.
    device : the device that computes on blocks, by default the CPU.

    Every program runs on it. Aggregates over all arcs, relaxations and components go block by block; algorithms with
    per-edge access (triangles, cores, communities) decode the graph, and raise MemoryBudgetError where it does not fit.
    A plain file holds no in-arcs. The first operation that needs those of a directed graph (a pull, as in PageRank, or
    HITS) sorts them by an external sort into temporary files beside it, or in the folder TMPDIR where its own is
    read-only, of up to four times their size in all; one of these remains until the graph is deleted, and none after a
    crash. The blocks of a plain file hold a megabyte of neighbours or more each; only a partitioned file is ordered by
    parts, which saves loads.
    Raises MemoryBudgetError where not one block fits beside the vertex data, FileFormatError for a file that is damaged
    or holds a layout, ArgumentError for an invalid `memory` or `device`.

    >>> graph = tg.generators.rmat(8)
    >>> tg.write(graph, "web.tg")
    >>> streamed = tg.open("web.tg", memory="1MB")
    >>> bool((tg.algorithms.bfs(streamed, 0) == tg.algorithms.bfs(graph, 0)).all())
    True
    """
    budget, target = parse_memory(memory), devices.available(device or "cpu")
    check_no_folder(path)
    source = BlockFile(path) if _is_partitioned(path) else PlainFile(path, budget)
    return source.with_columns(_closed_with(source, budget, target))


def _is_partitioned(path: PathLike) -> bool:
    with Path(path).open("rb") as file:
        return b'"blocks"' in file.read(PAGE)


@runtime_checkable
class InBlocks(Protocol):
    """A storage in memory, or on memory maps, that is read as blocks without being made a CSR first."""

    def blocks_within(self, graph: Graph, memory: int) -> BlockFile:
        """The arcs of the graph as blocks for a budget of `memory` bytes. Raises MemoryBudgetError where the vertex
        data exceeds it."""


def within(graph: Graph, memory: str | int | None, device: torch.device | str | None) -> Graph:
    """The graph on a device and within a budget: unchanged where it fits, else streamed from where it is.

    Raises MemoryBudgetError where the vertex data does not fit, ArgumentError for an invalid `memory` or `device`.
    """
    target = graph.device if device is None else devices.available(device)
    if memory is None:
        return graph.to(target)
    budget = parse_memory(memory)
    if isinstance(graph.storage, InBlocks):
        if graph.nbytes <= budget and graph.layout is None:
            return graph.to(target)
        return _closed_with(graph.storage.blocks_within(graph, budget), budget, target)
    if isinstance(graph.layout, Streamed):
        return _graph_of(graph.layout.source, budget, target).with_columns_of(graph)
    if graph.nbytes <= budget:
        return graph.to(target)
    return _graph_of(_blocks_of(graph.to("cpu").to_csr(), budget), budget, target).with_columns_of(graph)


def _blocks_of(graph: Graph, budget: int) -> HostBlocks:
    """A graph in memory as blocks of equal size, in a number that suits the budget."""
    whole = HostBlocks(graph, torch.tensor([0, graph.num_arcs], device="cpu"))
    blocks = min(block_count(whole, max(extent.nbytes for extent in whole.index), budget), max(graph.num_arcs, 1))
    return HostBlocks(graph, balanced_bounds(graph.offset, blocks))


def _closed_with(source: BlockFile, budget: int, device: torch.device) -> Graph:
    """The graph of a source, which is closed with the last reference to the graph."""
    try:
        graph = _graph_of(source, budget, device)
    except BaseException:
        source.close()
        raise
    weakref.finalize(graph.layout.pipeline, source.close)  # type: ignore[union-attr]
    return graph


def _graph_of(source: BlockFile, budget: int, device: torch.device) -> Graph:
    order = None if source.order is None else source.order.to(device)
    return Graph.of_storage(Streamed(source, budget, device), source.vertices, source.directed, order)


run.place = within
