"""Union-find over blocks: every arc is visited once, in any order of the blocks."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tgraph.core.dispatch import operator
from tgraph.core.rows import Selection
from tgraph.core.subgraph import Subgraph
from tgraph.kernels.operators.components import union_find
from tgraph.stream.file.block import Block
from tgraph.stream.run.section import Section


@operator
def join_blocks(section: Section, graph: Any, label: Tensor) -> bool:
    """Merge the trees at the two ends of every arc; see `tgraph.primitives.union_find.join`. False, with nothing done,
    where the labels are no forest."""
    vertex = torch.arange(len(label), device=label.device)
    if bool(((label < 0) | (label > vertex)).any()):
        return False

    def join(block: Block) -> None:
        rows = vertex[block.first_row : block.end_row]
        arcs = Selection(block.offset, block.neighbors)
        union_find.join(Subgraph(graph, graph.everything(), "push", rows, arcs, mirrored=False), label)

    section.visit(join)
    return True
