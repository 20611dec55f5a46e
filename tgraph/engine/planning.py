"""The plan of a run, made before its first round. The plan of a relaxation follows from its declaration: it is cached
with the graph for later runs."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import Any, cast

import torch
from torch import Tensor

from tgraph.core.building.inputs import as_count
from tgraph.core.csr import Csr
from tgraph.core.dispatch import LAYOUT, watchers
from tgraph.core.frontier import Frontier
from tgraph.core.graph import Graph
from tgraph.core.system import devices, native
from tgraph.engine import compiled_loop, overflow
from tgraph.engine.delta_stepping import check_delta
from tgraph.engine.plan import Plan
from tgraph.errors import ArgumentError
from tgraph.kernels.call import Call
from tgraph.model.program import Program, Relaxation

# Of the width that is chosen for rounds in torch: a bucket costs compiled loops no pass over the vertices, and from
# narrower ones less is relaxed again (half the width took a quarter to a half of the time off random graphs, a third
# another 9 to 15 % off uniform ones; grids and roads take as long).
COMPILED_WIDTH = 1 / 3

CACHED = 64  # plans of a graph: a program with another weight or limit in each run does not fill the memory


def plan(
    program: Program,
    graph: Graph,
    values: Any,
    active: Frontier,
    backend: str,
    mode: str,
    max_iterations: int | None,
) -> Plan:
    """The plan of a run from the initial values and frontier.

    Raises ArgumentError for invalid limits, weights and initial values.
    """
    limit = program.max_iterations if max_iterations is None else max_iterations
    if not isinstance(program, Relaxation):
        return Plan(_limit(program, graph, limit, ordered=False))
    key = _key(program, graph, values, backend, mode, limit)
    plans: dict[Hashable, Plan] = {} if key is None else graph._cache.values.get("plans", {})
    if (kept := plans.get(key)) is not None:
        if program.first is None:
            program.check_values(values)
        return _for(kept, graph, values)
    program.check(graph, values)
    made = _made(program, graph, values, active, backend, mode, limit)
    lasts = made.watch is None and made.loop is not None and _is_declared(type(program))
    if key is not None and lasts and len(plans) < CACHED and _is_made(graph):
        kept = _for(made, None, values[:0].clone())  # without the graph, which holds the cache
        kept = replace(kept, again=compiled_loop.again(made, program, graph, values, active, mode))
        plans = graph.kept("plans", dict)
        plans[key] = kept
    return made


def known(
    program: Program, graph: Graph, values: Any, backend: str, mode: str, max_iterations: int | None
) -> Plan | None:
    """The plan that an earlier run on this graph has left, where it begins loops in one call."""
    if not isinstance(program, Relaxation) or graph.layout is not None or "plans" not in graph._cache.values:
        return None
    graph.ensure_valid()
    limit = program.max_iterations if max_iterations is None else max_iterations
    plans: dict[Any, Plan] = graph.kept("plans", dict)
    plan = plans.get(_key(program, graph, values, backend, mode, limit))
    if plan is None or plan.again is None or not plan.again.fits():
        return None
    if program.first is None:
        program.check_values(values)
    return plan


def _key(program: Relaxation, graph: Graph, values: Any, backend: str, mode: str, limit: int | None) -> Hashable | None:
    """The cache key of a plan, or None where the plan does not follow from the declaration alone."""
    weight = program.weight
    if isinstance(weight, (Tensor, str)) or graph.layout is not None or not isinstance(values, Tensor):
        return None
    integers = not values.is_floating_point()
    if (integers and program.first is None) or watchers() or torch.compiler.is_compiling():
        return None
    kernels = native.ENVIRONMENT.get(native.VARIABLE)
    own = type(program), program.reduce, program.edge, type(weight), weight, program.delta, program.first
    ends = program.rounds, limit, program.tolerance
    return own, ends, backend, mode, values.dtype, values.dim(), values.requires_grad, kernels


def _is_declared(kind: type[Relaxation]) -> bool:
    """Whether a class of programs inherits all methods that a plan depends on."""
    methods = ("check", "weight_range", "best_weight", "bucket_width")
    return all(getattr(kind, method) is getattr(Relaxation, method) for method in methods)


def _made(
    program: Relaxation, graph: Graph, values: Tensor, active: Frontier, backend: str, mode: str, limit: int | None
) -> Plan:
    in_rounds = mode == "pull" or limit is not None
    width = _bucket_width(program, graph, values)
    limit = _limit(program, graph, limit, ordered=width is not None)
    most = fewest(limit, program.rounds)
    watch = overflow.watch(program, graph, values, active, most)
    if watch is not None:
        width = None  # the buckets would have to fit as well
    loop = compiled_loop.find_loop(program, graph, values, active, backend, in_rounds or watch is not None)
    if loop is None or loop.backend is None:
        return Plan(limit, width, watch, loop)
    if loop.is_by(LAYOUT):
        return Plan(None, width, watch, loop)  # visits to blocks are not limited
    if width is not None and program.delta is None and loop.is_by("native"):
        width *= COMPILED_WIDTH
    best = compiled_loop.best_weight(program, graph) if watch is None else None
    return Plan(limit, width, watch, loop, best, overflow.growth(program, graph, most))


def _is_made(graph: Graph) -> bool:
    """Whether the rows of a graph in CSR are made: a plan then lasts."""
    return len(cast(Csr, graph.storage).pieces()) == 1


def _for(known: Plan, graph: Graph | None, values: Tensor) -> Plan:
    """The same plan for other values."""
    assert known.loop is not None
    choice, call = known.loop, known.loop.call
    call = Call(call.operation, values, call.reduction, call.edge, call.weights, graph)
    loop = replace(choice, call=call)
    return Plan(known.limit, known.width, known.watch, loop, known.best, known.growth)


def _bucket_width(program: Relaxation, graph: Graph, values: Tensor) -> float | None:
    """The width of the buckets, None for no order."""
    if (width := program.bucket_width(graph, values)) is None:
        return None
    check_delta(width)
    if program.reduce != "min" or program.edge != "add":
        raise ArgumentError(f"delta: buckets order a min of sums, not {program.reduce!r} with {program.edge!r}")
    if graph.num_arcs and not program.best_weight(graph) >= 0:
        raise ArgumentError("delta: buckets need weights that are not negative; set delta = None")
    if graph.layout is not None and graph.layout.is_distributed:
        return None  # the loop of the layout has buckets of its own
    return None if devices.compiles_each_shape(graph.device) else width  # the size of buckets varies


def _limit(program: Program, graph: Graph, limit: int | None, ordered: bool) -> int | None:
    for name, number in (("max_iterations", limit), ("rounds", program.rounds)):
        if number is not None:
            as_count(number, name)
    if program.tolerance is not None and not program.tolerance >= 0:
        raise ArgumentError(f"tolerance: must not be negative, got {program.tolerance}")
    if limit is None and isinstance(program, Relaxation) and not ordered:
        # A best path visits no vertex twice, except for a min of minima: it may detour to the least weight.
        return (2 if program.edge == program.reduce else 1) * graph.num_vertices + 1
    return limit


def fewest(*bounds: int | None) -> int | None:
    """The least of the bounds that are not None, None without any."""
    return min((bound for bound in bounds if bound is not None), default=None)
