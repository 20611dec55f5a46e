"""The result of a run, and its state between iterations, saved by checkpoints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import Tensor

from tgraph.core.derived import computed_once
from tgraph.core.direction import DirectionPolicy
from tgraph.core.frontier import Frontier
from tgraph.core.graph import Graph
from tgraph.core.rows import Scratch
from tgraph.engine.by_rows import RowSteps
from tgraph.engine.delta_stepping import NearFar
from tgraph.engine.fusion import Fused
from tgraph.engine.overflow import ENDLESS
from tgraph.engine.plan import Plan
from tgraph.engine.tracing.trace import Trace
from tgraph.kernels.loops import Loop
from tgraph.markup.labels import definitions
from tgraph.model.program import Program


@dataclass
class Run:
    """The result of a run.

    values : the vertex data, in the form returned by the program.
    iterations : how many times TENSORIZE and COMPUTE ran.
    converged : True where no vertex was active any more, the tolerance was met, or the program's rounds are done.
    residual : the last residual, for a program that has one.
    trace : the `Trace`, with trace=True.

    >>> run = tg.run(tg.algorithms.BFS(0), tg.generators.path(4))
    >>> run.values, run.iterations, run.converged
    (tensor([0, 1, 2, 3], dtype=torch.int32), 4, True)
    """

    values: Any
    iterations: int
    converged: bool
    residual: float | None = None
    trace: Trace | None = None

    def _repr_html_(self) -> str:
        facts = {
            "values": _shape(self.values),
            "iterations": f"{self.iterations:,}" + ("" if self.converged else ", not converged"),
        }
        facts |= {} if self.residual is None else {"residual": f"{self.residual:.3g}"}
        facts |= {} if self.trace is None else {"trace": f"{self.trace.milliseconds:,.1f} ms; see .trace"}
        return definitions("Run", facts)


def _shape(values: Any) -> str:
    """The dtype, shape and device of vertex data, in words."""
    if isinstance(values, dict):
        return "; ".join(f"{name}: {_shape(data)}" for name, data in values.items())
    if not isinstance(values, Tensor):
        return type(values).__name__
    return f"{str(values.dtype).removeprefix('torch.')} {list(values.shape)} on {values.device}"


@dataclass(eq=False)
class State:
    """A program on a graph, between two iterations.

    values, active : the vertex data, and the vertices that send next.
    iterations, residual : the number of iterations so far, and the residual of the last.
    loop : the loop of a backend that has run these iterations.
    policy, order : the direction, and the order of buckets, of iterations run by the engine; None before the first, and
        where a backend runs the whole loop.
    is_own : whether nothing else refers to the memory of the values, so that steps may write into it. trusts : whether
        that holds after each COMPUTE, as for all of this package.
    fused, by_rows : COMPUTE as affine steps, and by rows, for rounds that these support; others are as it is written.
    """

    program: Program
    graph: Graph
    backend: str
    mode: str
    plan: Plan
    values: Any
    active: Frontier
    trace: Trace | None = None
    iterations: int = 0
    residual: float | None = None
    loop: Loop | None = None
    policy: DirectionPolicy | None = None
    order: NearFar | None = None
    is_own: bool = True
    trusts: bool = True
    fused: Fused | None = None
    by_rows: RowSteps | None = None

    @computed_once
    def scratch(self) -> Scratch:
        """Working memory shared by the iterations."""
        return Scratch(self.graph.num_vertices)

    @property
    def is_done(self) -> bool:
        """True where nothing is active, or the program's rounds or the limit are reached."""
        return not len(self.active) or self.iterations in (self.program.rounds, self.plan.limit)

    @property
    def left(self) -> int:
        """How many iterations are left before the program's rounds or the limit are reached."""
        ends = [end for end in (self.program.rounds, self.plan.limit) if end is not None]
        return min(ends, default=ENDLESS) - self.iterations

    def saved(self) -> dict[str, Any]:
        """The contents of a checkpoint."""
        return {
            "values": self.values,
            "frontier": (self.active if self.order is None else self.order.with_far(self.active)).forms(),
            "iterations": self.iterations,
            "residual": self.residual,
            "program": self.program.state(),
            "policy": None if self.policy is None else self.policy.state(),
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """Continue from the result of `saved`. Vertex data and frontier are removed from it, to free them early."""
        self.values, self.active = saved.pop("values"), Frontier(self.graph, **saved.pop("frontier"))
        self.iterations, self.residual = saved["iterations"], saved["residual"]
        self.program.restore(saved.pop("program"))
