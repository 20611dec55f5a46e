"""One round of a min or max fixpoint, improvements written in place as they are found."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from tgraph.frontier import Frontier
from tgraph.kernels.call import Call
from tgraph.kernels.cuda import frontier, runtime
from tgraph.kernels.cuda.frontier import BLOCK, INDEX_TYPES, TYPES, Rows, blocks
from tgraph.kernels.cuda.runtime import Argument, Kernel
from tgraph.kernels.portable import relaxation as portable
from tgraph.kernels.portable.aggregation import scratch_of
from tgraph.kernels.reductions import EDGE_OPERATIONS, Reduction
from tgraph.subgraph import Subgraph

# As in relax.cu: longer rows are cut into tiles of so many arcs, each for one warp of so many blocks.
ARCS_PER_TILE, TILE_BLOCKS = 1024, 1024

# Where a frontier holds this part of the vertices, to list a bitmap in order is cheaper than to sort ids.
DENSE = 64


def instantiations() -> Iterator[Kernel]:
    """Every kernel that `relax` may launch."""
    yield from frontier.instantiations()
    for value in TYPES.values():
        for index in INDEX_TYPES.values():
            for name in ("push_arcs", "pull_rows", "pull_tiles"):
                yield Kernel("relax.cu", name, (value, index))


def refuses(call: Call) -> str | None:
    """Why the kernels do not relax such values, None where they do."""
    values, weights = call.data, call.weights
    if values.requires_grad:
        return "it overwrites values, whose gradient would be lost"
    if values.dtype not in TYPES:
        return f"it has no relaxation of {values.dtype} values"
    if values.dim() != 1 or not values.is_contiguous():
        return "it relaxes one value for each vertex, which lie side by side"
    if weights is not None and torch.result_type(values, weights) != values.dtype:
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
    """As `tgraph.kernels.portable.relaxation.relax`, with one small device-to-host read. The frontier ascends."""
    if sub.mode == "pull" and not sub.selection.is_whole:
        return portable.relax(sub, values, reduction, edge, weights, bound)
    sums = frontier.new_sums(values.device, 3)
    messages = messages_of(values, reduction, edge, weights)
    if sub.mode == "push":
        return _push(sub, values, messages, sums)
    per_arc = isinstance(weights, Tensor) and weights.dim() > 0  # then hardly a row meets the bound
    return _pull(sub, values, messages, None if per_arc else bound(), sums)


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
    rows = Rows.of(sub.selection)
    n = len(values)
    if not rows.num_arcs:
        return sub.graph.nothing()
    sent = values.clone() if rows.ids is None else values.index_select(0, rows.ids)
    reached = scratch_of(sub).bitmap(values.device)
    changed = torch.empty(min(n, rows.num_arcs), dtype=torch.int64, device=values.device)
    runtime.launch(
        Kernel("relax.cu", "push_arcs", (TYPES[values.dtype], INDEX_TYPES[rows.neighbors.dtype])),
        rows.grid,
        BLOCK,
        *rows.arguments,
        False,
        sent,
        *messages,
        sub.graph.offset.contiguous(),
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


def _pull(sub: Subgraph, values: Tensor, messages: list[Argument], limit: Tensor | None, sums: Tensor) -> Frontier:
    n = len(values)
    if not n:
        return sub.graph.nothing()
    front = frontier.pack(sub.active.mask) if sub.sends_partly else None
    reached = torch.empty(blocks(n, 32), dtype=torch.int32, device=values.device)
    limit = None if limit is None else limit.to(values.dtype)
    pull(sub.offset, sub.neighbors, sub.graph.offset, front, messages, limit, values, reached, sums)
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
    runtime.launch(Kernel("relax.cu", "pull_rows", types), blocks(n), BLOCK, offset, neighbors, n, *common)
    if most_tiles:
        grid = min(blocks(most_tiles, BLOCK // 32), TILE_BLOCKS)
        runtime.launch(Kernel("relax.cu", "pull_tiles", types), grid, BLOCK, offset, neighbors, *common)
