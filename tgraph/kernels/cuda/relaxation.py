"""One round of a min or max fixpoint, improvements written in place as they are found."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from tgraph.core.frontier import Frontier
from tgraph.core.subgraph import Subgraph
from tgraph.kernels.call import Call
from tgraph.kernels.cuda import frontier, runtime
from tgraph.kernels.cuda.bins import bins_of
from tgraph.kernels.cuda.frontier import ARCS_PER_BLOCK, BLOCK, INDEX_TYPES, TYPES, arc_arguments, blocks
from tgraph.kernels.cuda.pull import least_lanes
from tgraph.kernels.cuda.runtime import Argument, Kernel
from tgraph.kernels.operators.aggregation.aggregation import scratch_of
from tgraph.kernels.operators.relaxation import relaxation as portable
from tgraph.kernels.reductions import EDGE_OPERATIONS, Reduction

SOURCE, COLUMNS = "relaxation/relax.cu", "relaxation/relax_columns.cu"

# As in relax.cu: longer rows are cut into tiles of so many arcs, each for one warp of so many blocks.
ARCS_PER_TILE, TILE_BLOCKS = 1024, 1024

# As many columns as blocks side by side can take.
MAX_COLUMNS = 32 * 65535

# Where a frontier holds this part of the vertices, to list a bitmap in order is cheaper than to sort ids.
DENSE = 64


def instantiations() -> Iterator[Kernel]:
    """Every kernel that `relax` may launch."""
    yield from frontier.instantiations()
    for value in TYPES.values():
        for index in INDEX_TYPES.values():
            for name in ("push_arcs", "pull_rows", "pull_tiles"):
                yield Kernel(SOURCE, name, (value, index))
            yield Kernel(COLUMNS, "pull_columns", (value, index))


def refuses(call: Call) -> str | None:
    """Why the kernels do not relax such values, None where they do."""
    values, weights = call.data, call.weights
    if values.requires_grad:
        return "it overwrites values, whose gradient would be lost"
    if values.dtype not in TYPES:
        return f"it has no relaxation of {values.dtype} values"
    if not values.is_contiguous():
        return "it relaxes values that lie side by side, these are a strided view"
    if values.dim() == 0 or not 0 < values.shape[1:].numel() <= MAX_COLUMNS:
        return f"it relaxes 1 to {MAX_COLUMNS} values for each vertex"
    if isinstance(weights, (Tensor, float, int)) and torch.result_type(values, weights) != values.dtype:
        return f"it has no relaxation of {values.dtype} values with such weights"
    if isinstance(weights, Tensor) and weights.dim() > 0 and (weights.dim() > 1 or weights.dtype not in TYPES):
        return "it has no relaxation with several weights for an arc, or narrow ones"
    return None


def relax(
    sub: Subgraph,
    values: Tensor,
    reduction: Reduction,
    edge: str,
    weights: Tensor | float | None,
    bound: Callable[[], Tensor | None],
) -> Frontier:
    """`tgraph.kernels.operators.relaxation.relaxation.relax` with one small read by the host. The frontier ascends."""
    if sub.mode == "pull" and not sub.selection.is_whole:
        return portable.relax(sub, values, reduction, edge, weights, bound)
    sums = frontier.new_sums(values.device, 3)
    messages = messages_of(values, reduction, edge, weights)
    if sub.mode == "push":
        return _push(sub, values, messages, sums)
    per_arc = isinstance(weights, Tensor) and weights.dim() > 0  # then hardly a row meets the bound
    pulled = _pull if values.dim() == 1 else _pull_columns
    return pulled(sub, values, messages, None if per_arc else bound(), sums)


def messages_of(values: Tensor, reduction: Reduction, edge: str, weights: Tensor | float | None) -> list[Argument]:
    """The weights and what tells the kernels how to use them: (pointer, dtype, step, edge operation, min or max)."""
    step = 0
    if isinstance(weights, Tensor):
        step = min(weights.dim(), 1)
        weights = weights.detach().contiguous() if step else weights.detach().to(values.device, values.dtype)
    elif weights is not None:
        weights = torch.full((), weights, dtype=values.dtype, device=values.device)
    number = 0 if weights is None else list(TYPES).index(weights.dtype)
    return [weights, number, step, list(EDGE_OPERATIONS).index(edge), int(reduction.name == "min")]


def _push(sub: Subgraph, values: Tensor, messages: list[Argument], sums: Tensor) -> Frontier:
    arcs = arc_arguments(sub.selection)
    _, neighbors, rows, *_, num_arcs = arcs
    n = len(values)
    if not num_arcs:
        return sub.graph.nothing()
    sent = values.clone() if rows is None else values.index_select(0, rows)
    reached = scratch_of(sub).bitmap(values.device)
    changed = torch.empty(min(n, num_arcs), dtype=torch.int64, device=values.device)
    columns, lanes, side_by_side = _columns(values)
    runtime.launch(
        Kernel(SOURCE, "push_arcs", (TYPES[values.dtype], INDEX_TYPES[neighbors.dtype])),
        (blocks(num_arcs, ARCS_PER_BLOCK), side_by_side),
        BLOCK,
        *arcs,
        False,
        columns,
        lanes,
        sent,
        *messages,
        sub.graph.row_offset().contiguous(),
        values,
        reached,
        changed,
        sums,
    )
    size, arcs, _ = sums.tolist()
    if size * DENSE < n:
        ids = changed[:size].sort().values
        frontier.clear(ids, reached)
    else:
        ids = frontier.members(reached, size)
        reached.zero_()
    return Frontier(sub.graph, ids=ids, count=(size, arcs))


def _columns(values: Tensor) -> tuple[int, int, int]:
    """How many values a vertex has, how many threads take a column each, and how many blocks side by side take all."""
    columns = values.shape[1:].numel()
    lanes = least_lanes(columns)
    return columns, lanes, blocks(columns, lanes)


def _pull_columns(
    sub: Subgraph, values: Tensor, messages: list[Argument], limit: Tensor | None, sums: Tensor
) -> Frontier:
    n, (columns, lanes, side_by_side) = len(values), _columns(values)
    if not n:
        return sub.graph.nothing()
    front = frontier.pack(sub.active.mask) if sub.sends_partly else None
    limit = None if limit is None else limit.to(values.dtype).expand(values.shape[1:]).contiguous()
    bins = bins_of(sub.graph, sub.offset, sub.neighbors.dtype)
    reached = torch.zeros(blocks(n, 32), dtype=torch.int32, device=values.device)
    kernel = Kernel(COLUMNS, "pull_columns", (TYPES[values.dtype], INDEX_TYPES[sub.neighbors.dtype]))
    common = (sub.offset.contiguous(), sub.neighbors.contiguous(), columns, lanes, front, values.clone(), *messages)
    outcome = (limit, sub.graph.row_offset().contiguous(), values, reached, sums)
    size = n if bins.rows is None else len(bins.rows)
    runtime.launch(kernel, (blocks(size, BLOCK // 32), side_by_side), BLOCK, bins.rows, size, None, *common, *outcome)
    runtime.launch(kernel, (len(bins.tiles), side_by_side), BLOCK, None, 0, bins.tiles, *common, *outcome)
    size, arcs, _ = sums.tolist()
    return Frontier(sub.graph, ids=frontier.members(reached, size), count=(size, arcs))


def _pull(sub: Subgraph, values: Tensor, messages: list[Argument], limit: Tensor | None, sums: Tensor) -> Frontier:
    n = len(values)
    if not n:
        return sub.graph.nothing()
    front = frontier.pack(sub.active.mask) if sub.sends_partly else None
    reached = torch.empty(blocks(n, 32), dtype=torch.int32, device=values.device)
    limit = None if limit is None else limit.to(values.dtype)
    pull(sub.offset, sub.neighbors, sub.graph.row_offset(), front, messages, limit, values, reached, sums)
    size, arcs, _ = sums.tolist()
    return Frontier(sub.graph, ids=frontier.members(reached, size), count=(size, arcs))


def pull(
    offset: Tensor,
    neighbors: Tensor,
    out_offset: Tensor,
    front: Tensor | None,
    messages: list[Argument],
    limit: Tensor | None,
    values: Tensor,
    reached: Tensor,
    sums: Tensor,
) -> None:
    """Launch the kernels of a pull along in-arcs, [n + 1] and [m]; reads nothing back.

    front : the bitmap of the vertices that send, None for all.
    limit : a value that no message beats, or None.
    reached : becomes the bitmap of the improved vertices.
    sums : zeros [3]; their number and that of their out-arcs are added to the first two.
    """
    n = len(values)
    offset, neighbors, out_offset = offset.contiguous(), neighbors.contiguous(), out_offset.contiguous()
    most_tiles = 2 * (len(neighbors) // ARCS_PER_TILE)
    tiles = torch.empty((most_tiles, 2), dtype=torch.int64, device=values.device)
    types = (TYPES[values.dtype], INDEX_TYPES[neighbors.dtype])
    common = (front, values.clone(), *messages, limit, out_offset, values, reached, tiles, sums)
    runtime.launch(Kernel(SOURCE, "pull_rows", types), blocks(n), BLOCK, offset, neighbors, n, *common)
    if most_tiles:
        grid = min(blocks(most_tiles, BLOCK // 32), TILE_BLOCKS)
        runtime.launch(Kernel(SOURCE, "pull_tiles", types), grid, BLOCK, offset, neighbors, *common)
