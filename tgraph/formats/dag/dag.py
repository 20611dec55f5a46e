"""A linear DAG: compressed rows that refer to shared ones, and the one executor of all compressed layouts."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Any, Literal

import torch
from torch import Tensor

from tgraph.core import native, sorting
from tgraph.core.rows import computed_once, gather_rows
from tgraph.errors import ArgumentError
from tgraph.formats.dag.dag_checks import check
from tgraph.kernels.native.dag import evaluate as native_dag
from tgraph.kernels.portable import dag as portable_dag
from tgraph.kernels.portable.linear import Coefficients, Stepped
from tgraph.kernels.reductions import check_edge_operation, reduction_of

# Pairs (reduction, edge operation) in which the operation may as well be applied to what was reduced.
DISTRIBUTIVE = {("sum", "mul")} | {(reduce, edge) for reduce in ("min", "max") for edge in ("add", "min", "max")}


@dataclass(frozen=True)
class Dag:
    """Rows over three kinds of nodes: n inputs, R virtual vertices, n outputs, numbered through in this order.

    A row is a list of children, each of them an input (data of a vertex), a virtual vertex or an output (another row's
    result). Rows 0..R-1 compute the virtual vertices, rows R..R+n-1 the outputs: row r computes node n + r.

    num_vertices : n.
    offset : int32 or int64 [R + n + 1], where the children of each row begin.
    children : int32 or int64 [A], the number of a node; ~number where its value is subtracted.
    weights : [A], the weight of the arc where it is `weighted`, and 0 elsewhere; None without. Not where something is
        subtracted.
    order : int32 or int64 [R + n], the rows in the order of evaluation; None for their own order.
    phases : ascending bounds, from 0 to R + n, of parts of that order: a row needs rows of earlier phases only, or
        earlier ones of its own task.
    tasks : int64, ascending bounds, from 0 to a bound of a phase, of parts of that order that one thread evaluates in
        order, each within a phase. Rows behind the last bound need none of their own phase, nor do any where there
        are None.
    weighted : which arcs carry weights: those to "inputs", or those of "outputs" as in the transposed of such a DAG.
        Each path from an output to an input leads over exactly one of them.
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
        """Everything that is stored, by name."""
        named = {name: getattr(self, name) for name in ("offset", "children", "weights", "order", "tasks")}
        return {name: tensor for name, tensor in named.items() if tensor is not None}

    @property
    def nbytes(self) -> int:
        """Bytes of all that is stored."""
        return sum(tensor.nbytes for tensor in self.tensors().values())

    def to(self, device: torch.device) -> Dag:
        """The same DAG on another device."""
        moved: dict[str, Any] = {name: tensor.to(device) for name, tensor in self.tensors().items()}
        return replace(self, **moved)

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # nothing that is computed anew

    @property
    def nodes(self) -> Tensor:
        """The node of each child, subtracted or not, [A]; the children themselves where none is subtracted."""
        return portable_dag.nodes_of(self.children) if self.signed else self.children

    @computed_once
    def signed(self) -> bool:
        """True where some child is subtracted."""
        return bool((self.children < 0).any())

    @property
    def row_of_arc(self) -> Tensor:
        """The row of each child, of the dtype of the children, [A]."""
        return sorting.expand_rows(self.offset.long(), self.children.dtype)

    @property
    def position(self) -> Tensor:
        """Where each row stands in the order of evaluation, [R + n]; inverse to `order`."""
        here = torch.arange(self.num_rows, dtype=self.children.dtype, device=self.offset.device)
        return here if self.order is None else torch.empty_like(here).index_copy_(0, self.order.long(), here)

    def between_rows(self) -> tuple[Tensor, Tensor]:
        """(row, row that it needs) of every child that is no input."""
        nodes = self.nodes
        arcs = (nodes >= self.num_vertices).nonzero().squeeze(1)
        return self.row_of_arc.index_select(0, arcs), nodes.index_select(0, arcs) - self.num_vertices

    @computed_once
    def levels(self) -> Levels:
        """The rows in an order in which none needs another of its own level."""
        return levels(self)

    @computed_once
    def wide_offset(self) -> Tensor:
        """The offsets, int64."""
        return self.offset.long().contiguous()

    @computed_once
    def arrays(self) -> tuple[Any, tuple[Any, ...]]:
        """The tensors as the compiled kernels take them, and their memory."""
        return native_dag.arrays(self)

    @computed_once
    def plan(self) -> Any:
        """How the compiled kernels cut the work."""
        return native_dag.plan(self.checked)

    @computed_once
    def checked(self) -> Dag:
        """The DAG itself, checked once."""
        self.check()
        return self

    def check(self) -> None:
        """Raise ArgumentError unless the tensors are those of a DAG; costs a few passes over the children."""
        check(self)


@dataclass(frozen=True)
class Levels:
    """order : int64 [R + n], or None for the rows' own. bounds : ascending, from 0 to R + n."""

    order: Tensor | None
    bounds: tuple[int, ...]

    def __iter__(self) -> Iterator[Tensor | slice]:
        """The rows of each level that is not empty."""
        for first, last in pairwise(self.bounds):
            if first < last:
                yield slice(first, last) if self.order is None else self.order[first:last]


def levels(dag: Dag) -> Levels:
    """The phases, cut where their tasks hold rows that need others of the same (Kahn's algorithm, level by level)."""
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
    """How many rows stand on the longest way to each over the pairs (needed, row), int64 [rows]."""
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


# ---- evaluation -----------------------------------------------------------------------------------------------------


def evaluate(
    dag: Dag,
    data: Tensor,
    reduce: str,
    edge: str = "copy",
    left: Tensor | None = None,
    right: Tensor | None = None,
) -> Tensor:
    """out[v] = left[v] * the reduction, over all paths from output v to inputs u, of edge(right[u] * data[u], weight).

    data : [n, F] of any dtype, which the result has too. reduce : "sum", "prod", "min" or "max"; a row without paths
        gets the identity. edge : "copy", or "add", "mul", "min" or "max" with the weight of the one arc of a path
        that carries it, cast to the dtype of the data. left, right : [n] of the dtype of the data, or None for 1: with
        both this is the product with D A D' (Alves et al., "CBM: compressed binary matrices", IPDPS 2025).

    Sums of 16-bit floating numbers are taken in float32. The result does not depend on the number of threads.

    Raises ArgumentError for data, left or right of another shape, for an operation that there is not, and for one that
    the DAG cannot serve: where something is subtracted there are only sums.
    """
    _check_call(dag, data, reduce, edge, left=left, right=right)
    compiled = data.device.type == "cpu" and native.load() is not None
    backend = native_dag if compiled and native_dag.refuses(dag, data, reduce, edge) is None else portable_dag
    return backend.evaluate(dag.checked, data, reduce, edge, left, right)


def affine_step(
    dag: Dag,
    coefficients: Coefficients,
    heard: Tensor,
    before: Tensor,
    weights: Tensor | None,
    alpha: Tensor | float,
    beta: Tensor | float,
    spare: tuple[Tensor | None, Tensor | None] = (None, None),
    wanted: Collection[str] = ("total", "unsent"),
) -> Stepped:
    """A step of a linear iteration, alpha * (sum of heard[u] * weight) + beta * bias, over the rows of a DAG.

    As `affine_step` of the backends, but for weights, which are those of the DAG or None; no gradient. Raises
    ArgumentError for coefficients of several blocks.
    """
    if coefficients.blocks != 1:
        raise ArgumentError(f"blocks: a compressed layout steps all rows at once, not in {coefficients.blocks} blocks")
    _check_call(dag, heard[:, None], "sum", "copy" if weights is None else "mul")
    same = all(
        tensor.dtype == heard.dtype
        for tensor in (before, coefficients.scale, coefficients.bias, coefficients.measure)
        if isinstance(tensor, Tensor)
    )
    compiled = heard.device.type == "cpu" and native.load() is not None and len(heard) > 0 and same
    backend = native_dag if compiled and heard.dtype in (torch.float32, torch.float64) else portable_dag
    return backend.affine_step(dag.checked, coefficients, heard, before, weights, alpha, beta, spare, wanted)


def degrees(dag: Dag) -> Tensor:
    """Paths from each output, which are the arcs of its row, int64 [n]."""
    ones = torch.ones((dag.num_vertices, 1), dtype=torch.int64, device=dag.offset.device)
    return evaluate(dag, ones, "sum").squeeze(1)


def rows(dag: Dag, vertices: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
    """The rows of some outputs decoded: (offset int64 [k + 1], neighbors [e] ascending, weights [e] or None).

    vertices : int64 [k], of which some may be equal. Parallel arcs come in the order of the paths, depth first in the
    compiled kernel. Costs the paths that are walked, which where something is subtracted may be more than what is left.

    Raises ArgumentError for vertices of another dtype, and ones that there are not.
    """
    if vertices.dim() != 1 or vertices.dtype != torch.int64:
        raise ArgumentError(f"vertices: expected int64 [k], got {vertices.dtype} {list(vertices.shape)}")
    if len(wrong := ((vertices < 0) | (vertices >= dag.num_vertices)).nonzero()):
        place = int(wrong[0])
        raise ArgumentError(f"vertices: {int(vertices[place])} at position {place} is not in 0..{dag.num_vertices - 1}")
    compiled = vertices.device.type == "cpu" and native.load() is not None
    return (native_dag if compiled else portable_dag).rows(dag.checked, vertices)


def _check_call(dag: Dag, data: Tensor, reduce: str, edge: str, **scales: Tensor | None) -> None:
    n = dag.num_vertices
    if data.dim() != 2 or len(data) != n:
        raise ArgumentError(f"data: expected [{n}, columns], got shape {list(data.shape)}")
    for name, scale in scales.items():
        if scale is not None and (scale.shape != (n,) or scale.dtype != data.dtype):
            raise ArgumentError(f"{name}: expected [{n}] of {data.dtype}, got {list(scale.shape)} of {scale.dtype}")
    for name, tensor in {"data": data, **scales}.items():
        if tensor is not None and tensor.device != dag.offset.device:
            raise ArgumentError(f"{name}: on {tensor.device}, the DAG on {dag.offset.device}; move it there")
    if reduction_of(reduce).name not in ("sum", "prod", "min", "max"):
        raise ArgumentError(f"reduce: {reduce!r} is not one of 'sum', 'prod', 'min', 'max'")
    check_edge_operation(edge)
    if reason := refuses(dag, reduce, edge):
        raise ArgumentError(reason)


def refuses(dag: Dag, reduce: str, edge: str) -> str | None:
    """Why a DAG cannot serve such a call, None where it can."""
    if edge != "copy" and dag.weights is None:
        return f"edge: {edge!r} needs weights, and the DAG has none; use edge='copy'"
    if dag.signed and reduce != "sum":
        return f"reduce: {reduce!r} cannot take back what a row subtracts; only 'sum' can"
    if edge != "copy" and dag.weighted == "outputs" and (reduce, edge) not in DISTRIBUTIVE:
        return f"edge: {edge!r} under {reduce!r} does not distribute, which a transposed DAG needs; transpose to CSR"
    return None
