"""The native backend: compiled kernels for the CPU, whose C++ lies beside this file."""

from __future__ import annotations

import torch

from tgraph import native
from tgraph.kernels.call import Call
from tgraph.kernels.native import aggregation
from tgraph.kernels.native.aggregation import aggregate

__all__ = ["aggregate", "name", "refuses"]

name = "native"


def refuses(call: Call) -> str | None:
    """Why a call is not served: the reason that holds for all operations, then that of the operation itself."""
    if call.data.device.type != "cpu":
        return f"it computes on the CPU, the data is on {call.data.device}"
    if torch.compiler.is_compiling():
        return "torch.compile cannot look into it"
    if native.load() is None:
        return "its kernels are not installed, or turned off by TGRAPH_NATIVE=0"
    return _REFUSALS[call.operation](call)


# Each operation that the backend offers, and the function that tells which of its calls it refuses.
_REFUSALS: dict = {
    "aggregate": aggregation.refuses,
}
