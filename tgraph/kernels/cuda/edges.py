"""Products at the ends of edges by the kernel in `sddmm.cu`: nothing of the size of the arcs but the result."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.kernels.call import Call
from tgraph.kernels.cuda import sddmm
from tgraph.kernels.cuda.frontier import Rows
from tgraph.kernels.portable.edges import Sides


def refuses(call: Call) -> str | None:
    """Why a call is left to the portable operators, None where it is not; its `edge` is the operation."""
    if call.edge != "dot":
        return f"torch's own operators serve {call.edge!r}"
    if type(call.data) not in (Tensor, torch.nn.Parameter):
        return "it needs plain tensors, not a subclass"
    return None if call.data.dtype in sddmm.FLOATS else f"it has no kernel for products of {call.data.dtype}"


def apply_at_ends(source: Tensor, target: Tensor, sides: Sides, operation: str, heads: int) -> Tensor:
    """As the portable twin, of "dot" alone. 16-bit numbers are multiplied and added in float32."""
    rows = Rows(sides.offset, sides.neighbors, None, sides.offset, len(sides.neighbors))
    return sides.of_edges(sddmm.products(rows, None, target, source, heads))
