"""Power iterations: their steps, the dtype of the scores, and the sums that vertices send."""

from __future__ import annotations

import torch
from torch import Tensor

import tgraph as tg


class AffineProgram(tg.Program):
    """A program whose iterations are steps of one affine map, `walk`, and end by how much a step changes the scores.

    A step multiplies what is received by `factor`, and the bias by `jump + rate * dangling mass`.
    """

    one_torch_thread = True
    walk: tg.primitives.linear.AffineMap
    factor: float
    jump: float = 1.0
    rate: float = 0.0

    def compute(self, sub: tg.Subgraph, values: Tensor, active: tg.Frontier) -> tuple[Tensor, tg.Frontier]:
        return self.walk.steps(sub, values, 1, alpha=self.factor, beta=self.jump, rate=self.rate)[0], active

    def compute_rounds(self, sub: tg.Subgraph, values: Tensor, most: int) -> tuple[Tensor, int] | None:
        factors = {"alpha": self.factor, "beta": self.jump, "rate": self.rate}
        return self.walk.steps(sub, values, most, tolerance=self.tolerance, **factors)

    def residual(self, before: Tensor, after: Tensor) -> Tensor | float:
        return self.walk.change(before, after)


def wide(values: Tensor) -> Tensor:
    """The values in float64; in float32 on Apple's GPUs, which have nothing wider."""
    return values.to(torch.float32 if values.device.type == "mps" else torch.float64)


def fitted(values: Tensor, dtype: torch.dtype) -> Tensor:
    """Degrees, or sums of weights, in the dtype of the scores (but no narrower than float32) unless they are too large
    or small for it to hold what they make of a score."""
    narrow = values.to(torch.promote_types(dtype, torch.float32))
    if values.dtype in (narrow.dtype, torch.int64):
        return narrow
    held = (values == 0) | ((values > 1e-12) & (values < 1e12))
    return narrow if bool(held.all()) else values


def strength(program: tg.Program, graph: tg.Graph, edge: str) -> Tensor:
    """The out-strength of each vertex, [n]: its degree for edge="copy", for "mul" the sum of the weights of its arcs.

    Raises ArgumentError for weights that are no measure, or so small that one cannot divide by their sum.
    """
    if edge == "copy":
        return graph.out_degree
    tg.primitives.weights.check(graph, "measures", "shares of what a vertex sends")
    arcs = program.tensorize(graph, graph.everything(), "push").reverse()
    ones = wide(torch.ones(graph.num_vertices, device=graph.device))
    total = tg.aggregate(arcs, ones, "sum", edge=edge).values
    tiny = ((total > 0) & (total < torch.finfo(total.dtype).tiny)).nonzero()
    if len(tiny):
        raise tg.errors.ArgumentError(
            f"weights: those at vertex {graph.ids(int(tiny[0]))!r} sum to {float(total[tiny[0]])}, which is too small "
            "to divide by; multiply all, which changes no share"
        )
    return total


def inverse(total: Tensor | float) -> Tensor | float:
    """1 / total, or 1 where there is nothing to divide."""
    if isinstance(total, Tensor):
        return 1 / torch.where(total == 0, 1, total)
    return 1 / total if total else 1.0


def check_dtype(dtype: torch.dtype) -> None:
    """Raise ArgumentError unless the dtype of the scores is floating."""
    if not dtype.is_floating_point:
        raise tg.errors.ArgumentError(f"dtype: scores are fractions, {dtype} cannot hold them; use a floating dtype")
