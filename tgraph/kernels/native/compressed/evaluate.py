"""Evaluation of a linear DAG by the compiled kernels of `dag.cpp`: all phases in one parallel region."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.kernels.affine import AffineStep, StepResult
from tgraph.kernels.dag import Dag
from tgraph.kernels.native.aggregation.arcs import flat
from tgraph.kernels.native.base.support import compiled, implements, refuses_data
from tgraph.kernels.native.linear.linear import as_result, coefficients, wanted
from tgraph.kernels.operators.compressed import evaluate as declared
from tgraph.kernels.reductions import REDUCTIONS

KERNELS = {
    torch.float32: "dag_float32",
    torch.float64: "dag_float64",
    torch.int32: "dag_int32",
    torch.int64: "dag_int64",
}
WIDER = {torch.uint8: torch.int32, torch.float16: torch.float32, torch.bfloat16: torch.float32}
PAIRS = {
    ("sum", "copy"),
    ("sum", "mul"),
    ("prod", "copy"),
    ("min", "copy"),
    ("max", "copy"),
    ("min", "add"),
    ("max", "add"),
}


def refuses(dag: Dag, data: Tensor, reduce: str, edge: str = "copy", *scales: Tensor | None) -> str | None:
    """Why `evaluate` does not support a call, None if it does."""
    if (reduce, edge) not in PAIRS:
        return f"{reduce!r} of {edge!r} is not compiled"
    if data.dtype not in {*KERNELS, *WIDER} or (data.dtype == torch.uint8 and edge != "copy"):
        return f"it has no kernel for {data.dtype}"
    return refuses_data(data) if data.numel() else "the data has no columns or no rows"


def refuses_step(dag: Dag, step: AffineStep) -> str | None:
    """Why `affine_step` does not support a call, None if it does."""
    vectors = (step.before, step.scale, step.bias, step.measure)
    if any(isinstance(each, Tensor) and each.dtype != step.x.dtype for each in vectors):
        return "its vectors are of one dtype"
    if step.x.dtype not in (torch.float32, torch.float64) or not len(step.x):
        return "it computes float32 and float64, of some vertices"
    return refuses_data(step.x)


def _plan(dag: Dag) -> Any:
    """How the work is divided: phases, chunks and pieces of long rows. Computed once for each DAG, which is checked."""
    return dag.kept("native plan", _make_plan)


def _make_plan(dag: Dag) -> Any:
    phases, tasks = flat(torch.tensor(dag.phases)), flat(dag.tasks)
    return compiled().dag_plan(_arrays(dag.checked), phases, tasks)


def _arrays(dag: Dag) -> Any:
    """The tensors as the kernels take them; made once for each DAG."""
    return dag.kept("native arrays", _make_arrays)[0]


def _make_arrays(dag: Dag) -> tuple[Any, tuple[Any, ...]]:
    """(the tensors as the kernels take them, the arrays that these point into)."""
    named = {"children": dag.children, "order": dag.order}
    split = {
        f"{width}_{name}": flat(tensor) if tensor is not None and tensor.dtype == dtype else None
        for name, tensor in named.items()
        for width, dtype in (("narrow", torch.int32), ("wide", torch.int64))
    }
    offset = flat(dag.wide_offset)
    rows = compiled().dag_rows(dag.num_vertices, offset, **split)
    return rows, (offset, *split.values())


def _refuses_rows(dag: Dag, vertices: Tensor) -> str | None:
    return refuses_data(vertices)


@implements(declared.evaluate_dag, refuses)
def evaluate(
    dag: Dag, data: Tensor, reduce: str, edge: str = "copy", left: Tensor | None = None, right: Tensor | None = None
) -> Tensor:
    """As `tgraph.formats.dag.evaluation.evaluate`. Sums of float32 in one column are accumulated in float64, row by
    row."""
    computed = _computed_in(data.dtype, reduce)
    if computed != data.dtype:
        scales = (None if scale is None else scale.to(computed) for scale in (left, right))
        return evaluate(dag, data.to(computed), reduce, edge, *scales).to(data.dtype)
    if right is not None and reduce != "sum":
        data, right = data * right[:, None], None
    weights = None if edge == "copy" or dag.weights is None else flat(dag.weights.to(data.dtype))
    result = torch.empty_like(data, memory_format=torch.contiguous_format)
    getattr(compiled(), KERNELS[data.dtype])(
        _plan(dag),
        _arrays(dag),
        flat(data),
        data.shape[1],
        reduce,
        edge,
        dag.signed,
        REDUCTIONS[reduce].identity(data.dtype),
        weights,
        dag.weighted == "outputs",
        None if left is None else flat(left),
        None if right is None else flat(right),
        flat(result),
    )
    return result


@implements(declared.step_dag, refuses_step)
def affine_step(dag: Dag, step: AffineStep) -> StepResult:
    """As the portable implementation, in reused buffers; virtual vertices are rounded to the dtype of the values."""
    before = step.before
    values = torch.empty_like(before, memory_format=torch.contiguous_format) if step.spare[0] is None else step.spare[0]
    next_x = None if step.scale is None else torch.empty_like(values) if step.spare[1] is None else step.spare[1]
    sums = torch.empty(3, dtype=torch.float64, device="cpu")
    compiled().dag_affine_step(
        _plan(dag),
        _arrays(dag),
        dag.signed,
        flat(dag.weights.to(values.dtype)) if step.weighted and dag.weights is not None else None,
        dag.weighted == "outputs",
        flat(step.x),
        *coefficients(step),
        *wanted(step),
        flat(values),
        flat(next_x),
        flat(sums),
    )
    return as_result(step, values, next_x, *sums.tolist())


@implements(declared.dag_rows, _refuses_rows)
@implements(declared.ordered_dag_rows, _refuses_rows)
def rows(dag: Dag, vertices: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
    """As the portable implementation."""
    kernels, held, of_outputs = compiled(), _arrays(dag), dag.weighted == "outputs"
    offset = torch.zeros(len(vertices) + 1, dtype=torch.int64, device="cpu")
    kernels.dag_count_rows(held, of_outputs, flat(vertices), flat(offset[1:]))
    torch.cumsum(offset[1:], 0, out=offset[1:])
    neighbors = torch.empty(int(offset[-1]), dtype=sorting.index_dtype(dag.num_vertices), device="cpu")
    arcs = None if dag.weights is None else torch.empty(len(neighbors), dtype=torch.int64, device="cpu")
    kernels.dag_list_rows(
        held, of_outputs, flat(vertices), flat(offset), flat(neighbors), None if arcs is None else flat(arcs)
    )
    return offset, neighbors, None if arcs is None or dag.weights is None else sorting.take(dag.weights, arcs)


def _computed_in(dtype: torch.dtype, reduce: str) -> torch.dtype:
    """The dtype to compute in: a wider one where there is no kernel for that of the data."""
    if dtype in (torch.int32, torch.uint8) and reduce in ("sum", "prod"):
        return torch.int64  # truncating the result wraps as the narrow dtype would
    return WIDER.get(dtype, dtype)
