"""Centralities with gradients: the scores that a program finds are a fixpoint, and get the gradients of one step of it,
by `tgraph.primitives.implicit`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

import tgraph as tg

wants = tg.primitives.implicit.is_recorded


def weights_of(graph: tg.Graph, weighted: bool) -> Tensor | None:
    """The weights of a graph in memory, where they count and may have a gradient."""
    return graph.weights if weighted and graph.layout is None else None


def solved(
    graph: tg.Graph,
    weighted: bool,
    tol: float,
    solve: Callable[..., Tensor],
    step: Callable[..., Tensor],
    **parameters: Any,
) -> Tensor:
    """The scores `solve(graph, **parameters)`, with gradients by the weights of the graph, where they count, and by the
    parameters that are tensors; numbers [] are given to it as such.

    step(received, x, weights, **parameters) : one step from the scores x [n, ...]; `received` is what vertices receive
        along their in-arcs, as a function of what they send, and `weights` are None where the arcs have none.
    """
    weights = weights_of(graph, weighted)
    plain = graph if weights is None else graph.weighted_by(None)  # holds no weights of a transform of torch.func
    given = {"weights": weights, **parameters}
    names = [name for name, value in given.items() if isinstance(value, Tensor)]
    fixed = {name: value for name, value in given.items() if name not in names}

    def split(tensors: tuple[Tensor, ...]) -> tuple[Tensor | None, dict[str, Any]]:
        held = fixed | dict(zip(names, tensors, strict=True))
        return held.pop("weights"), held

    def found(*tensors: Tensor) -> Tensor:
        weight, held = split(tensors)
        numbers = {name: value.item() for name, value in held.items() if isinstance(value, Tensor) and not value.dim()}
        return solve(plain if weight is None else plain.weighted_by(weight), **(held | numbers))

    def once(x: Tensor, *tensors: Tensor) -> Tensor:
        weight, held = split(tensors)
        return step(partial(received, plain, weight, weighted), x, weight, **held)

    return tg.primitives.implicit.fixpoint(found, once, *(given[name] for name in names), tolerance=tol)


def received(graph: tg.Graph, weights: Tensor | None, weighted: bool, sent: Tensor, reverse: bool = False) -> Tensor:
    """What vertices receive along their in-arcs of what all send, [n, ...]; along their out-arcs where `reverse`."""
    if reverse:
        weights = None if weights is None else weights.index_select(0, graph.transpose_permutation)
        graph = graph.transpose()
    edge = "mul" if weighted and (weights is not None or graph.weight_dtype is not None) else "copy"
    return tg.aggregate(graph, sent, "sum", edge=edge, weights=None if weights is None else weights.to(sent.dtype))


def scaled_to(values: Tensor, size: Tensor) -> Tensor:
    """The values divided by their size, or as they are where that is 0."""
    return values / torch.where(size == 0, 1, size)
