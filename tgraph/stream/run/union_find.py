"""Union-find over blocks: every arc is visited once, in any order of the blocks."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor

from tgraph.core import native
from tgraph.core.rows import Selection
from tgraph.core.subgraph import Subgraph
from tgraph.kernels import portable
from tgraph.stream.file.block import Block
from tgraph.stream.run.section import Section


def join_blocks(section: Section, graph: Any, label: Tensor) -> bool:
    """Merge the trees at the two ends of every arc; see `tgraph.primitives.union_find.join`. False, with nothing done,
    where the labels are no forest."""
    if label.device.type != "cpu" or native.load() is None or not label.is_contiguous():
        return _join_portable(section, graph, label)
    kernels = cast(Any, native.load())
    if not kernels.flatten_labels(label):
        return False

    def join(block: Block) -> None:
        kernels.join_block(block.offset, block.neighbors, block.first_row, label)

    section.visit(join)
    return kernels.flatten_labels(label)


def _join_portable(section: Section, graph: Any, label: Tensor) -> bool:
    vertex = torch.arange(len(label), device=label.device)
    if bool(((label < 0) | (label > vertex)).any()):
        return False

    def join(block: Block) -> None:
        rows = vertex[block.first_row : block.end_row]
        arcs = Selection(block.offset, block.neighbors)
        portable.join(Subgraph(graph, graph.everything(), "push", rows, arcs, mirrored=False), label)

    section.visit(join)
    return True
