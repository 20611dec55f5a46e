"""Relaxations with the whole loop run by a backend: the rounds of the engine, without a return to Python for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, cast

from torch import Tensor

from tgraph.core.dispatch import LAYOUT
from tgraph.core.frontier import Frontier
from tgraph.core.graph import Graph
from tgraph.core.subgraph import InLayout, arc_weights, whole
from tgraph.engine import overflow
from tgraph.engine.plan import Plan
from tgraph.kernels import BACKENDS, Choice, choose, find
from tgraph.kernels.call import Call
from tgraph.kernels.loops import Loop, LoopCall
from tgraph.kernels.reductions import Reduction
from tgraph.model.program import Program, Relaxation, check_dtype

SLICE = 0.1  # seconds after which a loop returns, for signals and the progress bar

# Methods that the loop never calls: a subclass that overrides one is run by the engine.
HOOKS = {"compute", "bound", "best_weight", "bucket_width", "tensorize", "residual"}


def find_loop(
    program: Program, graph: Graph, values: Any, active: Frontier, backend: str, in_rounds: bool = False
) -> Choice | None:
    """The choice of a backend for the loop of a program; its `backend` is None where no backend supports it.

    None for a program that is not a Relaxation, or overrides its steps. `in_rounds`: the user sets the direction or the
    number of rounds. Raises ArgumentError for a backend, given by name, that has neither the loop nor its rounds.
    """
    if not isinstance(program, Relaxation) or program.tolerance is not None:
        return None
    if _has_own_steps(type(program)):
        return None
    if program.delta is not None and program.rounds is not None:
        return None  # rounds in the order of buckets depend on the threads
    if graph.layout is not None and backend in ("auto", LAYOUT):
        if in_rounds or program.rounds is not None or not graph.layout.streams:
            return None  # the loops need a CSR; the loop of a streamed graph has no rounds
        backend = LAYOUT
    held = whole(graph, active, "push")
    weights = arc_weights(held, values, program.edge, program.weight)
    check_dtype(graph, values, weights, program.edge)
    call = Call("fixpoint", values, program.reduction, program.edge, weights, graph, sub=held)
    call = call if backend == LAYOUT else call.decoded()
    rounds_will_do = backend == "auto" or "relax" in BACKENDS[backend].operators
    return find(backend, call) if rounds_will_do else choose(backend, call)


def _has_own_steps(kind: type) -> bool:
    own = (base for base in kind.__mro__ if base not in (Relaxation, Program, object))
    return any(not HOOKS.isdisjoint(vars(base)) for base in own)


def best_weight(program: Relaxation, graph: Graph) -> float | None:
    """The best weight of an arc, None where it does not bound messages."""
    if program.edge == "mul":
        return None
    return program.best_weight(graph) if program.edge != "copy" and graph._has_arcs else 0


def begin(plan: Plan, program: Relaxation, graph: Graph, values: Tensor, active: Frontier, mode: str) -> Loop:
    """The loop of a plan before its first round; `values` are contiguous, and overwritten."""
    return cast(Choice, plan.loop).run(_call(plan, program, graph, values, active, mode))


def again(plan: Plan, program: Relaxation, graph: Graph, values: Tensor, active: Frontier, mode: str) -> Any:
    """What begins the loops of this plan in one call each, None where its backend has no such: see `begin_again`."""
    if plan.loop is None or plan.loop.backend is None or values.dim() != 1:
        return None
    make = getattr(plan.loop.run, "again", None)
    return make and make(_call(plan, program, graph, values, active, mode))


def begin_again(
    plan: Plan, program: Relaxation, graph: Graph, values: Tensor, active: Frontier, limit: int | None
) -> tuple[bool, int, Loop | None]:
    """A loop that has begun, after what it returns of `Loop.advance` for at most `limit` rounds; None where it has
    ended."""

    def transposed() -> Tensor | float | None:
        return _transposed(program, graph, values, active)

    ids = None if active.is_everything else active.ids
    return plan.again.begin(graph, values, ids, transposed, overflow.ENDLESS if limit is None else limit, SLICE)


def _call(plan: Plan, program: Relaxation, graph: Graph, values: Tensor, active: Frontier, mode: str) -> LoopCall:
    loop = cast(Choice, plan.loop)
    return LoopCall(
        graph,
        values,
        active,
        cast(Reduction, loop.call.reduction),
        program.edge,
        None if isinstance(loop.call.weights, InLayout) else loop.call.weights,
        lambda: _transposed(program, graph, values, active),
        plan.best,
        mode,
        plan.growth,
        plan.width,
    )


def _transposed(program: Relaxation, graph: Graph, values: Tensor, active: Frontier) -> Tensor | float | None:
    """The weights of the arcs of the transpose."""
    held = whole(graph, active, "pull")
    weights = arc_weights(held, values, program.edge, program.weight)
    return held.weights() if isinstance(weights, InLayout) else weights


def advance(loop: Loop, limit: int | None, safe: Callable[[], int] | None = None) -> Iterator[int]:
    """Run the loop and yield the number of rounds since the last yield, until no vertex is active or `limit` rounds are
    done; `loop.rounds()` has their traces. `safe` returns the number of rounds to run before its next call."""
    finished, done, allowed = False, 0, 0
    while not finished and done != limit:
        left = overflow.ENDLESS if limit is None else limit - done
        if safe is not None:
            allowed = allowed or safe()
            left = min(left, allowed)
        finished, count = loop.advance(left, SLICE)
        done, allowed = done + count, max(allowed - count, 0)
        yield count


def frontier_of(loop: Any, graph: Graph, first: Frontier, begun: Tensor | None, values: Tensor) -> Frontier:
    """The frontier of a paused loop; without one, all vertices active so far: the `first` ones, and vertices whose
    value differs from `begun`, the initial one.

    Relaxing a vertex again changes neither the values nor the number of rounds: its messages have been received.
    """
    if begun is None or not loop.active:
        return graph.select(loop.frontier) if loop.active else graph.nothing()
    moved = values != begun
    return graph.select((moved if moved.dim() == 1 else moved.flatten(1).any(1)) | first.mask)
