"""run(): the loop of TENSORIZE and COMPUTE (TGraph, SIGMOD 2025, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import torch
from torch import Tensor

from tgraph.core import devices
from tgraph.core.build import check_choice
from tgraph.core.frontier import Frontier
from tgraph.core.graph import Graph
from tgraph.core.native import torch_alone
from tgraph.core.rows import Scratch
from tgraph.core.subgraph import Mode, Subgraph
from tgraph.engine import compiled_loop, planning
from tgraph.engine.checkpoint import Checkpoint, Keeper
from tgraph.engine.delta_stepping import NearFar
from tgraph.engine.direction import DirectionPolicy
from tgraph.engine.planning import Plan
from tgraph.engine.trace import Trace
from tgraph.errors import ArgumentError, NotConvergedError
from tgraph.files import PathLike
from tgraph.formats.layout import Layout
from tgraph.kernels import Choice, check_backend, watched
from tgraph.model.program import Program, Relaxation

Advance = Callable[[int, int], None]  # told how many iterations were done, and how many vertices are active


@dataclass
class Run:
    """What a run gave.

    values : the vertex data, as the program shapes it.
    iterations : how many times TENSORIZE and COMPUTE ran.
    converged : True where no vertex was active any more, the tolerance was met, or the program's rounds are done.
    residual : the last residual, for a program that has one.
    trace : what each iteration did, where asked for.
    """

    values: Any
    iterations: int
    converged: bool
    residual: float | None = None
    trace: Trace | None = None


def run(
    program: Program,
    graph: Graph,
    *,
    mode: str = "auto",
    backend: str = "auto",
    trace: bool = False,
    progress: bool = False,
    max_iterations: int | None = None,
    device: torch.device | str | None = None,
    memory: str | int | None = None,
    checkpoint: Checkpoint | PathLike | None = None,
) -> Run:
    """Run a program on a graph until no vertex is active.

    mode : "push" (active vertices send along their out-arcs), "pull" (vertices read their in-arcs), or "auto",
        which chooses for each iteration by the work ahead. All three give the same values.
    backend : which kernels serve the operators: "auto", or "native", "scatter", "sparse" or "portable"; those that
        offer no more than `aggregate` serve a `Program` that calls nothing else.
    trace : record what each iteration did.
    progress : show a progress bar on stderr.
    max_iterations : raise NotConvergedError, which carries the partial Run, after so many; by default the program's
        own limit, and for a Relaxation n + 1 (2n + 1 where reduce and edge are alike), which only a cycle that improves
        without end exceeds.
    device : where to run, by default where the graph is.
    memory : what the arcs and the data of the vertices may take there, such as "4GB" or bytes as an int. A graph that
        is larger is read block by block (`tgraph.stream`); see `tgraph.open` for one in a file. By default no limit.
    checkpoint : a file in which to keep the state of the run every half minute, between iterations, and to go on from
        where it is there; a `tgraph.Checkpoint` sets the time. The result is that of a run that was not interrupted,
        bit for bit where that one is the same every time. The trace has the iterations since.

    With `memory` a Relaxation may visit blocks in an order of its own, until nothing is active: to count or limit its
    rounds, or to fix their direction, set `rounds`, `max_iterations` or mode="pull".
    Raises MemoryBudgetError where `memory` does not hold the data of the vertices; FileFormatError for a checkpoint
    that is damaged; ArgumentError for one of another run, and where `init` or `compute` return something else than
    vertex data and a Frontier.
    """
    check_choice(mode, "mode", ("auto", "push", "pull"))
    check_backend(backend)
    if device is not None or memory is not None:
        from tgraph.stream.run.opening import within

        graph = within(graph, memory, device)
    # Elsewhere torch may be what computes: a program's own operations.
    with torch_alone(backend) if program.one_torch_thread else nullcontext():
        return _run(program, graph, mode, backend, trace, progress, max_iterations, checkpoint)


def _run(
    program: Program,
    graph: Graph,
    mode: str,
    backend: str,
    trace: bool,
    progress: bool,
    max_iterations: int | None,
    checkpoint: Checkpoint | PathLike | None,
) -> Run:
    """`run` on a graph that is where it is to be."""
    keeper = None if checkpoint is None else Keeper(checkpoint, program, graph)
    values, active = _first(program, graph)
    if graph.layout is not None:
        graph.layout.reserve(values, in_place=isinstance(program, Relaxation))
    saved = None if keeper is None else keeper.begin(values)
    plan = planning.plan(program, graph, values, active, backend, mode, max_iterations)
    result = Run(values, 0, False, trace=Trace(graph, type(program).__name__) if trace else None)
    if saved is not None:
        values, active = _restored(program, graph, result, saved)
    loop = plan.loop if plan.loop is not None and len(active) else None
    with _bar(progress, program, graph, result.iterations) as advance, _recording(graph, result.trace):
        if loop is not None and loop.backend is not None:
            remaining = _run_loop(plan, loop, cast(Relaxation, program), graph, active, mode, result, advance, keeper)
        else:
            if loop is not None and result.trace is not None:
                result.trace.choices.append(str(loop))
            policy = DirectionPolicy(graph, mode, settles=_settles(program))
            if saved is not None and saved["policy"] is not None:
                policy.restore(saved["policy"])
            remaining = _run_rounds(plan, program, graph, active, policy, backend, result, advance, keeper)
    unfinished = remaining and result.iterations != program.rounds
    if keeper is not None:
        keeper.save() if unfinished else keeper.finish()
    result.values = program.finish(result.values)
    if unfinished:
        message = _not_converged(program, plan.limit, result.residual, remaining)
        raise NotConvergedError(message, result, result.residual)
    result.converged = True
    return result


def _run_rounds(
    plan: Plan,
    program: Program,
    graph: Graph,
    active: Frontier,
    policy: DirectionPolicy,
    backend: str,
    result: Run,
    advance: Advance,
    keeper: Keeper | None,
) -> int:
    """TENSORIZE and COMPUTE until nothing is active, the tolerance is met, or the rounds or the limit are reached.
    With a width, in the order of buckets. Returns how many vertices are active still."""
    scratch, watch = Scratch(graph.num_vertices), plan.watch
    order = None if plan.width is None else NearFar(plan.width, result.values.dtype, scratch)
    if order is not None:
        active = order.next(result.values, active)
    safe = 0  # so many rounds need no look at the integers that they send
    while len(active) and result.iterations not in (program.rounds, plan.limit):
        if watch is not None:
            safe = (safe or watch.rounds(result.values, active)) - 1
        before = result.values
        devices.end_round(graph.device)
        changed = _iterate(program, graph, active, policy.choose(active), result, backend, scratch)
        advance(1, len(changed))
        if active.is_everything and _meets_tolerance(program, before, result):
            return 0
        active = changed if order is None else order.next(result.values, changed)
        if keeper is not None:
            keeper.offer(partial(_state, program, result, active, order, policy))
    return len(active)


def _iterate(
    program: Program, graph: Graph, active: Frontier, direction: Mode, result: Run, backend: str, scratch: Scratch
) -> Frontier:
    """TENSORIZE and COMPUTE once; returns the frontier that COMPUTE gave."""
    if result.trace is None:
        return _step(program, graph, active, direction, result, backend, scratch)[1]
    with watched() as choices:
        start = result.trace.clock()
        sub, changed = _step(program, graph, active, direction, result, backend, scratch)
        result.trace.add(sub.mode, active, changed, start, choices)
    return changed


def _step(
    program: Program, graph: Graph, active: Frontier, direction: Mode, result: Run, backend: str, scratch: Scratch
) -> tuple[Subgraph, Frontier]:
    sub = program.tensorize(graph, active, direction)
    sub.backend, sub.scratch = backend, scratch
    result.values, changed = _checked(program, graph, program.compute(sub, result.values, active))
    result.iterations += 1
    return sub, changed


def _run_loop(
    plan: Plan,
    choice: Choice,
    program: Relaxation,
    graph: Graph,
    active: Frontier,
    mode: str,
    result: Run,
    advance: Advance,
    keeper: Keeper | None,
) -> int:
    """The same in the loop of a backend, which comes back now and then. Returns how many vertices are active still."""
    result.values, watch = result.values.contiguous(), plan.watch
    most = planning.fewest(plan.limit, program.rounds)
    loop = compiled_loop.begin(choice, program, graph, result.values, active, mode, plan.width, plan.best, plan.growth)
    kept = keeper is not None or watch is not None
    begun = result.values.clone() if kept and not hasattr(loop, "frontier") else None

    unsettled = partial(compiled_loop.unsettled, loop, graph, active, begun, result.values)
    safe = None if watch is None else lambda: watch.rounds(result.values, unsettled())
    for count in compiled_loop.advance(loop, None if most is None else most - result.iterations, safe):
        result.iterations += count
        if result.trace is not None:
            result.trace.add_rounds(loop.rounds(), choice)
        advance(count, loop.active)
        if keeper is not None:
            keeper.offer(lambda: _state(program, result, unsettled()))
    return loop.active


def _state(
    program: Program, result: Run, active: Frontier, order: NearFar | None = None, policy: DirectionPolicy | None = None
) -> dict[str, Any]:
    """What a checkpoint keeps of a run between two iterations."""
    return {
        "values": result.values,
        "frontier": (active if order is None else order.with_far(active)).forms(),
        "iterations": result.iterations,
        "residual": result.residual,
        "program": program.state(),
        "policy": None if policy is None else policy.state(),
    }


def _restored(program: Program, graph: Graph, result: Run, saved: dict[str, Any]) -> tuple[Any, Frontier]:
    """The vertex data and the frontier of a state that was kept, which are taken out of it, so that they last no longer
    than they are used; the rest goes to the result and the program."""
    result.values, result.iterations, result.residual = saved.pop("values"), saved["iterations"], saved["residual"]
    program.restore(saved.pop("program"))
    return result.values, Frontier(graph, **saved.pop("frontier"))


def _first(program: Program, graph: Graph) -> tuple[Any, Frontier]:
    if not isinstance(program, Program):
        raise ArgumentError(f"program: expected an instance of a Program, got {program!r}; write {program!r}(...)")
    if not isinstance(graph, Graph):
        raise ArgumentError(f"graph: expected a tgraph.Graph, got {type(graph).__name__}; see Graph.from_*")
    values, active = _checked(program, graph, program.init(graph), "init")
    for name, data in _tensors(values):
        if data.shape[:1] != (graph.num_vertices,):
            raise ArgumentError(
                f"{type(program).__name__}.init: {name} has shape {list(data.shape)}; vertex data has one row per "
                f"vertex, [{graph.num_vertices}, ...]"
            )
        if data.device != graph.device:
            raise ArgumentError(
                f"{type(program).__name__}.init: {name} is on {data.device}, the graph on {graph.device}; "
                "make it with device=graph.device"
            )
    return values, active


def _checked(program: Program, graph: Graph, result: Any, step: str = "compute") -> tuple[Any, Frontier]:
    """The pair of vertex data and frontier that `init` and `compute` must return."""
    if not (isinstance(result, tuple) and len(result) == 2 and isinstance(result[1], Frontier)):
        raise ArgumentError(
            f"{type(program).__name__}.{step}: must return (vertex data, Frontier); graph.select(...), "
            "graph.everything() and tg.update make frontiers"
        )
    if result[1].graph.num_vertices != graph.num_vertices:
        raise ArgumentError(f"{type(program).__name__}.{step}: the frontier belongs to another graph")
    return result


def _tensors(values: Any) -> Iterator[tuple[str, Tensor]]:
    if isinstance(values, Tensor):
        yield "the vertex data", values
    elif isinstance(values, dict):
        for name, data in values.items():
            yield f"vertex data {name!r}", data
    else:
        raise ArgumentError(f"init: vertex data is a tensor or a dict of tensors, got {type(values).__name__}")


def _settles(program: Program) -> bool:
    """True for hop counts, where the first value to reach a vertex is its last."""
    return isinstance(program, Relaxation) and program.edge == "add" and isinstance(program.weight, (int, float))


def _meets_tolerance(program: Program, before: Any, run: Run) -> bool:
    residual = program.residual(before, run.values)
    if residual is None:
        return False
    run.residual = float(residual)
    return program.tolerance is not None and run.residual <= program.tolerance


def _not_converged(program: Program, limit: int | None, residual: float | None, active: int) -> str:
    name = type(program).__name__
    if isinstance(program, Relaxation) and program.max_iterations is None and residual is None:
        hint = "a cycle may improve without end (a negative one for a min); else raise max_iterations"
    else:
        hint = "raise max_iterations" + (" or the tolerance" if residual is not None else "")
    state = f"residual {residual:.3g}" if residual is not None else f"{active:,} vertices still active"
    return f"{name} has not converged after {limit} iterations ({state}); {hint}"


def _recording(graph: Graph, trace: Trace | None) -> AbstractContextManager[None]:
    """What a graph reads from outside of memory goes to the trace."""
    return nullcontext() if trace is None or graph.layout is None else _visits(graph.layout, trace)


@contextmanager
def _visits(layout: Layout, trace: Trace) -> Iterator[None]:
    with layout.recording() as trace.visits:
        yield


def _bar(show: bool, program: Program, graph: Graph, done: int) -> AbstractContextManager[Advance]:
    """A function to call after each iteration, which counts it on a tqdm bar; for a graph that streams with what was
    read in it."""
    return _shown_bar(program, graph, done) if show else nullcontext(lambda steps, active: None)


@contextmanager
def _shown_bar(program: Program, graph: Graph, done: int) -> Iterator[Advance]:
    from tqdm import tqdm

    counts = getattr(graph.layout, "counts", None)
    with tqdm(desc=type(program).__name__, unit=" iterations", initial=done) as bar:

        def advance(steps: int, active: int) -> None:
            nonlocal counts
            read = ""
            if counts is not None:
                before, counts = counts, graph.layout.counts  # type: ignore[union-attr]
                read = f", {counts.since(before)}"
            bar.set_postfix_str(f"{active:,} active{read}", refresh=False)
            bar.update(steps)

        yield advance
