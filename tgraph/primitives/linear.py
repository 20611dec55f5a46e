"""Linear iterations: PageRank, HITS, Katz and eigenvector centrality as steps of one affine map."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from torch import Tensor
from torch.compiler import is_compiling

from tgraph.core import native
from tgraph.core.building.inputs import as_count
from tgraph.core.graph import Graph
from tgraph.core.subgraph import Subgraph, arc_weights, whole
from tgraph.errors import ArgumentError
from tgraph.kernels import Choice, choose, noted
from tgraph.kernels.call import Call
from tgraph.kernels.portable.linear import Coefficients, Stepped, distance, scaled, total, unsent


class AffineMap:
    """x' = alpha A^T (scale x) + beta bias: x'[v] adds up weight * scale[u] * x[u] over the arcs u -> v.

    One pass over the arcs computes a step and what an iteration wants to know after it: how far the step moved the
    values (`change`), their sum (`total`), and the sum of those that send nothing (`unsent`). Asking for these costs
    next to nothing for the values that `step` gave last, if it was done after the step before too, and a pass over the
    vertices for any others.

    scale : [n], what a vertex sends of its value; None for all of it.
    bias : [n], or a number for all vertices.
    edge : "copy" sends scale * x along every arc, "mul" multiplies it by the weight of the arc.
    weights : [m] in the stored order of the arcs, a number, or None for the graph's own; for edge="mul".
    measure : [n], what `total` weighs the values by; None for 1. With a measure of A 1, the row sums of the matrix of
        the next step, `total` is the sum of the next vector ahead of it, and alpha = 1 / total normalises it.
    blocks : 1 for a power (Jacobi) iteration, whose vertices all hear the last values; more for block Gauss-Seidel,
        where the rows are cut into so many blocks of equal work and each, beginning with the last, hears what those
        after it have just computed. The compiled kernels cut large blocks into stripes, by their size alone, and let
        a row hear the rows before it in its stripe as well, unless neighbours are scattered. All have the same
        fixpoints, and Gauss-Seidel often gets there in fewer steps.

    Sums are taken in float64; values, and what is sent, keep the dtype of x (of scale * x, where scale is wider).
    Results do not depend on the number of threads. Differentiable in x, scale, bias and weights. The compiled kernels
    serve float32 and float64 on the CPU where scale, bias and measure have the dtype of x, and no gradient is needed.

    A map owns the tensors that `step` gives: those of two steps ago are overwritten. Clone what you want to keep.

    Raises ArgumentError for an unknown `edge`, or fewer than one block.
    """

    def __init__(
        self,
        *,
        scale: Tensor | None = None,
        bias: Tensor | float = 0.0,
        edge: str = "copy",
        weights: Tensor | float | None = None,
        measure: Tensor | None = None,
        blocks: int = 1,
    ):
        if edge not in ("copy", "mul"):
            raise ArgumentError(f"edge: a linear map copies or multiplies, {edge!r} is not one of 'copy', 'mul'")
        if as_count(blocks, "blocks") < 1:
            raise ArgumentError(f"blocks: expected at least one, got {blocks}; 1 is a power iteration")
        one_for_all = isinstance(weights, (int, float)) or (isinstance(weights, Tensor) and weights.dim() == 0)
        weighted = edge == "mul" and not one_for_all
        self._coefficients = Coefficients(scale, bias, measure, blocks, weighted)
        named = {"scale": scale, "bias": bias, "measure": measure}
        self._vectors = {name: value for name, value in named.items() if isinstance(value, Tensor)}
        self._edge, self._weights = edge, weights
        self._graph: Graph | None = None  # which the vectors fit
        self._chosen: tuple[Any, Choice] | None = None  # who computes a step, and what that depends on
        self._before: Tensor | None = None  # what the last step is measured from
        self._last: Stepped | None = None
        self._wanted: set[str] = set()  # what was asked for once is computed with every step
        self._spare: tuple[Tensor | None, Tensor | None] = (None, None)

    def step(
        self,
        sub: Subgraph | Graph,
        x: Tensor,
        *,
        alpha: Tensor | float = 1.0,
        beta: Tensor | float = 1.0,
        rescale: Tensor | float = 1.0,
        before: Tensor | None = None,
        overwrite: bool = False,
    ) -> Tensor:
        """The values x' [n] after a step from `x` [n], any floating dtype.

        sub : all arcs of an iteration, or a Graph. Every vertex receives by its in-arcs, whatever the mode.
        alpha, beta : numbers or tensors []. rescale : a number or tensor []; the step starts from rescale * x. Where
            the sum of the fixpoint is known, going on from a vector of that sum makes up for what Gauss-Seidel does
            not conserve. before : [n], what `change` is measured from, by default x.
        overwrite : x is not needed any more. The new values are written over it where the kernels can: what is given
            may be x itself, and so less memory is touched.

        Raises ArgumentError where some vertices are not active, or a tensor does not fit the graph.
        """
        arcs = _whole_pull(sub)
        before = x if before is None else before
        self._check(arcs.graph, x, before)
        if (weights := self._weights) is not None and self._edge == "mul" and not self._coefficients.weighted:
            alpha = alpha * weights
        if self._coefficients.blocks == 1:
            alpha = alpha * rescale
        heard = self._sent_of(x)
        kernels = self._choose(arcs, x, (heard, before, alpha, beta, rescale))
        old_values, old_sent = self._spare
        spare = (_reusable(old_values, x, before), _reusable(old_sent, heard, x, before))
        if overwrite and heard is not x and before is x and x.is_contiguous() and not x.requires_grad:
            spare = (x, spare[1])
        stepped = kernels.run(
            arcs, self._coefficients, heard, before, kernels.call.weights, alpha, beta, rescale, spare, self._wanted
        )
        self._spare = (None if overwrite or self._last is None else self._last.values, heard)
        self._before, self._last = before, stepped
        return stepped.values

    def _choose(self, arcs: Subgraph, x: Tensor, inputs: tuple[Tensor | float, ...]) -> Choice:
        """Who computes a step; the same as for the last one, where nothing has changed that this depends on."""
        tensors = [tensor for tensor in (*self._vectors.values(), *inputs) if isinstance(tensor, Tensor)]
        key = (arcs.graph, arcs.mirrored, arcs.backend, x.dtype, len(tensors), native.load(), is_compiling())
        recorded = any(tensor.requires_grad for tensor in tensors)
        if self._chosen is not None and self._chosen[0] == key and not recorded:
            return noted(self._chosen[1])
        weighted, blocks = self._coefficients.weighted, self._coefficients.blocks
        weights = arc_weights(arcs, x, self._edge, self._weights) if weighted else None
        edge, others = "mul" if weighted else "copy", tuple(tensors)
        call = Call("affine_step", x, edge=edge, weights=weights, others=others, sub=arcs, blocks=blocks)
        choice = choose(arcs.backend, call)
        held = choice.call.weights
        if not recorded and not (isinstance(held, Tensor) and held.requires_grad):
            # What is kept shall hold no vector.
            call = replace(choice.call, data=x.new_empty(0), others=())
            self._chosen = key, replace(choice, call=call)
        return choice

    def change(self, before: Tensor, after: Tensor) -> Tensor | float:
        """The L1 distance of two vectors [n], `before` and `after` a step, without gradient."""
        last = self._last
        return last.change if last and after is last.values and before is self._before else distance(before, after)

    def total(self, x: Tensor) -> Tensor | float:
        """The sum of `measure * x`, for x [n]."""
        kept = self._kept("total", x)
        return total(x, self._coefficients.measure) if kept is None else kept

    def unsent(self, x: Tensor) -> Tensor | float:
        """The sum of `x` [n] over the vertices whose scale is 0."""
        kept = self._kept("unsent", x)
        return unsent(x, self._coefficients.scale) if kept is None else kept

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps: the numbers of the last step, which another sum might round otherwise."""
        last = self._last
        kept = None if last is None else {"values": last.values, "total": last.total, "unsent": last.unsent}
        return {"last": kept, "wanted": sorted(self._wanted)}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from what `state` gave, with the same scale, bias and measure."""
        self._wanted, last = set(state["wanted"]), state["last"]
        if last is not None:
            sent = scaled(last["values"], self._coefficients.scale)
            self._last = Stepped(last["values"], sent, 0.0, last["total"], last["unsent"])

    def _kept(self, name: str, x: Tensor) -> Tensor | float | None:
        """What the last step computed for its values, where x are these."""
        self._wanted.add(name)
        return getattr(self._last, name) if self._last and x is self._last.values else None

    def _sent_of(self, x: Tensor) -> Tensor:
        """scale * x: kept from the last step, or computed. What blocks overwrite is never x itself."""
        last = self._last
        if last and x is last.values and last.sent is not x:
            return last.sent
        sent = scaled(x, self._coefficients.scale)
        return sent.clone() if sent is x and self._coefficients.blocks > 1 else sent

    def _check(self, graph: Graph, x: Tensor, before: Tensor) -> None:
        known = None if self._last is None else self._last.values
        tensors = {"x": x, "before": before, **({} if self._graph is graph else self._vectors)}
        for name, tensor in tensors.items():
            if tensor is known and self._graph is graph:
                continue
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
    """All arcs as rows that receive, which adds in a fixed order."""
    if isinstance(sub, Graph):
        return whole(sub, sub.everything(), "pull")
    if not sub.is_whole or not sub.active.is_everything:
        raise ArgumentError("sub: a linear step needs every vertex active; use tg.aggregate for some of them")
    return sub if sub.mode == "pull" else whole(sub.graph, sub.active, "pull", sub.backend)


def _reusable(spare: Tensor | None, like: Tensor, *kept: Tensor) -> Tensor | None:
    """The spare tensor where it fits, and is none of those that must not be overwritten."""
    if spare is None or spare.requires_grad or spare.dtype != like.dtype or spare.shape != like.shape:
        return None
    return None if spare is like or any(spare is tensor for tensor in kept) else spare
