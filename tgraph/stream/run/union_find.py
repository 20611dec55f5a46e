"""Union-find over blocks: every arc is seen once, in whatever order its block comes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor

from tgraph.core import native
from tgraph.core.rows import Selection
from tgraph.core.subgraph import Subgraph
from tgraph.kernels import portable
from tgraph.stream.file.blocks import Block

if TYPE_CHECKING:
    from tgraph.stream.run.streamed import Streamed


def join_blocks(layout: Streamed, graph: Any, label: Tensor) -> bool:
    """Merge the trees at the two ends of every arc; see `tgraph.primitives.union_find.join`. False, with nothing done,
    where the labels are no forest."""
    if label.device.type != "cpu" or native.load() is None or not label.is_contiguous():
        return _join_portable(layout, graph, label)
    kernels = cast(Any, native.load())
    if not kernels.flatten_labels(label):
        return False

    def join(block: Block) -> None:
        kernels.join_block(block.offset, block.neighbors, block.first_row, label)

    layout.visit(join)
    return kernels.flatten_labels(label)


def _join_portable(layout: Streamed, graph: Any, label: Tensor) -> bool:
    vertex = torch.arange(len(label), device=label.device)
    if bool(((label < 0) | (label > vertex)).any()):
        return False

    def join(block: Block) -> None:
        rows = vertex[block.first_row : block.end_row]
        held = Selection(block.offset, block.neighbors)
        portable.join(Subgraph(graph, graph.everything(), "push", rows, held, mirrored=False), label)

    layout.visit(join)
    return True
