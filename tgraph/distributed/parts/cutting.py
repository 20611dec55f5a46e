"""Parts with cut rows: the arcs of one vertex lie at several ranks, so that none has all arcs of a hub.

Each rank reads the rows of its own vertices and sends each arc to the rank given by a `Placement`; beside its part it
holds all arcs read and received.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

import torch
import torch.distributed as dist
from torch import Tensor

from tgraph.core.building import inputs
from tgraph.core.csr import Csr
from tgraph.core.graph import Graph
from tgraph.core.rows import offset_of
from tgraph.distributed.parts.part import Part
from tgraph.distributed.parts.partitions import HUB_ARCS, Grid, HubCut, Placement
from tgraph.distributed.parts.splitting import CPU, Numbers, Rows, Take, part_of
from tgraph.distributed.ranks.ownership import Ownership, is_own
from tgraph.distributed.ranks.transport import exchange

Cut = Literal["hubs", "grid"]


def part_by(
    cut: Cut | None,
    ownership: Ownership,
    read: Callable[[], Iterable[Rows]],
    dtype: torch.dtype,
    weight_dtype: torch.dtype | None,
    directed: bool,
    take: Take | None = None,
    device: torch.device = CPU,
) -> Part:
    """The part of this rank, see `splitting.part_of`, with rows cut by `cut`; to be called by all ranks.

    "hubs" : the arcs of rows longer than HUB_ARCS for each rank, or than a quarter of the mean of a rank's arcs if that
    is less, lie at the owners of their other ends (`partitions.cut_hubs`). "grid" : ranks are a grid, as square as
    their number allows, and arcs lie in the row of one owner and the column of the other (`two_dimensional`). None :
    all arcs lie with their rows, in the storage of `take`. Rows are read on the CPU, the part is on `device`.

    Raises ArgumentError for any other `cut`.
    """
    if cut is None or ownership.num_ranks == 1:
        return part_of(ownership, read, dtype, weight_dtype, directed, take, device)
    inputs.check_choice(cut, "cut", ("hubs", "grid"))
    row, neighbor, weights = _arcs(ownership, read, weight_dtype)
    holder = _placement(cut, ownership, row).rank(neighbor, row)
    row, neighbor, weights = _sent(ownership, holder, row, neighbor, weights)
    marked = torch.zeros(ownership.num_rows, dtype=torch.bool, device="cpu")
    marked[row], marked[neighbor] = True, True
    marked[ownership.first : ownership.end] = False
    mirrors = Numbers(marked)

    def local(vertices: Tensor) -> Tensor:
        own = is_own(vertices, ownership)
        return torch.where(own, vertices - ownership.first, mirrors(vertices) + ownership.num_own)

    ends, size = (local(row), local(neighbor)), ownership.num_own + len(mirrors.vertices)
    at_home, inner = is_own(row, ownership), is_own(neighbor, ownership)
    graphs = [
        _graph(ends[0][chosen], ends[1][chosen], None if weights is None else weights[chosen], n, dtype, way)
        for chosen, n, way in (
            (at_home & inner, ownership.num_own, directed),
            (at_home & ~inner, size, False),
            (~at_home, size, False),
        )
    ]
    return Part.on(device, ownership, mirrors.vertices, *graphs)


def _arcs(
    ownership: Ownership, read: Callable[[], Iterable[Rows]], weight_dtype: torch.dtype | None
) -> tuple[Tensor, Tensor, Tensor | None]:
    """(row, neighbor, weights) of the arcs of own rows, by their numbers in the whole graph; copies, since the next
    block may be read into the same memory."""
    row, neighbor = [torch.empty(0, dtype=torch.int64, device="cpu")], [torch.empty(0, dtype=torch.int64, device="cpu")]
    weights = [torch.empty(0, dtype=weight_dtype or torch.float32, device="cpu")]
    for piece in read():
        first, end = int(piece.offset[0]), int(piece.offset[-1])
        vertices = torch.arange(piece.first, piece.first + len(piece.offset) - 1, device="cpu")
        row.append(vertices.repeat_interleave(piece.offset.diff()))
        neighbor.append(piece.neighbors[first:end].to(torch.int64, copy=True))
        if piece.weights is not None:
            weights.append(piece.weights[first:end].clone())
    return torch.cat(row), torch.cat(neighbor), None if weight_dtype is None else torch.cat(weights)


def _placement(cut: Cut, ownership: Ownership, row: Tensor) -> Placement:
    """The placement of arcs, the same on all ranks, from the rows of the arcs that each has read."""
    bounds, ranks = torch.tensor(ownership.starts, device="cpu"), ownership.num_ranks
    if cut == "grid":
        columns = next(each for each in range(int(ranks**0.5), 0, -1) if ranks % each == 0)
        return Grid(bounds, columns)
    degree = torch.bincount(row - ownership.first, minlength=ownership.num_own)
    arcs = int(ownership.sum(torch.tensor(len(row), device="cpu")))
    largest = min(HUB_ARCS * ranks, arcs // (4 * ranks))
    hubs = ownership.concatenate((degree > largest).nonzero().flatten() + ownership.first)[0]
    hub = torch.zeros(ownership.num_rows, dtype=torch.bool, device="cpu")
    hub[hubs] = True
    return HubCut(bounds, hub)


def _sent(
    ownership: Ownership, holder: Tensor, row: Tensor, neighbor: Tensor, weights: Tensor | None
) -> tuple[Tensor, Tensor, Tensor | None]:
    """The arcs that this rank is to hold, of the arcs read by all."""
    order, counts = holder.argsort(stable=True), torch.bincount(holder, minlength=ownership.num_ranks)
    arriving, size = torch.empty_like(counts), counts.element_size() * (ownership.num_ranks - 1)
    exchange(dist.all_to_all_single, arriving, counts, group=ownership.group, sent=size, received=size)
    given, taken = counts.tolist(), arriving.tolist()

    def send(values: Tensor) -> Tensor:
        sent = values[order]
        received = sent.new_empty(sum(taken))
        exchange(
            dist.all_to_all_single,
            *(received, sent, taken, given),
            group=ownership.group,
            sent=sent.nbytes,
            received=received.nbytes,
        )
        return received

    return send(row), send(neighbor), None if weights is None else send(weights)


def _graph(
    row: Tensor, neighbor: Tensor, weights: Tensor | None, size: int, dtype: torch.dtype, directed: bool
) -> Graph:
    """The graph of arcs by local numbers, in ascending rows."""
    order = (row * size + neighbor).argsort(stable=True)
    offset = offset_of(torch.bincount(row, minlength=size))
    weights = None if weights is None else weights[order]
    csr = Csr.unchecked(offset, neighbor[order].to(dtype), None, size, weights)
    return Graph.of_storage(csr, directed=directed)
