"""Affine iterations: PageRank, HITS, Katz and eigenvector centrality as steps of one affine map."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from torch import Tensor
from torch.compiler import is_compiling

from tgraph.core.building.inputs import as_count
from tgraph.core.dispatch import is_available, watchers
from tgraph.core.graph import Graph
from tgraph.core.subgraph import Subgraph, arc_weights, whole
from tgraph.errors import ArgumentError
from tgraph.kernels import Choice, choose, noted
from tgraph.kernels.affine import NUMBERS, AffineStep, Repeat, StepResult
from tgraph.kernels.call import Call
from tgraph.kernels.operators.linear.linear import dangling_mass, distance, scaled, total


class AffineMap:
    """x' = alpha A^T (scale x) + beta bias: x'[v] is alpha times the sum of weight * scale[u] * x[u] over the arcs
    u -> v, plus beta * bias[v].

    One pass over the arcs computes a step and what an iteration needs after it: how far the step moved the values
    (`change`), their sum (`total`), and the sum of the vertices of scale 0 (`dangling_mass`). These cost next to
    nothing for the values of the last step where they were read after the step before, and one pass over the vertices
    for any others.

    scale : [n], the share of its value that a vertex sends; None for 1.
    bias : [n], or a number for all vertices.
    edge : "copy" sends scale * x along every arc, "mul" multiplies it by the weight of the arc.
    weights : [m] in the stored order of the arcs, a number, or None for the graph's own; for edge="mul".
    measure : [n], weighs the values in `total`; None for 1. With a measure of A 1, the row sums of the matrix of the
        next step, `total` is the sum of the next vector before it is computed, and alpha = 1 / total normalises it.

    Sums are taken in float64; the values keep the dtype of x, and scale * x is rounded to it (to the dtype of scale,
    where that is wider). Results do not depend on the number of threads. Differentiable in x, scale, bias and weights.
    The compiled kernels serve float32 and float64 on the CPU where scale, bias and measure have the dtype of x, and no
    gradient is needed.

    The tensors that `step` returns belong to the map: those of two steps ago are overwritten. Clone what is to be kept.

    Raises ArgumentError for an unknown `edge`.

    >>> graph = tg.Graph.from_edges([0, 0, 1], [1, 2, 2])
    >>> affine = tg.primitives.linear.AffineMap(scale=torch.tensor([0.5, 1.0, 0.0]), bias=0.1)
    >>> affine.step(graph, torch.tensor([1.0, 2.0, 3.0]))
    tensor([0.1000, 0.6000, 2.6000])
    """

    _operation = "affine_step"  # of the backends
    _arguments: tuple[Any, ...] = ()  # which it takes besides

    def __init__(
        self,
        *,
        scale: Tensor | None = None,
        bias: Tensor | float = 0.0,
        edge: str = "copy",
        weights: Tensor | float | None = None,
        measure: Tensor | None = None,
    ):
        if edge not in ("copy", "mul"):
            raise ArgumentError(f"edge: an affine map copies or multiplies, {edge!r} is not one of 'copy', 'mul'")
        one_for_all = isinstance(weights, (int, float)) or (isinstance(weights, Tensor) and weights.dim() == 0)
        self._weighted = edge == "mul" and not one_for_all
        self._factor = weights if edge == "mul" and one_for_all else None
        self._scale, self._bias, self._measure = scale, bias, measure
        named = {"scale": scale, "bias": bias, "measure": measure}
        self._vectors = {name: value for name, value in named.items() if isinstance(value, Tensor)}
        self._edge, self._weights = edge, weights
        self._graph: Graph | None = None  # which the vectors fit
        self._chosen: tuple[Any, Choice] | None = None  # the backend of a step, and what that depends on
        self._before: Tensor | None = None  # the values that the last step is measured from
        self._last: StepResult | None = None
        self._wanted: set[str] = set()  # the numbers that were read once are computed with every step
        self._spare: tuple[Tensor | None, Tensor | None] = (None, None)

    def step(
        self,
        sub: Subgraph | Graph,
        x: Tensor,
        *,
        alpha: Tensor | float = 1.0,
        beta: Tensor | float = 1.0,
        before: Tensor | None = None,
        overwrite: bool = False,
    ) -> Tensor:
        """The values x' [n] after a step from `x` [n], any floating dtype.

        sub : all arcs of an iteration, or a Graph. Every vertex receives by its in-arcs, whatever the mode.
        alpha, beta : numbers or tensors [].
        before : [n], what `change` is measured from, by default x.
        overwrite : x is not needed any more. The new values are written over it where the kernels can, and may be x
            itself: less memory is touched.

        Raises ArgumentError where some vertices are not active, or a tensor does not fit the graph.

        >>> graph = tg.Graph.from_edges([0, 1], [1, 2], torch.tensor([2.0, 4.0]))
        >>> affine = tg.primitives.linear.AffineMap(edge="mul", bias=1.0)
        >>> affine.step(graph, torch.tensor([1.0, 10.0, 100.0]), alpha=0.5)
        tensor([ 1.,  2., 21.])
        """
        return self._step(sub, x, alpha, beta, x if before is None else before, overwrite)

    def steps(
        self,
        sub: Subgraph | Graph,
        x: Tensor,
        most: int,
        *,
        alpha: float = 1.0,
        beta: float = 1.0,
        rate: float = 0.0,
        tolerance: float | None = None,
    ) -> tuple[Tensor, int]:
        """Steps from `x` [n], which is overwritten, in one call of the kernels: the values x' [n] of the last step, and
        how many were taken.

        sub : all arcs of an iteration, or a Graph. alpha : a number.
        most : so many at most, at least one. The compiled kernels return after a tenth of a second, others after a
            step: call it again for those that are left. The bits are those of as many calls of `step`.
        rate : each step has the beta `beta + rate * dangling_mass(x)`, of the x that it begins with.
        tolerance : no step follows one of a `change` of at most that.

        Raises ArgumentError as `step` does, and for fewer steps than one.

        >>> graph = tg.Graph.from_edges([0, 1, 2], [1, 2, 0])
        >>> affine = tg.primitives.linear.AffineMap(bias=1.0)
        >>> x, taken = torch.zeros(3), 0
        >>> while taken < 50:
        ...     x, count = affine.steps(graph, x, 50 - taken, alpha=0.5)
        ...     taken += count
        >>> x
        tensor([2., 2., 2.])
        """
        if as_count(most, "most") < 1:
            raise ArgumentError(f"most: expected at least one step, got {most}")
        first = beta if rate == 0 else beta + rate * self.dangling_mass(x)
        repeat = None if most == 1 else Repeat(most, -1.0 if tolerance is None else tolerance, beta, rate)
        values = self._step(sub, x, alpha, first, x, True, *self._arguments, repeat=repeat)
        return values, 1 if self._last is None else self._last.steps

    def _step(
        self,
        sub: Subgraph | Graph,
        x: Tensor,
        alpha: Tensor | float,
        beta: Tensor | float,
        before: Tensor,
        overwrite: bool,
        *arguments: Any,
        repeat: Repeat | None = None,
    ) -> Tensor:
        arcs = _whole_pull(sub)
        self._check(arcs.graph, x, before)
        if self._factor is not None:
            alpha = alpha * self._factor
        sent = self._sent_of(x)
        kernels = self._choose(arcs, x, (sent, before, alpha, beta, *arguments))
        old_values, old_sent = self._spare
        kept = set(map(id, (x, before, *self._vectors.values())))
        spare = (_reusable(old_values, x, kept), _reusable(old_sent, sent, kept))
        if (
            overwrite
            and sent is not x
            and before is x
            and self._bias is not x
            and x.is_contiguous()
            and not x.requires_grad
        ):
            spare = (x, spare[1])
        coefficients = self._scale, self._bias, self._measure, self._weighted
        weights: Any = None if kernels.call.weights_in_layout else kernels.call.weights
        turns = repeat is not None and not self._arguments and kernels.is_by("native")
        repeat = repeat if turns and _may_turn(x, sent, set(map(id, self._vectors.values()))) else None
        step = AffineStep(sent, before, *coefficients, weights, alpha, beta, spare, self._wanted, repeat)
        result = kernels.run(arcs, step, *arguments)
        if repeat is not None:
            self._spare = None, None
        elif overwrite:
            self._spare = x if sent is x and before is x else None, sent
        else:
            self._spare = None if self._last is None else self._last.values, sent
        self._before, self._last = before, result
        return result.values

    def _choose(self, arcs: Subgraph, x: Tensor, inputs: tuple[Any, ...]) -> Choice:
        """The backend of a step; that of the last one, where nothing has changed that it depends on."""
        tensors = [tensor for tensor in (*self._vectors.values(), *inputs) if isinstance(tensor, Tensor)]
        key = (arcs.graph, arcs.mirrored, arcs.backend, x.dtype, len(tensors), is_available("native"), is_compiling())
        recorded = True in [tensor.requires_grad for tensor in tensors]
        if self._chosen is not None and self._chosen[0] == key and not recorded:
            return noted(self._chosen[1])
        chosen: dict[Any, Choice] = {}  # by the maps before on this graph; a trace is told in full
        kinds = None
        if not (self._weighted or recorded or watchers() or arcs.graph.layout is not None):
            chosen = arcs.graph.kept("affine steps", dict)
            kinds = self._operation, key[1:], *[(tensor.dtype, tensor.dim()) for tensor in tensors]
        if kinds in chosen:
            self._chosen = key, chosen[kinds]
            return chosen[kinds]
        weights = arc_weights(arcs, x, self._edge, self._weights) if self._weighted else None
        edge, others = "mul" if self._weighted else "copy", tuple(tensors)
        choice = choose(arcs.backend, Call(self._operation, x, edge=edge, weights=weights, others=others, sub=arcs))
        held = choice.call.weights
        if not recorded and not (isinstance(held, Tensor) and held.requires_grad):
            # What is kept must not hold vectors.
            call = replace(choice.call, data=x.new_empty(0), others=())
            self._chosen = key, replace(choice, call=call)
            if kinds is not None:
                chosen[kinds] = replace(choice, call=replace(call, sub=None))  # without the graph, which keeps it
        return choice

    def replace_bias(self, bias: Tensor) -> None:
        """Take another `bias` [n] for the steps to come.

        >>> graph = tg.Graph.from_edges([0, 1], [1, 2])
        >>> affine = tg.primitives.linear.AffineMap(bias=torch.zeros(3))
        >>> affine.replace_bias(torch.tensor([5.0, 6.0, 7.0]))
        >>> affine.step(graph, torch.zeros(3))
        tensor([5., 6., 7.])
        """
        self._bias = self._vectors["bias"] = bias
        self._graph = None  # it is checked by the next step

    def change(self, before: Tensor, after: Tensor) -> Tensor | float:
        """The L1 distance of two vectors [n], `before` and `after` a step, without gradient.

        >>> affine = tg.primitives.linear.AffineMap()
        >>> affine.change(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 1.0]))
        tensor(3., dtype=torch.float64)
        """
        last = self._last
        return last.change if last and after is last.values and before is self._before else distance(before, after)

    def total(self, x: Tensor) -> Tensor | float:
        """The sum of `x` [n], weighed by the measure, in float64.

        >>> affine = tg.primitives.linear.AffineMap(measure=torch.tensor([1.0, 10.0]))
        >>> affine.total(torch.tensor([3.0, 4.0]))
        tensor(43., dtype=torch.float64)
        """
        kept = self._kept("total", x)
        return total(x, self._measure) if kept is None else kept

    def dangling_mass(self, x: Tensor) -> Tensor | float:
        """The sum of `x` [n] over the vertices whose scale is 0, in float64.

        >>> affine = tg.primitives.linear.AffineMap(scale=torch.tensor([0.5, 0.0]))
        >>> affine.dangling_mass(torch.tensor([3.0, 4.0]))
        tensor(4., dtype=torch.float64)
        """
        kept = self._kept("dangling_mass", x)
        return dangling_mass(x, self._scale) if kept is None else kept

    def state(self) -> dict[str, Any]:
        """State for a checkpoint: the numbers of the last step, which another sum might round otherwise.

        >>> graph = tg.Graph.from_edges([0, 1], [1, 2])
        >>> affine = tg.primitives.linear.AffineMap()
        >>> x = affine.step(graph, torch.ones(3))
        >>> affine.state()["last"]["values"]
        tensor([0., 1., 1.])
        """
        last = self._last
        kept = None if last is None else {name: getattr(last, name) for name in ("values", *NUMBERS)}
        return {"last": kept, "wanted": sorted(self._wanted)}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from what `state` returned, with the same scale, bias and measure.

        >>> graph = tg.Graph.from_edges([0, 1], [1, 2])
        >>> first, second = tg.primitives.linear.AffineMap(), tg.primitives.linear.AffineMap()
        >>> x = first.step(graph, torch.ones(3))
        >>> second.restore(first.state())
        >>> second.total(x)
        tensor(2., dtype=torch.float64)
        """
        self._wanted, last = set(state["wanted"]), state["last"]
        if last is not None:
            sent = scaled(last["values"], self._scale)
            self._last = StepResult(last["values"], sent, 0.0, *(last[name] for name in NUMBERS))

    def _kept(self, name: str, x: Tensor) -> Tensor | float | None:
        """A number of the last step, where x are its values."""
        self._wanted.add(name)
        return getattr(self._last, name) if self._last and x is self._last.values else None

    def _sent_of(self, x: Tensor) -> Tensor:
        """scale * x: kept from the last step, or computed."""
        last = self._last
        return last.next_x if last and x is last.values and last.next_x is not x else scaled(x, self._scale)

    def _check(self, graph: Graph, x: Tensor, before: Tensor) -> None:
        fits = self._graph is graph
        known = self._last.values if fits and self._last is not None else None
        given = {"x": x} if before is x else {"x": x, "before": before}
        tensors = {name: tensor for name, tensor in given.items() if tensor is not known}
        tensors |= {} if fits else self._vectors
        for name, tensor in tensors.items():
            if tensor.shape != (graph.num_vertices,) or not tensor.is_floating_point():
                raise ArgumentError(
                    f"{name}: expected [{graph.num_vertices}] of a floating dtype, one for each vertex, "
                    f"got {list(tensor.shape)} of {tensor.dtype}"
                )
            if tensor.device != graph.device:
                raise ArgumentError(f"{name}: on {tensor.device}, the graph on {graph.device}; use .to(graph.device)")
        if x.dtype != before.dtype:
            raise ArgumentError(f"before: expected the dtype of x, {x.dtype}, got {before.dtype}")
        self._graph = graph


def _whole_pull(sub: Subgraph | Graph) -> Subgraph:
    """All arcs as rows that receive, whose sums have a fixed order."""
    if isinstance(sub, Graph):
        return whole(sub, sub.everything(), "pull")
    if not sub.is_whole or not sub.active.is_everything:
        raise ArgumentError("sub: a linear step needs every vertex active; use tg.aggregate for some of them")
    return sub if sub.mode == "pull" else whole(sub.graph, sub.active, "pull", sub.backend)


def _reusable(spare: Tensor | None, like: Tensor, kept: set[int]) -> Tensor | None:
    """The spare tensor where it fits, and is none of the tensors that must not be overwritten, whose ids are `kept`."""
    if spare is None or spare is like or id(spare) in kept:
        return None
    fits = not spare.requires_grad and spare.dtype == like.dtype and spare.shape == like.shape
    return spare if fits else None


def _may_turn(x: Tensor, sent: Tensor, kept: set[int]) -> bool:
    """Whether later steps may write over x and what is sent of it: neither is a tensor `kept`, by its id."""
    recorded = x.requires_grad or sent.requires_grad
    return not recorded and sent.is_contiguous() and kept.isdisjoint((id(x), id(sent)))
