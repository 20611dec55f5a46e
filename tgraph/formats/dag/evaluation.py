"""Evaluation of a linear DAG: checks of the arguments before its operators are called."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.dispatch import Operator
from tgraph.errors import ArgumentError
from tgraph.kernels.affine import AffineStep, StepResult
from tgraph.kernels.dag import Dag
from tgraph.kernels.operators.compressed.evaluate import dag_rows, evaluate_dag, step_dag
from tgraph.kernels.reductions import check_edge_operation, reduction_of

_count_paths = Operator("evaluate_dag", evaluate_dag.portable, is_noted=False)  # once for a graph

# Pairs (reduction, edge operation) in which the operation distributes over the reduction.
DISTRIBUTIVE = {("sum", "mul")} | {(reduce, edge) for reduce in ("min", "max") for edge in ("add", "min", "max")}


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
        gets the identity. edge : "copy", or "add", "mul", "min" or "max" with the weight of the one arc of a path that
        carries it, cast to the dtype of the data. left, right : [n] of the dtype of the data, or None for 1: with both
        this is the product with D A D' (Alves et al., "CBM: compressed binary matrices", IPDPS 2025).

    Sums of 16-bit floats are computed in float32. The result does not depend on the number of threads.

    Raises ArgumentError for data, left or right of another shape, for an unknown operation, and for one that the DAG
    does not support: DAGs with subtracted children support sums only.
    """
    _check_call(dag, data, reduce, edge, left=left, right=right)
    return evaluate_dag(dag.checked, data, reduce, edge, left, right)


def affine_step(dag: Dag, step: AffineStep) -> StepResult:
    """A step of an affine iteration over the rows of a DAG, with its weights where the step is weighted. Not
    differentiable."""
    _check_call(dag, step.x[:, None], "sum", "mul" if step.weighted and dag.weights is not None else "copy")
    return step_dag(dag.checked, step)


def degrees(dag: Dag) -> Tensor:
    """The number of paths from each output, which is the number of arcs of its row, int64 [n]."""
    ones = torch.ones((dag.num_vertices, 1), dtype=torch.int64, device=dag.offset.device)
    return _count_paths(dag.checked, ones, "sum").squeeze(1)


def rows(dag: Dag, vertices: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
    """The decoded rows of some outputs: (offset int64 [k + 1], neighbors [e] ascending, weights [e] or None).

    vertices : int64 [k], repetitions allowed. Parallel arcs come in the order of the paths, depth-first in the compiled
    kernel. The cost is the number of paths, which with subtracted children may exceed the number of arcs.

    Raises ArgumentError for vertices of another dtype or out of range.
    """
    check_vertices(dag, vertices)
    return dag_rows(dag.checked, vertices)


def check_vertices(dag: Dag, vertices: Tensor) -> None:
    """Raise ArgumentError unless the vertices are int64 [k] and in range."""
    if vertices.dim() != 1 or vertices.dtype != torch.int64:
        raise ArgumentError(f"vertices: expected int64 [k], got {vertices.dtype} {list(vertices.shape)}")
    if len(wrong := ((vertices < 0) | (vertices >= dag.num_vertices)).nonzero()):
        place = int(wrong[0])
        raise ArgumentError(f"vertices: {int(vertices[place])} at position {place} is not in 0..{dag.num_vertices - 1}")


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
    """Why a DAG does not support such a call, None where it does."""
    if edge != "copy" and dag.weights is None:
        return f"edge: {edge!r} needs weights, and the DAG has none; use edge='copy'"
    if dag.signed and reduce != "sum":
        return f"reduce: {reduce!r} cannot take back what a row subtracts; only 'sum' can"
    if edge != "copy" and dag.weighted == "outputs" and (reduce, edge) not in DISTRIBUTIVE:
        return f"edge: {edge!r} under {reduce!r} does not distribute, which a transposed DAG needs; transpose to CSR"
    return None
