"""Graphs whose rows are distributed over the ranks of a process group."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from tgraph.core.columns import Columns
from tgraph.core.graph import Graph
from tgraph.core.system import devices
from tgraph.distributed.data.sharded import Sharded
from tgraph.distributed.layout import Distributed
from tgraph.distributed.parts.cutting import Cut, part_by
from tgraph.distributed.parts.part import Part
from tgraph.distributed.parts.reading import IdsInFile, owners, read_order, read_part
from tgraph.distributed.parts.splitting import Rows
from tgraph.distributed.ranks.failures import together
from tgraph.distributed.ranks.ownership import Ownership
from tgraph.distributed.ranks.process_group import made
from tgraph.distributed.streaming.within import Within
from tgraph.errors import ArgumentError
from tgraph.files import PathLike
from tgraph.files.folders import check_no_folder
from tgraph.stream.file.blocks import BlockFile
from tgraph.stream.memory import parse_memory
from tgraph.stream.partitioning.cuts import partition
from tgraph.stream.partitioning.parts import Parts


def open(
    path: PathLike,
    *,
    memory: str | int | None = None,
    cut: Cut | None = None,
    device: torch.device | str | None = None,
    group: Any = None,
) -> Graph:
    """Open a partitioned file in every process of a group: each reads the blocks of its own part.

    path : a file written by `tgraph.stream.write_partitioned`, `tgraph.stream.convert` or `tgraph partition`.
    memory : the memory budget of a rank, such as "500MB", or bytes as an int, as of `tgraph.open`: for the data of its
        vertices and of its mirrors, which are resident, and for arcs. Where the part of any rank exceeds its budget,
        the arcs of all ranks are written to blocks in a file without a name beside `path`, and read block by block
        whenever a program needs them. None holds parts in memory, of any size.
    cut : None for all arcs of a vertex at its owner; "hubs" for the arcs of long rows at the owners of their other
        ends, which takes a sum from each rank instead of a value for each arc; "grid" for ranks in a grid, which
        exchange with the ranks of their row and column alone: of use from some tens of ranks on.
    device : where the part of a rank lies and is computed on, None for the CPU. A kind of device without a number, such
        as "cuda", assigns the devices of a machine to its ranks in turn, by LOCAL_RANK.
    group : a process group of torch.distributed; None is the default one. It carries tensors in host memory and, of
        graphs on a device, tensors there: "cpu:gloo,cuda:nccl", or "gloo", which takes them through host memory.

    A rank owns consecutive vertices: equally many blocks where the number of blocks is a multiple of that of the ranks,
    else about equally many arcs. While it reads it holds its part, one block, and a byte for each vertex of the graph;
    with `cut` also all arcs that it reads, once more. Original ids, the order of a file whose vertices were renumbered,
    and columns, whole ones, are read at their first use.
    Raises FileFormatError for a file that is damaged, ArgumentError for an invalid `memory` or `device`, for a `cut`
    within a `memory`, and where no process group was made, or the ranks have opened different files, MemoryBudgetError
    where a block of the file, or one beside the data of the vertices, does not fit the budget of a rank, and OSError
    where the disk has no room for the blocks.

    >>> tg.stream.write_partitioned(tg.generators.grid2d(30, 30), "blocks.tg", 4)
    >>> graph = tg.distributed.open("blocks.tg")  # on all ranks
    >>> graph.top(tg.algorithms.bfs(graph, 0), 1)
    [(899, 58)]
    """
    group = made(group)
    check_no_folder(path)
    with together(group, {"the call": "tgraph.distributed.open"}), BlockFile(path) as file:
        budget = None if memory is None else parse_memory(memory)
        place = devices.available(device_of_rank(device))
        if budget is not None and cut is not None:
            raise ArgumentError(f"cut: {cut!r} cuts rows in memory without limit; leave out `memory`, or `cut`")
        _check_same(file, group)
        ownership, directed, content = owners(file, group), file.directed, _content(file)
        ids = IdsInFile(path) if file.has_vertices else None
        order = partial(read_order, path, place) if file.has_order else None
        within = None if budget is None else Within(file, budget, ownership, place)
        layout = Distributed(
            lambda section: read_part(path, section, ownership, place, cut, within),
            directed,
            content=lambda: [content],
        )
        return file.with_columns(Graph.of_storage(layout, ids, directed, order))


def device_of_rank(device: torch.device | str | None) -> str:
    """The name of the `device` of this rank, None for the CPU. A kind of accelerator without a number gets that of
    LOCAL_RANK, which torchrun sets, modulo the number of devices."""
    name, accelerator = str(device or "cpu"), torch.accelerator.current_accelerator()
    if accelerator is None or name != accelerator.type or "LOCAL_RANK" not in os.environ:
        return name
    return f"{name}:{int(os.environ['LOCAL_RANK']) % max(torch.accelerator.device_count(), 1)}"


def _check_same(file: BlockFile, group: Any) -> None:
    """Raise ArgumentError unless all ranks have opened files of the same content."""
    mine = _content(file)
    parts = [torch.empty_like(mine) for _ in range(dist.get_world_size(group))]
    dist.all_gather(parts, mine, group=group)
    for rank, part in enumerate(parts):
        if not torch.equal(part, parts[0]):
            raise ArgumentError(f"path: rank {rank} has opened another graph than rank 0; give all ranks the same file")


def _content(file: BlockFile) -> Tensor:
    """A digest of the contents of a file, int64 [4]."""
    digest = hashlib.sha256(repr((file.num_vertices, file.index, file.checksums)).encode()).digest()
    return torch.frombuffer(bytearray(digest), dtype=torch.int64)


def spread(graph: Graph, *, method: str = "ebp", cut: Cut | None = None, group: Any = None) -> Graph:
    """The distributed graph of one that every rank has, as from a file in the same order of vertices. Its parts are on
    the device of that graph. Data of its arcs, as its columns, are in the order of that graph, on every rank.

    method : of `tgraph.stream.partition`, into as many parts as there are ranks. cut, group : as of `open`.

    >>> graph = tg.distributed.spread(tg.generators.path(4))  # on all ranks
    >>> depth = tg.algorithms.bfs(graph, 0)
    >>> depth.max(), depth.to_local()
    (tensor(3, dtype=torch.int32), tensor([0, 1, 2, 3], dtype=torch.int32))
    """
    group = made(group)
    ranks, whole = dist.get_world_size(group), graph
    device, graph = graph.device, graph.to("cpu")  # where parts are made
    parts = partition(graph, ranks, method)
    graph, number = (graph.to_csr(), None) if parts.order is None else _placed(graph, parts)
    starts = torch.searchsorted(graph.offset, parts.bounds)
    starts[0], starts[-1] = 0, graph.num_vertices
    ownership = Ownership(tuple(starts.tolist()), group)

    def read(section: str) -> Part:
        stored = graph if section == "rows" else graph.transpose()
        offset = stored.offset[ownership.first : ownership.end + 1]
        rows = Rows(ownership.first, offset, stored.neighbors, stored.weights)
        how = stored.neighbors.dtype, stored.weight_dtype, graph.directed, None, device
        return part_by(cut, ownership, lambda: [rows], *how)

    layout = Distributed(read, graph.directed, content=graph.storage.identity, number=number)
    order = None if graph.order is None else graph.order.to(device)
    given = Graph.of_storage(layout, graph.vertices, graph.directed, order)
    return given.with_columns_of(whole, vertices=None if parts.order is None else order)


def _placed(graph: Graph, parts: Parts) -> tuple[Graph, Callable[[str], Tensor]]:
    """The graph in the order of parts, in CSR, and what gives the numbers in `graph` of the arcs of one of its
    sections, on the CPU."""
    given = Graph.of_storage(graph.storage, graph._ids, graph.directed)
    given.__dict__["_arc_columns"] = Columns({"number": torch.arange(graph.num_arcs, device="cpu")})
    placed = parts.apply(given).to_csr()

    def number(section: str) -> Tensor:
        arcs = placed.arc_columns.number("number", "graph")
        if section == "rows":
            return arcs
        place, turned = placed.transpose_permutation, given.decoded().transpose_permutation
        return torch.empty_like(turned).index_copy_(0, turned, given.arc_columns["number"])[arcs[place]]

    return placed, number


def gather(graph: Graph, values: Any) -> Any:
    """The `values` of all vertices, [n, ...] or a dict of them, on every rank; to be called by all of them.

    >>> graph = tg.distributed.spread(tg.generators.path(4))
    >>> tg.distributed.gather(graph, tg.algorithms.bfs(graph, 0))
    tensor([0, 1, 2, 3], dtype=torch.int32)
    """
    if isinstance(values, dict):
        return {name: gather(graph, each) for name, each in values.items()}
    layout = layout_of(graph)
    whole = values if isinstance(values, Sharded) else layout.spread(values)
    return whole.full_tensor()


def layout_of(graph: Graph) -> Distributed:
    """The layout of a distributed graph. Raises ArgumentError for any other."""
    if not isinstance(graph.layout, Distributed):
        raise ArgumentError("graph: expected one that is spread over ranks; see tgraph.distributed.open and spread")
    return graph.layout
