"""A linear DAG in torch operators: level by level, every row reduces its children."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from tgraph.kernels.reductions import EDGE_OPERATIONS, REDUCTIONS
from tgraph.kernels.segments import reduce_segments
from tgraph.rows import gather_rows

if TYPE_CHECKING:
    from tgraph.formats.dag import Dag

MESSAGES = 1 << 24  # numbers that are gathered at once, about


def evaluate(
    dag: Dag, data: Tensor, reduce: str, edge: str = "copy", left: Tensor | None = None, right: Tensor | None = None
) -> Tensor:
    """As `tgraph.formats.dag.evaluate`."""
    inputs = data if right is None else data * right[:, None]
    if data.dtype in (torch.float16, torch.bfloat16):
        inputs = (data if right is None else data.float() * right.float()[:, None]).float()
    width = max(1, MESSAGES // max(1, len(dag.children)))
    blocks = [_evaluate(dag, block, reduce, edge) for block in inputs.split(width, 1)] if data.shape[1] else [inputs]
    outputs = blocks[0] if len(blocks) == 1 else torch.cat(blocks, 1)
    if left is not None:
        outputs = outputs * left.to(outputs.dtype)[:, None]
    return outputs.to(data.dtype)


def _evaluate(dag: Dag, inputs: Tensor, reduce: str, edge: str) -> Tensor:
    """The outputs, for a few columns."""
    n = dag.num_vertices
    values = inputs.new_empty((dag.num_nodes, inputs.shape[1]))
    values[:n] = inputs
    for rows in dag.levels:
        offset, arcs = _arcs_of(dag, rows)
        children = dag.children[arcs]
        messages = values.index_select(0, nodes_of(children) if dag.signed else children)
        if dag.signed:
            messages = torch.where((children < 0)[:, None], -messages, messages)
        if edge != "copy":
            messages = _weighted(dag, messages, rows, offset, arcs, edge)
        values[n:][rows] = reduce_segments(messages, offset, REDUCTIONS[reduce])
    return values[dag.num_rows :].clone()  # without the memory of the rest


def nodes_of(children: Tensor) -> Tensor:
    """The nodes of children, subtracted or not."""
    return torch.where(children < 0, ~children, children)


def _arcs_of(dag: Dag, rows: Tensor | slice) -> tuple[Tensor, Tensor | slice]:
    """Where the children of some rows begin among those of all of them, int64, and where these are stored."""
    if isinstance(rows, Tensor):
        return gather_rows(dag.offset.long(), rows)
    offset = dag.offset[rows.start : rows.stop + 1].long()
    return offset - offset[0], slice(int(offset[0]), int(offset[-1]))


def _weighted(
    dag: Dag, messages: Tensor, rows: Tensor | slice, offset: Tensor, arcs: Tensor | slice, edge: str
) -> Tensor:
    """The edge operation on the messages of the arcs that carry weights."""
    weights = dag.weights[arcs].to(messages.dtype)[:, None]  # type: ignore[index]
    if dag.weighted == "inputs":
        carries = dag.children[arcs] < dag.num_vertices
    else:
        numbers = torch.arange(rows.start, rows.stop, device=offset.device) if isinstance(rows, slice) else rows
        carries = (numbers >= dag.num_virtual).repeat_interleave(offset.diff(), output_size=len(messages))
    return torch.where(carries[:, None], EDGE_OPERATIONS[edge](messages, weights), messages)
