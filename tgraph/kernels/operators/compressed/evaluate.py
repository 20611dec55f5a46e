"""Evaluation of a linear DAG in torch operators, level by level."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.dispatch import operator
from tgraph.core.rows import gather_rows
from tgraph.kernels.affine import AffineStep, StepResult
from tgraph.kernels.dag import Dag, nodes_of
from tgraph.kernels.operators.aggregation.segments import reduce_segments
from tgraph.kernels.operators.linear.linear import finished, widened
from tgraph.kernels.reductions import EDGE_OPERATIONS, REDUCTIONS

MESSAGES = 1 << 24  # approximate number of elements gathered at a time


@operator
def evaluate_dag(
    dag: Dag, data: Tensor, reduce: str, edge: str = "copy", left: Tensor | None = None, right: Tensor | None = None
) -> Tensor:
    """As `tgraph.formats.dag.evaluation.evaluate`."""
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
    """The outputs for a block of columns."""
    n = dag.num_vertices
    values = inputs.new_empty((dag.num_nodes, inputs.shape[1]))
    values[:n] = inputs
    for rows in dag.kept("levels", levels):
        offset, arcs = _arcs_of(dag, rows)
        children = dag.children[arcs]
        messages = values.index_select(0, nodes_of(children) if dag.signed else children)
        if dag.signed:
            messages = torch.where((children < 0)[:, None], -messages, messages)
        if edge != "copy":
            messages = _weighted(dag, messages, rows, offset, arcs, edge)
        values[n:][rows] = reduce_segments(messages, offset, REDUCTIONS[reduce])
    return values[dag.num_rows :].clone()  # frees the memory of the other nodes


def _arcs_of(dag: Dag, rows: Tensor | slice) -> tuple[Tensor, Tensor | slice]:
    """Offsets of some rows in the concatenation of their children, int64, and the positions of these children."""
    if isinstance(rows, Tensor):
        return gather_rows(dag.offset.long(), rows)
    offset = dag.offset[rows.start : rows.stop + 1].long()
    return offset - offset[0], slice(int(offset[0]), int(offset[-1]))


def _weighted(
    dag: Dag, messages: Tensor, rows: Tensor | slice, offset: Tensor, arcs: Tensor | slice, edge: str
) -> Tensor:
    """Apply the edge operation to the messages of the arcs that carry weights."""
    weights = dag.weights[arcs].to(messages.dtype)[:, None]  # type: ignore[index]
    if dag.weighted == "inputs":
        carries = dag.children[arcs] < dag.num_vertices
    else:
        numbers = torch.arange(rows.start, rows.stop, device=offset.device) if isinstance(rows, slice) else rows
        carries = (numbers >= dag.num_virtual).repeat_interleave(offset.diff(), output_size=len(messages))
    return torch.where(carries[:, None], EDGE_OPERATIONS[edge](messages, weights), messages)


@operator
def step_dag(dag: Dag, step: AffineStep) -> StepResult:
    """A step of an affine iteration over the rows of a DAG, with its weights where the step is weighted."""
    edge = "mul" if step.weighted and dag.weights is not None else "copy"
    return finished(step, evaluate_dag(dag, widened(step.x)[:, None], "sum", edge).squeeze(1))


# ---- levels --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Levels:
    """Rows in an order in which none depends on another of its level.

    order : int64 [R + n], or None for 0..R+n-1. bounds : ascending, from 0 to R + n.
    """

    order: Tensor | None
    bounds: tuple[int, ...]

    def __iter__(self) -> Iterator[Tensor | slice]:
        """The rows of each non-empty level."""
        for first, last in pairwise(self.bounds):
            if first < last:
                yield slice(first, last) if self.order is None else self.order[first:last]


def levels(dag: Dag) -> Levels:
    """The phases, divided by depth where rows of a task depend on each other (Kahn's algorithm)."""
    if dag.tasks is None or not len(dag.children):
        return Levels(None if dag.order is None else dag.order.long(), dag.phases)
    bounds = torch.tensor(dag.phases, device=dag.offset.device)
    phase = torch.searchsorted(bounds, dag.position.long(), right=True)
    row, child = dag.between_rows()
    inside = phase[child] == phase[row]
    depth = _depths(child[inside], row[inside], dag.num_rows)
    key = phase * (int(depth.max()) + 1) + depth
    order = torch.argsort(key[dag.order.long()] if dag.order is not None else key, stable=True)
    order = order if dag.order is None else dag.order.long()[order]
    sizes = torch.unique_consecutive(key[order], return_counts=True)[1]
    return Levels(order, (0, *sizes.cumsum(0).tolist()))


def _depths(needed: Tensor, row: Tensor, num_rows: int) -> Tensor:
    """The length of the longest chain of pairs (needed, row) that ends at each row, int64 [rows]."""
    depth = torch.zeros(num_rows, dtype=torch.int64, device=row.device)
    if not len(row):
        return depth
    missing = torch.bincount(row, minlength=num_rows)
    offset, users, _ = sorting.sort_edges(needed, row, num_rows)
    ready, level = ((missing == 0) & (offset.diff() > 0)).nonzero().squeeze(1), 0
    while len(ready):
        level += 1
        reached = users.index_select(0, gather_rows(offset, ready)[1])
        touched, count = torch.unique(reached, return_counts=True)
        missing.index_add_(0, touched, -count)
        ready = touched[missing.index_select(0, touched) == 0].long()
        depth.index_fill_(0, ready, level)
    return depth


# ---- rows -----------------------------------------------------------------------------------------------------------


@operator
def dag_rows(dag: Dag, vertices: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
    """As `tgraph.formats.dag.evaluation.rows`: all paths from the rows, extended by one arc at a time."""
    n, device = dag.num_vertices, vertices.device
    slot, row = torch.arange(len(vertices), device=device), vertices + dag.num_virtual
    weight = None if dag.weights is None else dag.weights.new_zeros(len(vertices))
    minus = torch.zeros(len(vertices), dtype=torch.bool, device=device)
    found, offset = [], dag.offset.long()
    while len(row):
        selected, arcs = gather_rows(offset, row)
        above = torch.repeat_interleave(torch.arange(len(row), device=device), selected.diff(), output_size=len(arcs))
        children = dag.children.index_select(0, arcs).long()
        slot, minus = slot.index_select(0, above), minus.index_select(0, above) ^ (children < 0)
        nodes = nodes_of(children)
        if weight is not None and dag.weights is not None:
            carries = nodes < n if dag.weighted == "inputs" else row.index_select(0, above) >= dag.num_virtual
            weight = torch.where(carries, dag.weights.index_select(0, arcs), weight.index_select(0, above))
        leaf = nodes < n
        found.append([part[leaf] for part in (slot, nodes, minus, weight) if part is not None])
        slot, row, minus = slot[~leaf], nodes[~leaf] - n, minus[~leaf]
        weight = None if weight is None else weight[~leaf]
    if not found:
        found = [[part for part in (slot, slot, minus, weight) if part is not None]]
    return _sorted(dag, len(vertices), *(torch.cat(parts) for parts in zip(*found, strict=True)))


@operator
def ordered_dag_rows(dag: Dag, vertices: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
    """As `dag_rows`, with parallel arcs in the order of the paths, which for weighted graphs is the order of the
    input. Each level costs a pass over the expanded rows."""
    n, bounds, children, weights = dag.num_vertices, dag.offset.long(), dag.children, dag.weights
    slot, node = torch.arange(len(vertices), device=bounds.device), vertices + n + dag.num_virtual
    weight = weights.new_zeros(len(vertices))  # type: ignore[union-attr]
    while bool((inner := node >= n).any()):
        # An input is kept, every other node is replaced by the children of its row.
        row = torch.where(inner, node - n, 0)
        width = torch.where(inner, bounds[row + 1] - bounds[row], 1)
        above = torch.repeat_interleave(width)
        shift = (bounds[row] - width.cumsum(0) + width).index_select(0, above)
        walked = inner.index_select(0, above)
        arc = torch.where(walked, shift + torch.arange(len(above), device=shift.device), 0)
        node = torch.where(walked, children[arc].long(), node.index_select(0, above))
        of_output = row.index_select(0, above) >= dag.num_virtual
        carries = walked & (node < n if dag.weighted == "inputs" else of_output)
        weight = torch.where(carries, weights[arc], weight.index_select(0, above))  # type: ignore[index]
        slot = slot.index_select(0, above)
    key, order = torch.sort(slot * n + node, stable=True)
    starts = torch.searchsorted(key, torch.arange(len(vertices) + 1, device=key.device) * n)
    return starts, (key % max(n, 1)).to(sorting.index_dtype(n)), weight.index_select(0, order)


def _sorted(
    dag: Dag, count: int, slot: Tensor, inputs: Tensor, minus: Tensor, weights: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor | None]:
    """The inputs of each slot in ascending order, subtracted ones cancelled."""
    key = slot * dag.num_vertices + inputs
    key, by_key = torch.sort(key, stable=True)
    if dag.signed:
        distinct, inverse = torch.unique_consecutive(key, return_inverse=True)
        left = torch.zeros_like(distinct).index_add_(0, inverse, torch.where(minus[by_key], -1, 1))
        key = distinct.repeat_interleave(left.clamp(min=0))
    bounds = torch.arange(count + 1, device=key.device) * dag.num_vertices
    neighbors = (key % max(1, dag.num_vertices)).to(sorting.index_dtype(dag.num_vertices))
    return torch.searchsorted(key, bounds), neighbors, None if weights is None else weights[by_key]
