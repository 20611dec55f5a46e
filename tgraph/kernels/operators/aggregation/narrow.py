"""Sums of data in 16 bits, added up in float32."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.csr import Csr
from tgraph.core.dispatch import operator


@operator
def sum_narrow(arcs: Csr, data: Tensor, mean: bool) -> Tensor:
    """The sum, or mean, of the data [num_columns, k] of the arcs of each row, float32 [num_rows, k], without gradient.

    data : float16 or bfloat16.
    """
    arcs.ensure_valid()
    sent = data.index_select(0, arcs.neighbors).float()
    summed = torch.zeros(arcs.num_rows, data.shape[1], device=data.device).index_add_(0, arcs.row_of_arc(), sent)
    return summed * arcs.inverse_degree(torch.float32) if mean else summed
