"""Which tensors the compiled kernels take, and whether there are kernels."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.system import native
from tgraph.core.system.library import is_plain

_PLAIN = (Tensor, torch.nn.Parameter)


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
