"""Relaxations, union-find and checks on blocks of a streamed graph; see `tgraph.stream`."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from tgraph.core.building import soundness
from tgraph.core.graph import Graph
from tgraph.kernels.native.aggregation.arcs import number_of
from tgraph.kernels.native.base.support import attach, compiled, implements, refuses_data
from tgraph.kernels.native.relaxation.relaxation import DTYPES
from tgraph.kernels.operators.relaxation import blocks as declared
from tgraph.kernels.operators.relaxation.blocks import Block, Blocks, Workspace
from tgraph.kernels.reductions import EDGE_OPERATIONS, Reduction


def refuses_relaxation(graph: Graph, block: Block, values: Tensor, *others: Any) -> str | None:
    """Why `relax_block` does not support a call, None if it does."""
    if values.dtype not in DTYPES or not values.is_contiguous():
        return f"it has no kernel for {values.dtype}, or for values that are not contiguous"
    return refuses_data(values)


def refuses_join(blocks: Blocks, graph: Graph, label: Tensor) -> str | None:
    """Why `join_blocks` does not support a call, None if it does."""
    return refuses_data(label) if label.is_contiguous() else "it takes contiguous labels"


def _refuses(offset: Tensor, neighbors: Tensor, num_columns: int) -> str | None:
    return refuses_data(offset) or refuses_data(neighbors)


@implements(declared.relax_block, refuses_relaxation)
def relax_block(
    graph: Graph,
    block: Block,
    values: Tensor,
    active: Tensor,
    reduction: Reduction,
    edge: str,
    weights: Tensor | float | None,
    limit: tuple[float, int],
    splits: tuple[bool, bool],
    workspace: Workspace,
) -> tuple[Tensor, int, int, float]:
    weight = weights.item() if isinstance(weights, Tensor) else weights  # None: those of the block
    per_arc = block.weights if edge != "copy" and weight is None else None
    count, improved, left, best = compiled().relax_block(
        block.offset,
        block.neighbors,
        None if per_arc is None else per_arc.to(values.dtype),
        number_of(0 if weight is None else weight, values.dtype),
        block.first_row,
        *splits,
        reduction.name == "min",
        list(EDGE_OPERATIONS).index(edge),
        number_of(limit[0], values.dtype),
        limit[1],
        values.view(-1),
        values[:1].numel(),
        active,
        workspace.marked,
        workspace.reached,
    )
    return workspace.reached[:count], improved, left, best


@implements(declared.join_blocks, refuses_join)
def join_blocks(blocks: Blocks, graph: Graph, label: Tensor) -> bool:
    kernels = compiled()
    if not kernels.flatten_labels(label):
        return False

    def join(block: Block) -> None:
        kernels.join_block(block.offset, block.neighbors, block.first_row, label)

    blocks.visit(join)
    return kernels.flatten_labels(label)


attach(soundness.is_sound, _refuses)  # without the GIL
