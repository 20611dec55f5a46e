"""Numbers of edges from those at their ends, and their softmax: what attention of other kinds is put together from.

Results have a row for each edge, in the order that `arcs.permutation` gives: memory of the size of the arcs. Where the
scores are those of `tgraph.primitives.attention`, the functions there take none. Each is one pass over the arcs that
holds nothing of their size but its result. All are differentiable as often as one likes, by sums over the arcs of
either end, and give the same on every run, for any number of threads. `backend` names the kernels: the compiled ones
serve float32 and float64 on the CPU.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from tgraph.core.csr import Csr
from tgraph.core.library import records, transformed
from tgraph.errors import ArgumentError
from tgraph.kernels.autograd import edges
from tgraph.kernels.portable import edges as portable
from tgraph.kernels.portable.edges import OPERATIONS, Sides


def u_op_v(arcs: Csr, operation: str, source: Tensor, target: Tensor, *, backend: str = "auto") -> Tensor:
    """The operation on what lies at the source and at the target of each edge (a generalised SDDMM).

    arcs : `Csr`, whose rows are the targets. operation : "add", "sub", "mul" or "div", elementwise and broadcast, or
    "dot", the product summed over the last dimension. source : [n_src, ...]. target : [n_dst, ...]. backend : a name
    of the registry. Returns [E, ...].
    Raises ArgumentError for an unknown operation, and tensors that have not a row for each source or target, do not
    broadcast, or are on another device than the arcs.
    """
    if operation not in (*OPERATIONS, "dot"):
        raise ArgumentError(f"operation: {operation!r} is not one of {', '.join(map(repr, (*OPERATIONS, 'dot')))}")
    _check_rows("source", source, arcs.num_columns, arcs)
    _check_rows("target", target, arcs.num_rows, arcs)
    dtype = torch.promote_types(source.dtype, target.dtype)
    shape = _common_shape(source, target)
    inner = shape[:-1] if operation == "dot" else shape
    if operation == "dot" and not shape:
        raise ArgumentError("source, target: 'dot' sums over the last dimension, these have none; use 'mul'")
    u, v = (_in_columns(tensor.to(dtype), shape) for tensor in (source, target))
    sides, heads = _sides(arcs, u, v), math.prod(inner)
    if transformed() or not dtype.is_floating_point:  # what torch itself has rules for
        found = portable.apply_at_ends(u, v, sides, operation, heads)
    else:
        found = edges.apply_at_ends(u, v, *sides, operation, heads, backend)
    return found.reshape(arcs.num_arcs, *inner)


def edge_softmax(arcs: Csr, score: Tensor, *, backend: str = "auto") -> Tensor:
    """The softmax of the scores over the edges that lead to each target.

    arcs : `Csr`, whose rows are the targets. score : floating, [E, ...]. Returns the same shape. backend : a name of
    the registry.
    Raises ArgumentError for scores that are no floating tensor with a row for each edge.
    """
    _check_rows("score", score, arcs.num_arcs, arcs)
    if not score.is_floating_point():
        raise ArgumentError(f"score: expected a floating tensor, got {score.dtype}; use score.float()")
    flat, rows = _in_columns(score, score.shape[1:]), (arcs.offset, arcs.neighbors, arcs.permutation)
    if transformed():
        return portable.edge_softmax(flat, Sides(*rows)).reshape(score.shape)
    return edges.edge_softmax(flat, *rows, backend).reshape(score.shape)


def _common_shape(source: Tensor, target: Tensor) -> tuple[int, ...]:
    """The shape that what lies at a vertex is broadcast to."""
    try:
        return torch.broadcast_shapes(source.shape[1:], target.shape[1:])
    except RuntimeError:
        raise ArgumentError(
            f"source, target: {list(source.shape)} and {list(target.shape)} do not broadcast beyond the first dimension"
        ) from None


def _in_columns(data: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Data [n, ...] broadcast to [n, *shape], as [n, columns]."""
    missing = len(shape) - data.dim() + 1
    data = data.reshape(data.shape[0], *(1,) * missing, *data.shape[1:])
    return data.expand(data.shape[0], *shape).reshape(data.shape[0], math.prod(shape))


def _sides(arcs: Csr, *tensors: Tensor) -> Sides:
    """The arcs by target, and by source where gradients of the tensors are recorded."""
    held = (arcs.offset, arcs.neighbors, arcs.permutation)
    if not records(*tensors):
        return Sides(*held)
    edge = arcs.transposed_permutation()
    return Sides(*held, *arcs.transposed()[:2], edge)


def _check_rows(name: str, tensor: Tensor, rows: int, arcs: Csr) -> None:
    if isinstance(tensor, Tensor) and tensor.device != arcs.device:
        raise ArgumentError(f"{name}: on {tensor.device} while the arcs are on {arcs.device}; use {name}.to")
    if not isinstance(tensor, Tensor) or not tensor.dim() or tensor.shape[0] != rows:
        got = list(tensor.shape) if isinstance(tensor, Tensor) else type(tensor).__name__
        raise ArgumentError(f"{name}: expected a tensor [{rows}, ...], got {got}")
