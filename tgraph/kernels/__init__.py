"""The registry: which backend serves a call, and why.

A backend is a module with a `name`, a function

    refuses(call) -> str | None     why it cannot serve the call, None where it can

and the operations it offers, which have the same signature in every backend:

    aggregate(sub, data, reduction, edge, weights) -> Received
    relax(sub, values, reduction, edge, weights, bound) -> Frontier      bound() is asked for only where it serves

`BACKENDS` lists them best first; "auto" takes the first that offers the operation and does not refuse the call. The
portable backend offers everything and refuses nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from tgraph.errors import ArgumentError
from tgraph.kernels import native, portable
from tgraph.kernels.call import Call

BACKENDS: dict[str, ModuleType] = {native.name: native, portable.name: portable}


@dataclass(frozen=True)
class Choice:
    """The backend that serves a call, and why those that stand before it do not: {name: reason}."""

    backend: ModuleType
    call: Call
    refused: dict[str, str] = field(default_factory=dict)

    @property
    def run(self) -> Any:
        """The backend's function for the operation of the call."""
        return getattr(self.backend, self.call.operation)

    def __str__(self) -> str:
        name = self.backend.name
        because = "; ".join(f"{other} does not: {reason}" for other, reason in self.refused.items())
        return f"{self.call.operation}: {name} serves it" + (f" ({because})" if because else "")


def choose(name: str, call: Call) -> Choice:
    """The backend of that name, or for "auto" the best that serves the call.

    Raises ArgumentError for an unknown backend, or one that refuses, with its reason.
    """
    check_backend(name)
    refused: dict[str, str] = {}
    for backend in BACKENDS.values() if name == "auto" else (BACKENDS[name],):
        reason = _refusal(backend, call)
        if reason is None:
            return Choice(backend, call, refused)
        refused[backend.name] = reason
    raise ArgumentError(
        f"backend: {name!r} does not serve {call.operation} of {call.data.dtype} on {call.data.device}: "
        f"{refused[name]}; use backend='auto'"
    )


def _refusal(backend: ModuleType, call: Call) -> str | None:
    if not hasattr(backend, call.operation):
        return f"it has no {call.operation}"
    return backend.refuses(call)


def check_backend(name: str) -> None:
    """Raise ArgumentError for the name of no backend."""
    if name != "auto" and name not in BACKENDS:
        raise ArgumentError(f"backend: {name!r} is not one of 'auto', {', '.join(map(repr, BACKENDS))}")
