"""Which backend computes an operator on a graph, and why.

A backend is a module with a `name`, a function

    refuses(call) -> str | None     why it does not support the call, None where it does

and the operators that it offers, which it lists in `__all__` and which have the same signature in every backend:

    aggregate(sub, data, reduction, edge, weights, dtype=None) -> Received
    relax(sub, values, reduction, edge, weights, bound) -> Frontier      bound() is called only where it is of use
    fixpoint(graph, values, active, ...)  optional: the whole loop of a relaxation, as an object with `advance`,
                                          `rounds` and `active`, which `tgraph.engine.compiled_loop` calls

    push_rows, products, argreduce          optional: what gradients need, as in `operators.aggregation.adjoints`

An `aggregate` records no gradient: the operators in `kernels.autograd.pull_push` call it with tensors that need none,
and compute gradients by further calls. Only the portable one is also called directly under transforms of torch.func,
and where a gradient is computed message by message.

"auto" takes the first backend of `BACKENDS` (best first) that offers the operator and supports the call, unless
`tgraph.tune` measured that another one is faster. A backend may also have

    unavailable() -> str | None     why it can serve no call in this process, and how to get it
    yields(call) -> str | None      why "auto" passes it over although it supports the call
    is_ordered(call) -> bool        False where its sums change from run to run, so that `tgraph.tune` passes it over

The portable backend offers all operators that are not optional, and supports every call. The one called "layout" serves
graphs whose arcs are in a layout of their own (`tgraph.formats`); for the others these are decoded.

Operators on tensors, which take no `Call`, are a `tgraph.core.dispatch.Operator`; their native implementations are
registered here as well.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from types import MappingProxyType, ModuleType
from typing import Any

import torch

from tgraph.core.dispatch import (
    BACKENDS,
    LAYOUT,
    Backend,
    Choice,
    Implementation,
    check_first,
    guard_of,
    is_watched,
    noted,
    watched,
    watchers,
)
from tgraph.core.graph import Graph
from tgraph.core.system.library import in_functorch
from tgraph.core.system.native import ENVIRONMENT, VARIABLE
from tgraph.errors import ArgumentError
from tgraph.kernels import cuda, layout, native, portable, torch_scatter, torch_sparse, tuned
from tgraph.kernels.call import Call

__all__ = [
    "BACKENDS",
    "Backend",
    "Choice",
    "Implementation",
    "by_rule",
    "check_backend",
    "choose",
    "find",
    "is_watched",
    "noted",
    "refusal",
    "serving",
    "watched",
]

_OF_BACKENDS = ("unavailable", "yields", "is_ordered")


def _register(module: ModuleType) -> None:
    """Register what a backend offers."""
    backend = BACKENDS[module.name]
    for name in module.__all__:
        if name in _OF_BACKENDS:
            setattr(backend, name, getattr(module, name))
        elif name not in ("name", "refuses"):
            backend.offer(name, _guarded(name, getattr(module, name)), module.refuses)


def _guarded(name: str, run: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which checks the graphs that it is given; what is no function does so itself."""
    guard = None if isinstance(run, type) else guard_of(name, run)
    if guard is None:
        return run

    @functools.wraps(run)
    def checked(*arguments: Any, **named: Any) -> Any:
        guard(*arguments, **named)
        return run(*arguments, **named)

    @functools.wraps(run)
    def checked_first(first: Any, *others: Any, **named: Any) -> Any:
        first.ensure_valid()
        return run(first, *others, **named)

    return checked_first if guard is check_first else checked


for _module in (layout, native, cuda, torch_scatter, torch_sparse, portable):
    _register(_module)


def choose(name: str, call: Call, refused: Mapping[str, str] = MappingProxyType({})) -> Choice:
    """The backend of that name, or for "auto" the best that supports the call. `refused` are backends that were asked
    already, and why they do not.

    Raises ArgumentError for an unknown backend, or one that refuses, with its reason.
    """
    choice = find(name, call, refused)
    if choice.backend is None:
        reason = "; ".join(choice.refused.values())
        raise ArgumentError(
            f"backend: {name!r} does not serve {call.operation} of {call.data.dtype} on {call.data.device}: {reason}; "
            "use backend='auto'"
        )
    return choice


_served: dict[tuple[Any, ...], Callable[..., Any]] = {}


def serving(name: str, operation: str, graph: Graph) -> Callable[..., Any]:
    """The function that `choose` gives for an operation on the arcs of a graph, where its device and the dtype of its
    neighbours decide: as nothing else does, the choice is remembered, which a call that ends within a microsecond gains
    from."""
    kind = operation, name, graph.device, graph.neighbors.dtype, ENVIRONMENT.get(VARIABLE)
    if watchers() or torch.compiler.is_compiling() or kind not in _served:
        run = choose(name, Call(operation, graph.neighbors)).run
        return run if torch.compiler.is_compiling() else _served.setdefault(kind, run)
    return _served[kind]


def find(name: str, call: Call, refused: Mapping[str, str] = MappingProxyType({})) -> Choice:
    """As `choose`, with None for the backend where none supports the call."""
    if name == "auto" and call.sub is None:
        choice = by_rule(call, refused)  # only what has arcs may be in a layout, and is measured
        return choice if choice.backend is None else noted(choice)
    check_backend(name)
    in_layout = call.sub is not None and call.sub.graph.layout is not None
    if name != "auto":
        call = call if name == LAYOUT or not in_layout else call.decoded()
        reason = refusal(BACKENDS[name], call)
        if reason is None:
            return noted(Choice(call.operation, BACKENDS[name], call))
        return Choice(call.operation, None, call, {name: reason})
    chosen = None if in_layout else BACKENDS.get(tuned.choice(call) or "")
    if chosen is not None and refusal(chosen, call) is None:
        return noted(Choice(call.operation, chosen, call, tuned=True))
    choice = by_rule(call, refused)
    return choice if choice.backend is None else noted(choice)


def by_rule(call: Call, refused: Mapping[str, str] = MappingProxyType({})) -> Choice:
    """What "auto" takes where nothing was measured: the first backend that supports the call and does not yield."""
    refused = dict(refused) if refused else {}
    for name, backend in BACKENDS.items():
        if name in refused:
            continue
        if name == LAYOUT:
            if call.sub is None or call.sub.graph.layout is None:
                continue
        elif call.weights_in_layout:
            call = call.decoded()
        reason = _yields(backend, call) or refusal(backend, call)
        if reason is None:
            return Choice(call.operation, backend, call, refused)
        refused[name] = reason
    return Choice(call.operation, None, call, refused)


def _yields(backend: Backend, call: Call) -> str | None:
    return backend.yields(call) if backend.yields is not None and call.operation in backend.operators else None


def refusal(backend: Backend, call: Call) -> str | None:
    """Why a backend does not support a call, None where it does."""
    offered = backend.operators.get(call.operation)
    if offered is None:
        return f"it has no {call.operation}"
    if call.operation == "aggregate" and backend.name != portable.name:
        if in_functorch():
            return "it has no rule for torch.func transforms and forward-mode gradients"
        if call.materialises_messages:
            return f"it has no gradient of {call.materialises_messages}"
    return offered.refuses(call)


def check_backend(name: str) -> None:
    """Raise ArgumentError for the name of no backend."""
    if name != "auto" and name not in BACKENDS:
        raise ArgumentError(f"backend: {name!r} is not one of 'auto', {', '.join(map(repr, BACKENDS))}")
