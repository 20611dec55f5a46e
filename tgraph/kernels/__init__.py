"""Which backend computes an operator that layouts, gradients and measured choices concern, and why.

These are declared by `tgraph.core.dispatch.chosen_operator`, and have the same signature in every backend:

    aggregate(sub, data, reduction, edge, weights, dtype=None) -> Received
    relax(sub, values, reduction, edge, weights, bound) -> Frontier      bound() is called only where it is of use
    push_rows, products, argreduce           what gradients need, as in `operators.aggregation.adjoints`
    affine_step, gauss_seidel_step, attend, attend_backward, attention_weights, join, outside, rounds
    fixpoint(call) -> Loop                   the whole loop of a relaxation (`kernels.loops`); optional

`choose` is given a `Call`, the arguments on which the choice depends, and gives the function of a backend. An
`aggregate` records no gradient: the operators in `kernels.autograd.pull_push` call it with tensors that need none,
and compute gradients by further calls. Only the portable one is also called directly under transforms of torch.func,
and where a gradient is computed message by message.

"auto" takes the first backend of `BACKENDS` (best first) that offers the operator and supports the call, unless
`tgraph.tune` measured that another one is faster. A backend may have

    unavailable() -> str | None     why it can serve no call in this process, and how to get it
    yields(call) -> str | None      why "auto" passes it over although it supports the call
    is_ordered(call) -> bool        False where its sums change from run to run, so that `tgraph.tune` passes it over

The portable backend offers all operators that are not optional, and supports every call. The one called "layout" serves
graphs whose arcs are in a layout of their own (`tgraph.formats`); for the others these are decoded. The backends
register what they implement when this module imports them.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from tgraph.core.dispatch import (
    BACKENDS,
    LAYOUT,
    PORTABLE,
    Backend,
    Choice,
    Implementation,
    check_backend,
    is_watched,
    noted,
    watched,
)
from tgraph.core.system.library import in_functorch
from tgraph.errors import ArgumentError
from tgraph.kernels import cuda, layout, native, torch_scatter, torch_sparse, tuned  # noqa: F401  they register
from tgraph.kernels.call import Call
from tgraph.kernels.operators.relaxation import rounds  # noqa: F401

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
    "watched",
]


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
    if chosen is not None and refusal(chosen, call) is None and chosen.is_ordered(call):
        return noted(Choice(call.operation, chosen, call, tuned=True))
    choice = by_rule(call, refused)
    return choice if choice.backend is None else noted(choice)


def by_rule(call: Call, refused: Mapping[str, str] = MappingProxyType({})) -> Choice:
    """The choice of "auto" without measurements: the first backend that supports the call and does not yield."""
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
    if call.operation == "aggregate" and backend is not PORTABLE:
        if in_functorch():
            return "it has no rule for torch.func transforms and forward-mode gradients"
        if call.materialises_messages:
            return f"it has no gradient of {call.materialises_messages}"
    return offered.refuses(call)
