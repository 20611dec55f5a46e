"""Numbers of edges from those at their ends, and their softmax: what attention of other kinds is put together from.

Results have a row for each edge, in the order that `arcs.position` gives: memory of the size of the arcs. Where the
scores are those of `tgraph.primitives.attention`, the functions there take none. All are differentiable as often as one
likes, made of registered operators, and give the same on every run.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from tgraph.errors import ArgumentError
from tgraph.kernels.bipartite import Arcs
from tgraph.kernels.segments import add_at, segment_reduce, take

_OPERATIONS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "div": torch.div,
    "dot": lambda source, target: (source * target).sum(-1),
}


def u_op_v(arcs: Arcs, operation: str, source: Tensor, target: Tensor) -> Tensor:
    """The operation on what lies at the source and at the target of each edge (a generalised SDDMM).

    operation : "add", "sub", "mul" or "div", elementwise and broadcast, or "dot", the product summed over the last
    dimension. source : [n_src, ...]. target : [n_dst, ...]. Returns [E, ...].
    Raises ArgumentError for an unknown operation, and tensors that have not a row for each source or target.
    """
    if operation not in _OPERATIONS:
        raise ArgumentError(f"operation: {operation!r} is not one of {', '.join(map(repr, _OPERATIONS))}")
    _check_rows("source", source, arcs.num_sources)
    _check_rows("target", target, arcs.num_destinations)
    found = _OPERATIONS[operation](take(source, arcs.neighbors), take(target, arcs.destinations()))
    return found if arcs.position is None else add_at(found, arcs.position, arcs.num_arcs)


def edge_softmax(arcs: Arcs, score: Tensor) -> Tensor:
    """The softmax of the scores over the edges that lead to each target.

    score : floating, [E, ...]. Returns the same shape.
    Raises ArgumentError for scores that are no floating tensor with a row for each edge.
    """
    _check_rows("score", score, arcs.num_arcs)
    if not score.is_floating_point():
        raise ArgumentError(f"score: expected a floating tensor, got {score.dtype}; use score.float()")
    stored = score if arcs.position is None else take(score, arcs.position)
    slot = arcs.destinations()
    best = segment_reduce(stored.detach(), arcs.offset, "max")
    power = (stored - take(torch.where(best == -torch.inf, 0, best), slot)).exp()
    alpha = power / take(add_at(power, slot, arcs.num_destinations), slot)
    return alpha if arcs.position is None else add_at(alpha, arcs.position, arcs.num_arcs)


def _check_rows(name: str, tensor: Tensor, rows: int) -> None:
    if not isinstance(tensor, Tensor) or not tensor.dim() or len(tensor) != rows:
        got = list(tensor.shape) if isinstance(tensor, Tensor) else type(tensor).__name__
        raise ArgumentError(f"{name}: expected a tensor [{rows}, ...], got {got}")
