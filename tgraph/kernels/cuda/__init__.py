"""The CUDA backend: kernels in CUDA C++ beside this file, which are compiled for the present GPU at first use."""

from __future__ import annotations

from collections.abc import Callable

from tgraph.core.dispatch import BACKENDS
from tgraph.kernels.call import Call
from tgraph.kernels.cuda import adjoints, aggregation, attention, linear, loop, relaxation, sell, union_find, wsb
from tgraph.kernels.cuda.adjoints import argreduce, products, push_rows
from tgraph.kernels.cuda.aggregation import aggregate
from tgraph.kernels.cuda.attention import attend, attend_backward, attention_weights
from tgraph.kernels.cuda.linear import affine_step
from tgraph.kernels.cuda.loop import Fixpoint as fixpoint
from tgraph.kernels.cuda.relaxation import relax
from tgraph.kernels.cuda.runtime import unavailable
from tgraph.kernels.cuda.union_find import join, outside

__all__ = [
    "affine_step",
    "aggregate",
    "argreduce",
    "attend",
    "attend_backward",
    "attention_weights",
    "fixpoint",
    "join",
    "name",
    "outside",
    "products",
    "push_rows",
    "refuses",
    "relax",
    "unavailable",
]

name = "cuda"


def refuses(call: Call) -> str | None:
    """Why a call is not served: the reason that holds for all operations, then that of the operation itself."""
    if call.data.device.type != "cuda":
        return f"it computes on a CUDA device, the data is on {call.data.device}"
    return unavailable() or _REFUSALS[call.operation](call)


# Each operation that the backend offers, and the function that tells which of its calls it refuses.
_REFUSALS: dict[str, Callable[[Call], str | None]] = {
    "affine_step": linear.refuses,
    "aggregate": aggregation.refuses,
    "attend": attention.refuses,
    "attend_backward": attention.refuses,
    "attention_weights": attention.refuses,
    "fixpoint": loop.refuses,
    "join": union_find.refuses,
    "outside": union_find.refuses,
    "products": adjoints.refuses,
    "push_rows": adjoints.refuses,
    "relax": relaxation.refuses,
    "argreduce": adjoints.refuses,
}

# Operators on tensors.
for _module in (sell, wsb):
    BACKENDS[name].operators.update(_module.OPERATORS)
