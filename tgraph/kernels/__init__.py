"""The registry: which backend serves a call, and why.

A backend is a module with a `name`, a function

    refuses(call) -> str | None     why it cannot serve the call, None where it can
    unavailable() -> str | None     optional: why it can serve no call in this process, and how to get it

and the operations it offers, which have the same signature in every backend:

    aggregate(sub, data, reduction, edge, weights, dtype=None) -> Received
    relax(sub, values, reduction, edge, weights, bound) -> Frontier      bound() is asked for only where it serves
    fixpoint(graph, values, active, ...) -> an object with `advance`     optional: a relaxation's whole loop

    push_rows, products, winners          optional: what gradients take, as in `portable.adjoints`

An `aggregate` records no gradient: the operators in `kernels.operator` call it with tensors that need none, and give
its gradients by further calls. Only the portable one is also called by itself under transforms of torch.func, and
where a gradient is taken message by message.

`BACKENDS` lists them best first; "auto" takes the first that offers the operation and does not refuse the call. The
portable backend offers all that is not optional and refuses nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from tgraph.errors import ArgumentError
from tgraph.kernels import native, portable
from tgraph.kernels.call import Call
from tgraph.kernels.library import transformed

BACKENDS: dict[str, ModuleType] = {native.name: native, portable.name: portable}


@dataclass(frozen=True)
class Choice:
    """The backend that serves a call, and why those that stand before it do not: {name: reason}."""

    backend: ModuleType | None
    call: Call
    refused: dict[str, str] = field(default_factory=dict)

    @property
    def run(self) -> Any:
        """The backend's function for the operation of the call."""
        return getattr(self.backend, self.call.operation)

    def __str__(self) -> str:
        name = "no backend" if self.backend is None else self.backend.name
        because = "; ".join(f"{other} does not: {reason}" for other, reason in self.refused.items())
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
    refused: dict[str, str] = {}
    for backend in BACKENDS.values() if name == "auto" else (BACKENDS[name],):
        reason = _refusal(backend, call)
        if reason is None:
            return _noted(Choice(backend, call, refused))
        refused[backend.name] = reason
    return Choice(None, call, refused)


@contextmanager
def watched() -> Iterator[list[Choice]]:
    """The choices made in a `with` block, in order, for whoever asks which backend served it."""
    seen: list[Choice] = []
    _watchers.append(seen)
    try:
        yield seen
    finally:
        _watchers.pop()


_watchers: list[list[Choice]] = []


def _noted(choice: Choice) -> Choice:
    for seen in _watchers:
        seen.append(choice)
    return choice


def _refusal(backend: ModuleType, call: Call) -> str | None:
    if not hasattr(backend, call.operation):
        return f"it has no {call.operation}"
    if call.operation == "aggregate" and backend is not portable:
        if transformed():
            return "it has no rule for torch.func transforms and forward-mode gradients"
        if call.by_message:
            return f"it has no gradient of {call.by_message}"
    return backend.refuses(call)


def check_backend(name: str) -> None:
    """Raise ArgumentError for the name of no backend."""
    if name != "auto" and name not in BACKENDS:
        raise ArgumentError(f"backend: {name!r} is not one of 'auto', {', '.join(map(repr, BACKENDS))}")
