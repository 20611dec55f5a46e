"""One step of an affine iteration: what every backend is given, and what it returns."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from torch import Tensor

NUMBERS = ("total", "dangling_mass")  # what a step may compute besides


@dataclass(slots=True, eq=False)
class Repeat:
    """More steps in the same call, as a backend may take that keeps the memory of x and of the result in turn.

    most : the number of steps, at least 1; for about `seconds`. tolerance : the step that changes the values by at most
    this is the last; negative for none. beta, rate : a step after the first has the beta `beta + rate * dangling_mass`,
    with that of the values before it.
    """

    most: int
    tolerance: float
    beta: float
    rate: float
    seconds: float = 0.1


@dataclass(slots=True, eq=False)
class AffineStep:
    """values[v] = alpha * (sum over arcs u -> v of x[u] * weight) + beta * bias, for every vertex v.

    x : [n], what each vertex sends. before : [n], the values that the change is measured from; the new values have its
        dtype. scale : [n], makes of the new values the x of the next step; None for 1. bias : [n], or one for all.
    measure : [n], weighs the values in their total; None for 1.
    weighted : whether messages are multiplied by `weights` [e], in the order of the arcs held; these are None where
        they are in a layout of the graph.
    spare : memory [n] for the new values and the next x, or None each. The first may be `before` itself.
    wanted : which of NUMBERS to compute.
    repeat : the steps that may follow. They overwrite x and the new values.

    Sums are taken in float64 where the device has it.
    """

    x: Tensor
    before: Tensor
    scale: Tensor | None = None
    bias: Tensor | float = 0.0
    measure: Tensor | None = None
    weighted: bool = False
    weights: Tensor | None = None
    alpha: Tensor | float = 1.0
    beta: Tensor | float = 1.0
    spare: tuple[Tensor | None, Tensor | None] = (None, None)
    wanted: Collection[str] = NUMBERS
    repeat: Repeat | None = None


@dataclass(slots=True, eq=False)
class StepResult:
    """The values [n] after a step, the x [n] of the next one, and numbers of the new values.

    change : their L1 distance from the values before. total : their sum, weighed by the measure. dangling_mass : the
    sum of those whose scale is 0. Numbers or tensors [], in float64 where the device has it; None where not wanted.
    steps : how many were taken; the change is that of the last.
    """

    values: Tensor
    next_x: Tensor
    change: Tensor | float
    total: Tensor | float | None
    dangling_mass: Tensor | float | None
    steps: int = 1
