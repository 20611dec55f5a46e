"""Which tensors the compiled kernels take, and whether there are kernels."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tgraph.core.building import memory
from tgraph.core.system import native
from tgraph.core.system.library import is_plain
from tgraph.kernels.call import Call

_PLAIN = (Tensor, torch.nn.Parameter)
_FEW = "its kernel is for graphs of fewer than 2^31 vertices"


def _are_common(arguments: tuple[Any, ...], named: dict[str, Any]) -> bool:
    kernels = native.load()  # at the first call that asks
    if kernels is None:
        return False
    memory.are_common = kernels.are_common
    return kernels.are_common(arguments, named)


memory.are_common = _are_common


def unavailable() -> str | None:
    """Why no call is served in this process at present, None where some are."""
    return None if native.load() is not None else "its kernels are not installed, or turned off by TGRAPH_NATIVE=0"


def refuses_tensors(*tensors: Tensor | None) -> str | None:
    """Why the kernels cannot be given the memory of these tensors, None where they can."""
    return unavailable() if is_plain(*tensors) else "it needs plain tensors of the CPU, not traced or transformed"


def refuses_data(tensor: Tensor) -> str | None:
    """The same for a tensor that no gradient, trace or transform goes through, such as the arcs of a graph."""
    if tensor.is_cpu and type(tensor) in _PLAIN:  # a fake tensor has no memory
        return unavailable()
    return "it needs a plain tensor of the CPU"


def refuses_wide(neighbors: Tensor) -> str | None:
    """Why kernels for neighbours in int32 cannot take these, None where they can."""
    return None if neighbors.dtype == torch.int32 else _FEW


def refuses_wide_rows(call: Call) -> str | None:
    """The same for a call whose data are the neighbours."""
    return refuses_wide(call.data)


def refuses_rows(offset: Tensor, neighbors: Tensor, *others: object, **named: object) -> str | None:
    """Why an operator on the rows of a graph, its first two arguments, does not serve them, None where it does."""
    return refuses_data(offset) or refuses_wide(neighbors)


def refuses_graph(call: Call) -> str | None:
    """The same for a call that tells its graph."""
    return None if call.graph is None else refuses_wide(call.graph.neighbors)
