"""The CUDA backend: kernels in CUDA C++ beside this file, which are compiled for the present GPU at first use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tgraph.core.dispatch import BACKENDS
from tgraph.kernels.call import Call
from tgraph.kernels.cuda import adjoints, aggregation, attention, linear, loop, relaxation, sell, union_find, wsb  # noqa: F401  they register
from tgraph.kernels.cuda.runtime import unavailable
from tgraph.kernels.loops import fixpoint
from tgraph.kernels.operators import attention as declared
from tgraph.kernels.operators.aggregation.adjoints import argreduce, products, push_rows
from tgraph.kernels.operators.aggregation.aggregation import aggregate
from tgraph.kernels.operators.components.union_find import join, outside
from tgraph.kernels.operators.linear.linear import affine_step
from tgraph.kernels.operators.relaxation.relaxation import relax

name = "cuda"


def refuses_call(own: Callable[[Call], str | None]) -> Callable[[Call], str | None]:
    """Why a `Call` is not supported: the reasons that hold for all operators, then its `own`."""

    def refuses(call: Call) -> str | None:
        if call.data.device.type != "cuda":
            return f"it computes on a CUDA device, the data is on {call.data.device}"
        return unavailable() or own(call)

    return refuses


_IMPLEMENTED: list[tuple[Callable[..., Any], Callable[..., Any], Callable[[Call], str | None]]] = [
    (affine_step, linear.affine_step, linear.refuses),
    (aggregate, aggregation.aggregate, aggregation.refuses),
    (declared.attend, attention.attend, attention.refuses),
    (declared.attend_backward, attention.attend_backward, attention.refuses),
    (declared.attention_weights, attention.attention_weights, attention.refuses),
    (fixpoint, loop.Fixpoint, loop.refuses),
    (join, union_find.join, union_find.refuses),
    (outside, union_find.outside, union_find.refuses),
    (products, adjoints.products, adjoints.refuses),
    (push_rows, adjoints.push_rows, adjoints.refuses),
    (relax, relaxation.relax, relaxation.refuses),
    (argreduce, adjoints.argreduce, adjoints.refuses),
]

_CUDA = BACKENDS[name]
_CUDA.unavailable = unavailable
for _operator, _run, _refuses in _IMPLEMENTED:
    _CUDA.implements(_operator, refuses_call(_refuses))(_run)
