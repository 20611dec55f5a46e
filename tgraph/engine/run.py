"""run(): the loop of TENSORIZE and COMPUTE (TGraph, SIGMOD 2025, Algorithm 1)."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, cast

import torch
from torch import Tensor

from tgraph.core.building.inputs import check_choice
from tgraph.core.direction import READ_PER_WRITE, DirectionPolicy, settles
from tgraph.core.frontier import Frontier
from tgraph.core.graph import Graph
from tgraph.core.subgraph import Mode, arc_weights, whole
from tgraph.core.system import devices
from tgraph.core.system.native import one_torch_thread
from tgraph.deferred import attach
from tgraph.engine import attained, compiled_loop, identity, ownership, planning
from tgraph.engine.by_rows import RowSteps
from tgraph.engine.checkpoint import Checkpoint, Keeper, keeper_of
from tgraph.engine.delta_stepping import NearFar
from tgraph.engine.fusion import Fused
from tgraph.engine.overflow import Watch
from tgraph.engine.progress import Advance, progress_bar
from tgraph.engine.recognition import Written, is_likely, recognised
from tgraph.engine.state import Run, State
from tgraph.engine.tracing.records import Conditions
from tgraph.engine.tracing.trace import Trace
from tgraph.errors import ArgumentError, NotConvergedError
from tgraph.files import PathLike
from tgraph.kernels import Choice, check_backend, watched
from tgraph.kernels.messages import is_per_arc
from tgraph.model import operators
from tgraph.model.program import Program, Relaxation
from tgraph.progress import is_wanted

# Moves a graph to a device and within a memory budget; set by `tgraph.stream`, a higher layer.
place: Callable[[Graph, str | int | None, torch.device | str | None], Graph] | None = None


def run(
    program: Program,
    graph: Graph,
    *,
    mode: str = "auto",
    backend: str = "auto",
    fuse: bool = True,
    trace: bool = False,
    progress: bool = False,
    max_iterations: int | None = None,
    device: torch.device | str | None = None,
    memory: str | int | None = None,
    checkpoint: Checkpoint | PathLike | None = None,
) -> Run:
    """Run a `program` on a graph until no vertex is active.

    mode : "push" (active vertices send along their out-arcs), "pull" (vertices read their in-arcs), or "auto",
        which chooses for each iteration by the work ahead. All three give the same values.
    backend : the kernels of the operators: "auto", or "native", "scatter", "sparse" or "portable"; a backend with
        `aggregate` alone supports a `Program` that calls nothing else.
    fuse : a Program whose `compute` is pure is read as an expression. A min or max and an `update` by the same run as
        the Relaxation that they are (`tgraph.engine.recognition`). A sum over all arcs and the element-wise operations
        around it become one pass over the arcs where the graph is large and compiled kernels support it
        (`tgraph.engine.fusion`), with sums in float64, and values unchanged up to rounding. All else is called as it is
        written; the trace says why (`conditions.computed`). False calls every `compute` as it is written.
    trace : record each iteration in a `Trace`.
    progress : show a progress bar on stderr; see `tgraph.progress` for the default.
    max_iterations : raise NotConvergedError, with the partial Run, after this number; by default the program's own
        limit, and for a Relaxation n + 1 (2n + 1 where reduce and edge are alike), exceeded only by a cycle that
        improves without end.
    device : where to run, by default where the graph is.
    memory : budget of the arcs and the data of the vertices there, such as "4GB" or bytes as an int. A larger graph is
        read block by block (`tgraph.stream`); see `tgraph.open` for a graph in a file. By default no limit.
    checkpoint : a file to save the state of the run to every half minute, between iterations, and to resume from if it
        exists; a `tgraph.Checkpoint` sets the interval. The result equals that of an uninterrupted run, bit for bit
        where runs are deterministic. The trace has the iterations since.

    With `memory` a Relaxation may visit blocks in an order of its own, until nothing is active: to count or limit its
    rounds, or to fix their direction, set `rounds`, `max_iterations` or mode="pull".
    Raises MemoryBudgetError where `memory` does not hold the data of the vertices; FileFormatError for a checkpoint
    that is damaged; ArgumentError for one of another run, and where `init` or `compute` return something else than
    vertex data and a Frontier.

    >>> graph = tg.Graph.from_edges([0, 0, 1], [1, 2, 2], [1.0, 5.0, 2.0])
    >>> run = tg.run(tg.algorithms.SSSP(0), graph)
    >>> run.values, run.converged
    (tensor([0., 1., 3.], dtype=torch.float64), True)
    """
    _check_program(program, graph)
    if mode != "auto":
        check_choice(mode, "mode", ("auto", "push", "pull"))
    if backend != "auto":
        check_backend(backend)
    if (recorded := attained.recorded_weights(program, graph)) is not None:
        given = {"mode": mode, "backend": backend, "fuse": fuse, "trace": trace, "progress": progress}
        given |= {"max_iterations": max_iterations, "device": device, "memory": memory, "checkpoint": checkpoint}
        return attained.run_recorded(run, cast(Relaxation, program), graph, recorded, **given)
    graph = placed(graph, memory, device)
    # Programs with operations of their own may need torch's threads.
    alone = program.one_torch_thread or (fuse and is_likely(program, graph))
    one_thread = one_torch_thread(backend) if alone else _NOTHING
    by_name = _NOTHING if backend == "auto" else _running_on(backend)
    together = _NOTHING
    if graph.layout is not None and graph.layout.is_distributed:
        options = {"mode": mode, "backend": backend, "fuse": fuse, "trace": trace, "max_iterations": max_iterations}
        together = _together(program, graph, options | {"checkpoint": checkpoint})
    with one_thread, by_name, together:
        shown = is_wanted(progress) and (graph.layout is None or graph.layout.is_main_rank)
        keeper = None if checkpoint is None else keeper_of(checkpoint, program, graph)
        watched = trace or shown or keeper is not None
        values, active = _first(program, graph)
        begun = None if watched else _again(program, graph, values, active, backend, mode, max_iterations)
        if isinstance(begun, int):
            return Run(program.finish(values), begun, True)
        state = begun or _begun(program, graph, values, active, mode, backend, fuse, trace, max_iterations, keeper)
        by_backend = state.policy is None
        showing = progress_bar(state, progress) if shown else _NOT_SHOWN
        remaining = None if watched or by_backend else _run_several(state)
        if remaining is None:
            if fuse and not by_backend and keeper is None:
                _fuse(state)
            with showing as advance, _NOTHING if state.trace is None else _recording(graph, state.trace):
                remaining = (_run_loop if by_backend else _run_rounds)(state, advance, keeper)
        unfinished = remaining and state.iterations != program.rounds
        if keeper is not None:
            keeper.save() if unfinished else keeper.finish()
        result = Run(program.finish(state.values), state.iterations, not unfinished, state.residual, state.trace)
    if unfinished:
        raise NotConvergedError(_not_converged(state, remaining, type(program).__name__), result, result.residual)
    return result


_NOTHING: AbstractContextManager[Any] = nullcontext()
_NOT_SHOWN: AbstractContextManager[Advance] = nullcontext(lambda steps, active: None)


def placed(graph: Graph, memory: str | int | None, device: torch.device | str | None) -> Graph:
    """The graph on a device and within a memory budget."""
    if device is None and memory is None:
        return graph
    if place is None:
        attach("run.place")
    assert place is not None, "tgraph.stream sets it"
    return place(graph, memory, device)


@contextmanager
def _running_on(backend: str) -> Iterator[None]:
    """A context in which aggregates over whole graphs are those of a backend."""
    token = operators.running_on.set(backend)
    try:
        yield
    finally:
        operators.running_on.reset(token)


def _together(program: Program, graph: Graph, options: dict[str, Any]) -> AbstractContextManager[None]:
    """A context: the processes of a spread graph run one program and fail together."""

    def hashed(tensor: Tensor) -> str:  # no process has all of a tensor spread over ranks
        return "spread over ranks" if type(tensor) is not Tensor else identity.hash_of(tensor)

    given = dict(identity.parameters(program, list(vars(program).values()), hashed))
    assert graph.layout is not None
    return graph.layout.together(given | {name: str(value) for name, value in options.items()})


def _again(
    program: Program,
    graph: Graph,
    values: Any,
    active: Frontier,
    backend: str,
    mode: str,
    max_iterations: int | None,
) -> int | State | None:
    """The number of rounds of a run that was planned by an earlier one and has ended at once, in the `values`; its
    state where it has not ended; None where it is to be planned."""
    plan = planning.known(program, graph, values, backend, mode, max_iterations)
    if plan is None or not values.is_contiguous():
        return None
    relaxation, limit = cast(Relaxation, program), planning.fewest(plan.limit, program.rounds)
    finished, rounds, loop = compiled_loop.begin_again(plan, relaxation, graph, values, active, limit)
    if finished:
        return rounds
    state = State(program, graph, backend, mode, plan, values, active, iterations=rounds)
    state.loop = loop
    return state


def _begun(
    program: Program,
    graph: Graph,
    values: Any,
    active: Frontier,
    mode: str,
    backend: str,
    fuse: bool,
    trace: bool,
    max_iterations: int | None,
    keeper: Keeper | None,
) -> State:
    """The state after INIT, or of a checkpoint."""
    name = type(program).__name__
    program = (recognised(program, graph, values, active, backend) if fuse else None) or program
    if graph.storage.is_distributed:
        program, graph = _with_own_weights(program, graph, values)
    if graph.layout is not None:
        values = graph.layout.spread_out(values)
        graph.layout.reserve(values, in_place=isinstance(program, Relaxation))
    saved = None if keeper is None else keeper.begin(values)
    plan = planning.plan(program, graph, values, active, backend, mode, max_iterations)
    state = State(program, graph, backend, mode, plan, values, active)
    state.trusts = ownership.makes_its_own(type(program).compute)
    if trace:
        state.trace = Trace(graph, name)
        has_loop = plan.loop is not None and plan.loop.backend is not None
        state.trace.conditions = Conditions(mode, backend, plan.width, has_loop)
        if isinstance(program, Written):
            state.trace.conditions.computed = f"as a Relaxation of {program.reduce!r} and {program.edge!r}"
    if saved is not None:
        state.restore(saved)
    if plan.loop is None or plan.loop.backend is None or not len(state.active):
        direction = "pull" if graph.layout is not None and graph.layout.is_distributed else mode
        reads = None if isinstance(program, Relaxation) else READ_PER_WRITE
        state.policy = DirectionPolicy(graph, direction, _settles(program, graph, state.values, state.active), reads)
        if saved is not None and saved["policy"] is not None:
            state.policy.restore(saved["policy"])
    return state


def _with_own_weights(program: Program, graph: Graph, values: Any) -> tuple[Program, Graph]:
    """A Relaxation that runs alike on a graph whose own weights are those that it gives to arcs."""
    if not isinstance(program, Relaxation) or program.edge == "copy" or not is_per_arc(program.weight_of(graph)):
        return program, graph
    weight, program = program.weight, copy.copy(program)
    if isinstance(weight, Tensor):
        arc_weights(whole(graph, graph.everything(), "push"), values, program.edge, weight)
        if weight.dim() > 1:
            raise ArgumentError(
                f"weight: a graph that is spread over ranks takes one number for each arc, got {list(weight.shape)}; "
                "run the program for each column"
            )
    program.weight = None
    return program, graph.weighted_by(weight)


def _run_several(state: State) -> int | None:
    """As `_run_rounds`, several rounds at a time; None where the program does not compute so."""
    program, graph, remaining = state.program, state.graph, len(state.active)
    kind: Any = type(program)
    if not ownership.gives_rounds(kind) or devices.compiles_each_shape(graph.device):
        return None
    while not state.is_done:
        if not state.active.is_everything:
            return None
        sub = program.tensorize(graph, state.active, "push" if state.mode == "push" else "pull")
        sub.backend, sub.scratch = state.backend, state.scratch
        found = program.compute_rounds(sub, state.values, state.left) if sub.is_whole else None
        if found is None:
            return None
        before, (state.values, rounds) = state.values, found
        _check_length(program, before, state.values)
        state.iterations += rounds
        if _meets_tolerance(state, before, None):
            return 0
    return remaining


def _run_rounds(state: State, advance: Advance, keeper: Keeper | None) -> int:
    """TENSORIZE and COMPUTE until nothing is active, the tolerance is met, or the rounds or the limit are reached.
    With a width, in the order of buckets. Returns the number of vertices still active."""
    plan = state.plan
    if plan.loop is not None and len(state.active) and state.trace is not None:
        state.trace.note(plan.loop)
    if plan.width is not None:
        state.order = NearFar(plan.width, state.values.dtype, state.scratch)
        state.active = state.order.next(state.values, state.active)
    checked, device = ownership.is_checked(state.program), state.graph.device
    compiles = devices.compiles_each_shape(device)
    safe = 0  # rounds without possible overflow
    while not state.is_done:
        if plan.watch is not None:
            safe = (safe or plan.watch.rounds(state.values, state.active)) - 1
        before, everything, versions = state.values, state.active.is_everything, None
        if checked and everything:
            before, versions = ownership.before_step(state.program, before)
        if compiles:
            devices.end_round(device)
        begun, changed = state.iterations, _iterate(state)
        advance(state.iterations - begun, len(changed))
        if everything and _meets_tolerance(state, before, versions):
            return 0
        state.active = changed if state.order is None else state.order.next(state.values, changed)
        if keeper is not None:
            keeper.offer(state.saved)
    return len(state.active)


def _iterate(state: State) -> Frontier:
    """TENSORIZE and COMPUTE once; returns the new frontier."""
    if state.trace is None:
        return _step(state)[1]
    with watched() as choices:
        start = state.trace.clock()
        mode, changed = _step(state)
        state.trace.add(mode, state.active, changed, start, choices)
    return changed


def _step(state: State) -> tuple[Mode, Frontier]:
    """TENSORIZE and COMPUTE once, or several times in one call; the direction and the new frontier."""
    program, graph, policy = state.program, state.graph, cast(DirectionPolicy, state.policy)
    mode = policy.choose(state.active)
    if state.by_rows is not None and state.by_rows.is_round(state.active, state.values, mode):
        state.values = state.values if state.is_own else _writable(state, "push")
        most = state.left if state.trace is None else 1
        changed, rounds = state.by_rows.rounds(state.values, state.active, mode, most, policy.most_pushed)
        state.iterations += rounds
        return mode, changed
    sub = program.tensorize(graph, state.active, mode)
    sub.backend, sub.scratch = state.backend, state.scratch
    before = state.values if state.trusts and state.is_own else _writable(state, sub.mode)
    computed = None
    for name in ("fused", "by_rows"):
        step = getattr(state, name)
        if computed is None and step is not None and step.supports(sub, state.values):
            try:
                computed = step.compute(sub, state.values, state.active)
            except Exception:  # COMPUTE itself raises the error
                setattr(state, name, None)
    if computed is None:
        computed = program.compute(sub, state.values, state.active)
    values, changed = _checked(program, graph, computed)
    _check_length(program, state.values, values)
    state.values = values
    state.is_own = state.is_own and (state.trusts or ownership.are_of(state.values, before))
    state.iterations += 1
    return sub.mode, changed


def _fuse(state: State) -> None:
    """Let rounds be computed by affine steps, or by rows, where COMPUTE is known to be one."""
    found: Fused | str = "by rows, while few vertices are active"
    if not state.active.is_everything:
        state.by_rows = RowSteps.of(state.program, state.graph, state.values, state.backend)
    if state.by_rows is None:
        found = Fused.of(state.program, state.graph, state.values, state.backend)
    if isinstance(found, Fused):
        state.fused, found = found, "by affine steps"
    if state.trace is not None and not isinstance(state.program, Relaxation):
        state.trace.conditions.computed = found


def _run_loop(state: State, advance: Advance, keeper: Keeper | None) -> int:
    """As `_run_rounds`, in the loop of a backend, which returns at intervals."""
    plan, watch, first = state.plan, state.plan.watch, state.active
    state.values = state.values.contiguous()
    relaxation = cast(Relaxation, state.program)
    loop = state.loop or compiled_loop.begin(plan, relaxation, state.graph, state.values, first, state.mode)
    compared = (keeper is not None or watch is not None) and not hasattr(loop, "frontier")
    begun = state.values.clone() if compared else None

    def rounds_that_fit() -> int:
        state.active = compiled_loop.frontier_of(loop, state.graph, first, begun, state.values)
        return cast(Watch, watch).rounds(state.values, state.active)

    def saved() -> dict[str, Any]:
        state.active = compiled_loop.frontier_of(loop, state.graph, first, begun, state.values)
        return state.saved()

    rounds = plan.limit if state.program.rounds is None else planning.fewest(plan.limit, state.program.rounds)
    left, active = None if rounds is None else rounds - state.iterations, None
    watching: AbstractContextManager[list[Choice]] = nullcontext([]) if state.trace is None else watched()
    with watching as choices:
        for count in compiled_loop.advance(loop, left, None if watch is None else rounds_that_fit):
            state.iterations += count
            if state.trace is not None:
                state.trace.add_rounds(loop.rounds(), [cast(Choice, plan.loop), *choices])
                choices.clear()
            active = loop.active
            advance(count, active)
            if keeper is not None:
                keeper.offer(saved)
    return loop.active if active is None else active


def _check_program(program: Program, graph: Graph) -> None:
    """Raise ArgumentError for other objects than a program and a graph, and for a tolerance that nothing meets."""
    if isinstance(program, Graph) and isinstance(graph, Program):
        raise ArgumentError("program, graph: the graph comes second, tg.run(program, graph)")
    if not isinstance(program, Program):
        kind = f"; write {program.__name__}(...)" if isinstance(program, type) and issubclass(program, Program) else ""
        raise ArgumentError(f"program: expected an instance of a Program, got {program!r}{kind}")
    if not isinstance(graph, Graph):
        raise ArgumentError(f"graph: expected a tgraph.Graph, got {type(graph).__name__}; see Graph.from_*")
    if program.tolerance is not None and getattr(program.residual, "__func__", None) is Program.residual:
        raise ArgumentError(
            f"{type(program).__name__}.tolerance: is compared with the residual, which the program does not have; "
            "write residual(self, before, after), or set tolerance = None"
        )


def _first(program: Program, graph: Graph) -> tuple[Any, Frontier]:
    with _NOTHING if graph.layout is None else graph.layout.spreading():
        begun = program.init(graph)
    values, active = _checked(program, graph, begun, "init")
    for name, data in (("the vertex data", values),) if type(values) is Tensor else _tensors(values):
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
    return values if ownership.makes_its_own(type(program).init) else ownership.copied(values), active


def _checked(program: Program, graph: Graph, result: Any, step: str = "compute") -> tuple[Any, Frontier]:
    """The `result` of `init` or `compute`, in which a mask [n] is a frontier. Raises ArgumentError unless it is (vertex
    data, Frontier)."""
    if (
        isinstance(result, tuple)
        and len(result) == 2
        and isinstance(result[1], Tensor)
        and result[1].dtype is torch.bool
    ):
        result = result[0], graph.select(result[1])
    if not (isinstance(result, tuple) and len(result) == 2 and isinstance(result[1], Frontier)):
        raise ArgumentError(
            f"{type(program).__name__}.{step}: must return (vertex data, Frontier); graph.select(...), "
            "graph.everything() and tg.update make frontiers, and a mask, bool [n], is one"
        )
    if result[1].graph.num_vertices != graph.num_vertices:
        raise ArgumentError(f"{type(program).__name__}.{step}: the frontier belongs to another graph")
    return result


def _check_length(program: Program, before: Any, after: Any) -> None:
    """Raise ArgumentError where COMPUTE returns a tensor of another length than the vertex data it was given."""
    if after is before:
        return
    if type(after) is Tensor and type(before) is Tensor:
        if after.shape[:1] != before.shape[:1]:
            raise ArgumentError(
                f"{type(program).__name__}.compute: returned vertex data of shape {list(after.shape)}; vertex data has "
                f"one row per vertex, [{before.shape[0]}, ...]"
            )
    elif isinstance(after, dict) and isinstance(before, dict):
        for name in after.keys() & before.keys():
            _check_length(program, before[name], after[name])


def _tensors(values: Any, name: str = "the vertex data") -> Iterator[tuple[str, Tensor]]:
    if isinstance(values, Tensor):
        yield name, values
    elif isinstance(values, dict):
        for key, data in values.items():
            yield from _tensors(data, f"vertex data {key!r}")
    else:
        raise ArgumentError(f"init: vertex data is a tensor or a dict of tensors, got {type(values).__name__}")


def _settles(program: Program, graph: Graph, values: Any, active: Frontier) -> bool:
    """Whether the first message to reach a vertex is its last."""
    if not isinstance(program, Relaxation):
        return False
    weight = program.weight_of(graph)
    weighted = graph.weight_dtype is not None if weight is None else is_per_arc(weight)
    return settles(values, active, program.edge != "copy" and weighted)


def _writable(state: State, mode: str) -> Any:
    """The vertex data before a step: copied where the step may write into tensors that a user's COMPUTE returned."""
    in_part = mode == "push" and not state.active.is_everything
    if not state.is_own and (in_part or isinstance(state.program, Relaxation)):
        state.values, state.is_own = ownership.copied(state.values), True
    return state.values if state.trusts else ownership.copied(state.values, lambda each: each)


def _meets_tolerance(state: State, before: Any, versions: ownership.Versions | None) -> bool:
    """Whether the residual is within the tolerance. With the `versions` of `before`, writes to values are checked."""
    noted: ownership.Versions = []
    if versions is not None:
        ownership.check_before(state.program, versions, state.values)
        noted = ownership.versions(state.values)
    if state.fused is not None:
        residual = state.fused.residual(before, state.values)
    else:
        residual = state.program.residual(before, state.values)
    if noted:
        ownership.check_after(state.program, noted)
    if residual is None:
        return False
    if isinstance(residual, Tensor) and residual.numel() != 1:
        raise ArgumentError(
            f"{type(state.program).__name__}.residual: expected one number, got a tensor {list(residual.shape)}; "
            "reduce it, as by .abs().sum() or .abs().max()"
        )
    state.residual = float(residual)
    return state.program.tolerance is not None and state.residual <= state.program.tolerance


def _not_converged(state: State, active: int, name: str) -> str:
    program, residual = state.program, state.residual
    if isinstance(program, Relaxation) and program.max_iterations is None and residual is None:
        hint = "a cycle may improve without end (a negative one for a min); else raise max_iterations"
    else:
        hint = "raise max_iterations" + (" or the tolerance" if residual is not None else "")
    left = f"residual {residual:.3g}" if residual is not None else f"{active:,} vertices still active"
    return f"{name} has not converged after {state.plan.limit} iterations ({left}); {hint}"


@contextmanager
def _recording(graph: Graph, trace: Trace | None) -> Iterator[None]:
    """A context in which block reads and exchanges between processes are added to the trace."""
    if trace is None:
        yield
        return
    before = graph.caches.keys()
    with nullcontext() if graph.layout is None else graph.layout.recording(trace):
        yield
    trace.conditions.transposed = "transpose" in graph.caches.keys() - before
