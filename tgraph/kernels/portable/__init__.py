"""The portable backend: torch operators only, any device, any dtype, differentiable. The reference for all others."""

from __future__ import annotations

from tgraph.kernels.call import Call
from tgraph.kernels.portable.aggregation import aggregate
from tgraph.kernels.portable.joining import join, outside
from tgraph.kernels.portable.linear import affine_step
from tgraph.kernels.portable.relaxation import relax
from tgraph.kernels.portable.sweeping import levels, sweep

__all__ = ["affine_step", "aggregate", "join", "levels", "name", "outside", "refuses", "relax", "sweep"]

name = "portable"


def refuses(call: Call) -> str | None:
    """The portable backend serves everything."""
    return None
