"""The registry: which backend serves a call, and why.

A backend is a module or object with a `name` and three functions:

    refuses(device, dtype) -> str | None     why it cannot serve data of this kind, None where it can
    aggregate(sub, data, reduction, edge, weights) -> Received
    relax(sub, values, reduction, edge, weights, bound) -> Frontier      bound() is asked for only where it serves

`BACKENDS` lists them best first; "auto" takes the first that does not refuse. The portable backend refuses nothing.
"""

from __future__ import annotations

from types import ModuleType

import torch

from tgraph.errors import ArgumentError
from tgraph.kernels import portable

BACKENDS: dict[str, ModuleType] = {portable.name: portable}


def backend_for(name: str, device: torch.device, dtype: torch.dtype) -> ModuleType:
    """The backend of that name, or for "auto" the best that serves such data.

    Raises ArgumentError for an unknown backend, or one that refuses, with its reason.
    """
    check_backend(name)
    if name == "auto":
        return next(backend for backend in BACKENDS.values() if backend.refuses(device, dtype) is None)
    reason = BACKENDS[name].refuses(device, dtype)
    if reason is not None:
        raise ArgumentError(f"backend: {name!r} does not serve {dtype} on {device}: {reason}; use backend='auto'")
    return BACKENDS[name]


def check_backend(name: str) -> None:
    """Raise ArgumentError for the name of no backend."""
    if name != "auto" and name not in BACKENDS:
        raise ArgumentError(f"backend: {name!r} is not one of 'auto', {', '.join(map(repr, BACKENDS))}")
