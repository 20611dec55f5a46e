"""The linear DAG of the compressed layouts, rows that refer to shared rows, and its validation: kernels index memory
with its tensors without bounds checks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Any, Literal, TypeVar

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.derived import computed_once
from tgraph.errors import ArgumentError

T = TypeVar("T")


@dataclass(frozen=True)
class Dag:
    """Rows over three kinds of nodes: n inputs, R virtual vertices and n outputs, numbered consecutively in this order.

    A row is a list of children, each an input (data of a vertex), a virtual vertex or an output (the result of another
    row). Rows 0..R-1 compute the virtual vertices, rows R..R+n-1 the outputs: row r computes node n + r.

    num_vertices : n.
    offset : int32 or int64 [R + n + 1], offsets of the rows in `children`.
    children : int32 or int64 [A], node numbers; ~number where the value is subtracted.
    weights : [A], the weight of each `weighted` arc and 0 elsewhere, or None. Not allowed with subtracted children.
    order : int32 or int64 [R + n], the rows in order of evaluation; None for 0..R+n-1.
    phases : ascending bounds, from 0 to R + n, of ranges of that order: a row depends on rows of earlier phases, or on
        earlier rows of its own task.
    tasks : int64, ascending bounds, from 0 to a bound of a phase, of ranges of that order that one thread evaluates
        sequentially, each within a phase. Rows beyond the last bound, and all rows where tasks is None, depend on
        earlier phases only.
    weighted : which arcs carry weights: those to "inputs", or those of "outputs" as in the adjoint of such a DAG. Each
        path from an output to an input contains exactly one of them.
    """

    num_vertices: int
    offset: Tensor
    children: Tensor
    weights: Tensor | None
    order: Tensor | None
    phases: tuple[int, ...]
    tasks: Tensor | None
    weighted: Literal["inputs", "outputs"] = "inputs"

    @property
    def num_rows(self) -> int:
        """R + n."""
        return len(self.offset) - 1

    @property
    def num_virtual(self) -> int:
        """R."""
        return self.num_rows - self.num_vertices

    @property
    def num_nodes(self) -> int:
        """n + R + n."""
        return self.num_rows + self.num_vertices

    def tensors(self) -> dict[str, Tensor]:
        """All stored tensors by name."""
        named = {name: getattr(self, name) for name in ("offset", "children", "weights", "order", "tasks")}
        return {name: tensor for name, tensor in named.items() if tensor is not None}

    @property
    def nbytes(self) -> int:
        """Bytes of all stored tensors."""
        return sum(tensor.nbytes for tensor in self.tensors().values())

    def to(self, device: torch.device) -> Dag:
        """The same DAG on another device."""
        moved: dict[str, Any] = {name: tensor.to(device) for name, tensor in self.tensors().items()}
        return replace(self, **moved)

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # without cached data

    @property
    def nodes(self) -> Tensor:
        """The node of each child, subtracted or not, [A]; `children` itself where none is subtracted."""
        return nodes_of(self.children) if self.signed else self.children

    @computed_once
    def signed(self) -> bool:
        """Whether some child is subtracted."""
        return bool((self.children < 0).any())

    @property
    def row_of_arc(self) -> Tensor:
        """The row of each child, [A], of the dtype of `children`."""
        return sorting.expand_rows(self.offset.long(), self.children.dtype)

    @property
    def position(self) -> Tensor:
        """Position of each row in the order of evaluation, [R + n]; the inverse of `order`."""
        here = torch.arange(self.num_rows, dtype=self.children.dtype, device=self.offset.device)
        return here if self.order is None else torch.empty_like(here).index_copy_(0, self.order.long(), here)

    def between_rows(self) -> tuple[Tensor, Tensor]:
        """(row, row that it depends on) for every child that is not an input."""
        nodes = self.nodes
        arcs = (nodes >= self.num_vertices).nonzero().squeeze(1)
        return self.row_of_arc.index_select(0, arcs), nodes.index_select(0, arcs) - self.num_vertices

    @computed_once
    def wide_offset(self) -> Tensor:
        """`offset` as int64."""
        return self.offset.long().contiguous()

    @computed_once
    def checked(self) -> Dag:
        """The DAG itself, validated at first use."""
        self.check()
        return self

    def check(self) -> None:
        """Raise ArgumentError unless the tensors form a valid DAG; a few passes over the children."""
        check(self)

    def kept(self, name: str, derive: Callable[[Dag], T]) -> T:
        """A backend's derived data: `derive(self)` at first use, cached under `name`."""
        if name not in self._derived:
            self._derived[name] = derive(self)
        return self._derived[name]

    @computed_once
    def _derived(self) -> dict[str, Any]:
        return {}


def nodes_of(children: Tensor) -> Tensor:
    """The nodes of children, subtracted or not."""
    return torch.where(children < 0, ~children, children)


# ---- checks ---------------------------------------------------------------------------------------------------------


def check(dag: Dag) -> None:
    """Raise ArgumentError unless the tensors form a valid DAG."""
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
    """Every row depends on rows of earlier phases, or on earlier rows of its own task."""
    row, child = dag.between_rows()
    if not len(row):
        return
    if dag.weights is not None and dag.weighted == "outputs" and int(child.max()) >= dag.num_virtual:
        raise ArgumentError("weighted: rows refer to outputs, whose arcs would weigh twice; use weighted='inputs'")
    position = dag.position
    needed, here = position.index_select(0, child), position.index_select(0, row)
    bounds = torch.tensor(dag.phases, device=here.device, dtype=here.dtype)
    fits = needed < bounds[torch.searchsorted(bounds, here, right=True) - 1]  # the start of its phase
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
