"""What the tensors of a linear DAG have to satisfy for its evaluation, which follows them without a second look."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from tgraph.errors import ArgumentError

if TYPE_CHECKING:
    from tgraph.formats.dag.dag import Dag


def check(dag: Dag) -> None:
    """Raise ArgumentError unless the tensors are those of a DAG."""
    _check_offset(dag)
    _check_children(dag)
    if dag.order is not None:
        _check_order(dag.order, dag.num_rows)
    _check_parts(dag)
    _check_dependencies(dag)


def _check_offset(dag: Dag) -> None:
    n, offset, children = dag.num_vertices, dag.offset, dag.children
    for name, tensor in (("offset", offset), ("children", children)):
        if tensor.dim() != 1 or tensor.dtype not in (torch.int32, torch.int64):
            raise ArgumentError(
                f"{name}: expected int32 or int64 in one dimension, got {tensor.dtype}, {tensor.dim()} dimensions"
            )
    if n < 0 or len(offset) <= n:
        raise ArgumentError(f"offset: expected at least num_vertices + 1 = {n + 1} bounds, got {len(offset)}")
    if int(offset[0]) != 0 or int(offset[-1]) != len(children):
        raise ArgumentError(
            f"offset: runs from {int(offset[0])} to {int(offset[-1])}, expected 0 to {len(children)}, "
            "the number of children"
        )
    if len(falls := (offset[1:] < offset[:-1]).nonzero()):
        raise ArgumentError(f"offset: decreases after position {int(falls[0])}; offsets never decrease")


def _check_children(dag: Dag) -> None:
    if len(dag.children):
        least, largest = (int(bound) for bound in dag.children.aminmax())
        if largest >= dag.num_nodes or ~least >= dag.num_nodes:
            wrong = int((dag.nodes >= dag.num_nodes).nonzero()[0])
            raise ArgumentError(
                f"children: {int(dag.children[wrong])} at position {wrong} is no node; they run from 0 to "
                f"{dag.num_nodes - 1}"
            )
    if dag.weights is not None and dag.weights.shape != dag.children.shape:
        raise ArgumentError(f"weights: expected [{len(dag.children)}], got shape {list(dag.weights.shape)}")
    if dag.weights is not None and dag.signed:
        raise ArgumentError(f"weights: child {int((dag.children < 0).nonzero()[0])} is subtracted; give no weights")
    if dag.weighted not in ("inputs", "outputs"):
        raise ArgumentError(f"weighted: {dag.weighted!r} is not one of 'inputs', 'outputs'")
    for name, tensor in dag.tensors().items():
        if not tensor.is_contiguous():
            raise ArgumentError(f"{name}: not contiguous; use .contiguous()")
        if tensor.device != dag.offset.device:
            raise ArgumentError(f"{name}: on {tensor.device}, offset on {dag.offset.device}; move both to one device")


def _check_order(order: Tensor, num_rows: int) -> None:
    if order.shape != (num_rows,) or order.dtype not in (torch.int32, torch.int64):
        raise ArgumentError(f"order: expected int32 or int64 [{num_rows}], got {order.dtype} {list(order.shape)}")
    if len(wrong := ((order < 0) | (order >= num_rows)).nonzero()):
        place = int(wrong[0])
        raise ArgumentError(f"order: {int(order[place])} at position {place} is no row; they are 0..{num_rows - 1}")
    count = torch.bincount(order, minlength=num_rows)
    if len(twice := (count > 1).nonzero()):
        raise ArgumentError(f"order: row {int(twice[0])} occurs {int(count[twice[0]])} times; each occurs once")


def _check_parts(dag: Dag) -> None:
    phases = dag.phases
    if not phases or phases[0] != 0 or phases[-1] != dag.num_rows:
        raise ArgumentError(f"phases: {phases} does not run from 0 to {dag.num_rows}, the number of rows")
    for place, (first, last) in enumerate(pairwise(phases)):
        if last < first:
            raise ArgumentError(f"phases: {last} at position {place + 1} is less than {first} before it")
    tasks = dag.tasks
    if tasks is None:
        return
    if tasks.dim() != 1 or tasks.dtype != torch.int64 or not len(tasks) or int(tasks[0]) != 0:
        raise ArgumentError("tasks: expected int64 bounds in one dimension, the first of them 0")
    if len(falls := (tasks[1:] < tasks[:-1]).nonzero()):
        raise ArgumentError(f"tasks: decreases after position {int(falls[0])}; bounds ascend")
    if int(tasks[-1]) not in phases:
        raise ArgumentError(f"tasks: ends at {int(tasks[-1])}, which is not the end of a phase")
    ends = torch.tensor([end for end in phases if end <= int(tasks[-1])], device=tasks.device)
    if len(wrong := (~torch.isin(ends, tasks)).nonzero()):
        raise ArgumentError(f"tasks: none ends at {int(ends[wrong[0]])}, where a phase does; cut them there")


def _check_dependencies(dag: Dag) -> None:
    """Every row needs rows of earlier phases, or earlier ones of its own task."""
    row, child = dag.between_rows()
    if not len(row):
        return
    if dag.weights is not None and dag.weighted == "outputs" and int(child.max()) >= dag.num_virtual:
        raise ArgumentError("weighted: rows refer to outputs, whose arcs would weigh twice; use weighted='inputs'")
    position = dag.position
    needed, here = position.index_select(0, child), position.index_select(0, row)
    bounds = torch.tensor(dag.phases, device=here.device, dtype=here.dtype)
    fits = needed < bounds[torch.searchsorted(bounds, here, right=True) - 1]  # where its phase begins
    if dag.tasks is not None:
        tasks = dag.tasks.to(here.dtype)
        task = torch.searchsorted(tasks, here, right=True)
        same = (task == torch.searchsorted(tasks, needed, right=True)) & (task < len(tasks))
        fits |= same & (needed < here)
    if len(wrong := (~fits).nonzero()):
        row_, child_ = int(row[wrong[0]]), int(child[wrong[0]])
        raise ArgumentError(
            f"children: row {row_} needs row {child_}, which stands at {int(position[child_])} of the order, itself "
            f"at {int(position[row_])}; rows need those of earlier phases, or earlier ones of their own task"
        )
