"""The registry: which backend serves a call, and why.

A backend is a module with a `name`, a function

    refuses(call) -> str | None     why it cannot serve the call, None where it can
    unavailable() -> str | None     optional: why it can serve no call in this process, and how to get it

and the operations it offers, which have the same signature in every backend:

    aggregate(sub, data, reduction, edge, weights, dtype=None) -> Received
    relax(sub, values, reduction, edge, weights, bound) -> Frontier      bound() is asked for only where it serves
    fixpoint(graph, values, active, ...)  optional: a relaxation's whole loop, as an object with `advance`, `rounds`
                                          and `active`, which `tgraph.engine.compiled_loop` calls

    push_rows, products, winners          optional: what gradients take, as in `portable.adjoints`

An `aggregate` records no gradient: the operators in `kernels.autograd.pull_push` call it with tensors that need none,
and give its gradients by further calls. Only the portable one is also called by itself under transforms of torch.func,
and where a gradient is taken message by message.

`BACKENDS` lists them best first; "auto" takes the first that offers the operation and does not refuse the call, unless
`tgraph.tune` has found another to be faster. A backend may have a function

    yields(call) -> str | None      why "auto" passes it over although it would serve the call
    is_ordered(call) -> bool        False where its sums change from run to run, so that `tgraph.tune` passes it over

The portable backend offers all that is not optional, refuses nothing and never yields. The one called "layout" serves
graphs whose arcs are in a layout of their own (`tgraph.formats`); for the others these are decoded.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import torch

from tgraph.core.library import transformed
from tgraph.errors import ArgumentError
from tgraph.kernels import cuda, layouts, native, portable, torch_scatter, torch_sparse, tuned
from tgraph.kernels.call import Call

_BEST_FIRST = (layouts, native, cuda, torch_scatter, torch_sparse, portable)
BACKENDS: dict[str, ModuleType] = {backend.name: backend for backend in _BEST_FIRST}


@dataclass(slots=True, eq=False)
class Choice:
    """The backend that serves a call, and why those that stand before it do not: {name: reason}. `tuned` says that it
    serves because `tgraph.tune` chose it. The call has the weights that the backend is to be given."""

    backend: ModuleType | None
    call: Call
    refused: dict[str, str] = field(default_factory=dict)
    tuned: bool = False

    @property
    def run(self) -> Any:
        """The backend's function for the operation of the call."""
        return getattr(self.backend, self.call.operation)

    def __str__(self) -> str:
        name = "no backend" if self.backend is None else self.backend.name
        because = "; ".join(f"{other} does not: {reason}" for other, reason in self.refused.items())
        because = "tgraph.tune chose it" if self.tuned else because
        return f"{self.call.operation}: {name} serves it" + (f" ({because})" if because else "")


def choose(name: str, call: Call) -> Choice:
    """The backend of that name, or for "auto" the best that serves the call.

    Raises ArgumentError for an unknown backend, or one that refuses, with its reason.
    """
    choice = find(name, call)
    if choice.backend is None:
        reason = "; ".join(choice.refused.values())
        raise ArgumentError(
            f"backend: {name!r} does not serve {call.operation} of {call.data.dtype} on {call.data.device}: {reason}; "
            "use backend='auto'"
        )
    return choice


def find(name: str, call: Call) -> Choice:
    """As `choose`, with None for the backend where none serves the call."""
    check_backend(name)
    in_layout = call.sub is not None and call.sub.graph.layout is not None
    if name != "auto":
        call = call if name == layouts.name or not in_layout else call.decoded()
        reason = refusal(BACKENDS[name], call)
        return noted(Choice(BACKENDS[name], call)) if reason is None else Choice(None, call, {name: reason})
    chosen = None if in_layout else BACKENDS.get(tuned.choice(call) or "")
    if chosen is not None and refusal(chosen, call) is None:
        return noted(Choice(chosen, call, tuned=True))
    choice = by_rule(call)
    return choice if choice.backend is None else noted(choice)


def by_rule(call: Call) -> Choice:
    """What "auto" takes where nothing was measured: the first backend that serves the call and does not yield."""
    refused: dict[str, str] = {}
    for backend in BACKENDS.values():
        if backend is layouts:
            if call.sub is None or call.sub.graph.layout is None:
                continue
        elif call.weights_in_layout:
            call = call.decoded()
        reason = _yields(backend, call) or refusal(backend, call)
        if reason is None:
            return Choice(backend, call, refused)
        refused[backend.name] = reason
    return Choice(None, call, refused)


def _yields(backend: ModuleType, call: Call) -> str | None:
    yields = vars(backend).get("yields")  # half a microsecond less than to ask for what is missing
    return yields(call) if yields is not None and hasattr(backend, call.operation) else None


_watchers: ContextVar[tuple[list[Choice], ...]] = ContextVar("watchers", default=())


@contextmanager
def watched() -> Iterator[list[Choice]]:
    """The choices made in a `with` block, in order, for whoever asks which backend served it; by this thread alone."""
    seen: list[Choice] = []
    before = _watchers.set((*_watchers.get(), seen))
    try:
        yield seen
    finally:
        _watchers.reset(before)


def is_watched() -> bool:
    """True where somebody asks which backend serves a call; not under torch.compile, which traces no ContextVar."""
    return not torch.compiler.is_compiling() and bool(_watchers.get())


def noted(choice: Choice) -> Choice:
    """The choice, told to whoever watches: for one that is made use of again."""
    if is_watched():
        for seen in _watchers.get():
            seen.append(choice)
    return choice


def refusal(backend: ModuleType, call: Call) -> str | None:
    """Why a backend cannot serve a call, None where it can."""
    if not hasattr(backend, call.operation):
        return f"it has no {call.operation}"
    if call.operation == "aggregate" and backend is not portable:
        if transformed():
            return "it has no rule for torch.func transforms and forward-mode gradients"
        if call.by_message:
            return f"it has no gradient of {call.by_message}"
    return backend.refuses(call)


def is_ordered(backend: ModuleType, call: Call) -> bool:
    """True where a backend gives the same result on every run."""
    return not hasattr(backend, "is_ordered") or backend.is_ordered(call)


def check_backend(name: str) -> None:
    """Raise ArgumentError for the name of no backend."""
    if name != "auto" and name not in BACKENDS:
        raise ArgumentError(f"backend: {name!r} is not one of 'auto', {', '.join(map(repr, BACKENDS))}")
