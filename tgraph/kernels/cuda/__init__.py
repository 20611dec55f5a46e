"""The CUDA backend: kernels in CUDA C++ beside this file, which are compiled for the present GPU at first use."""

from __future__ import annotations

from collections.abc import Callable

import torch

from tgraph.kernels.call import Call
from tgraph.kernels.cuda import aggregation, runtime
from tgraph.kernels.cuda.aggregation import aggregate

__all__ = ["aggregate", "name", "refuses"]

name = "cuda"


def refuses(call: Call) -> str | None:
    """Why a call is not served: the reason that holds for all operations, then that of the operation itself."""
    if call.data.device.type != "cuda":
        return f"it computes on a CUDA device, the data is on {call.data.device}"
    if torch.compiler.is_compiling():
        return "torch.compile cannot look into it"
    return runtime.unavailable() or _REFUSALS[call.operation](call)


# Each operation that the backend offers, and the function that tells which of its calls it refuses.
_REFUSALS: dict[str, Callable[[Call], str | None]] = {
    "aggregate": aggregation.refuses,
}
