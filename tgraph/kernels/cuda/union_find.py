"""`join` and `outside` on a CUDA device: lock-free union-find on the stored rows, whose arcs are not gathered."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from tgraph.core.frontier import Frontier
from tgraph.core.subgraph import Subgraph
from tgraph.kernels.call import Call
from tgraph.kernels.cuda import frontier, runtime
from tgraph.kernels.cuda.frontier import ARCS_PER_BLOCK, BLOCK, INDEX_TYPES, arc_arguments, blocks
from tgraph.kernels.cuda.runtime import Kernel

SOURCE = "relaxation/union_find.cu"


def instantiations() -> Iterator[Kernel]:
    """Every kernel that `join` and `outside` may launch."""
    yield from frontier.instantiations()
    for label in INDEX_TYPES.values():
        for name in ("count_strays", "flatten", "mark_outside"):
            yield Kernel(SOURCE, name, (label,))
        for neighbor in INDEX_TYPES.values():
            yield Kernel(SOURCE, "hook", (label, neighbor))


def refuses(call: Call) -> str | None:
    """Why labels are not supported, None if they are."""
    if not call.data.is_contiguous():
        return "it writes labels that lie side by side, these are a strided view"
    return None


def join(sub: Subgraph, label: Tensor) -> bool:
    """See `tgraph.primitives.union_find.join`. False, with nothing done, where the labels are no forest."""
    n, types = len(label), (INDEX_TYPES[label.dtype],)
    if not n:
        return True
    strays = frontier.new_sums(label.device, 1)
    runtime.launch(Kernel(SOURCE, "count_strays", types), blocks(n), BLOCK, label, n, strays)
    if strays.item():
        return False
    arcs = arc_arguments(sub.selection)
    _, neighbors, *_, num_arcs = arcs
    if num_arcs:
        kernel = Kernel(SOURCE, "hook", (*types, INDEX_TYPES[neighbors.dtype]))
        runtime.launch(kernel, blocks(num_arcs, ARCS_PER_BLOCK), BLOCK, *arcs, label)
    runtime.launch(Kernel(SOURCE, "flatten", types), blocks(n), BLOCK, label, n)
    return True


def outside(sub: Subgraph, label: Tensor, root: int, width: int) -> Frontier:
    """See `tgraph.primitives.union_find.outside`. The frontier ascends."""
    n, graph = len(label), sub.graph
    if not n:
        return graph.nothing()
    words = torch.empty(blocks(n, 32), dtype=torch.int32, device=label.device)
    sums = frontier.new_sums(label.device)
    kernel = Kernel(SOURCE, "mark_outside", (INDEX_TYPES[label.dtype],))
    runtime.launch(kernel, blocks(n), BLOCK, label, graph.row_offset().contiguous(), n, root, width, words, sums)
    size, arcs = sums.tolist()
    return Frontier(graph, ids=frontier.members(words, size), count=(size, arcs))
