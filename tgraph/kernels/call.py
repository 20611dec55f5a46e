"""What an operation asks of a backend."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from tgraph.kernels.reductions import Reduction


@dataclass(frozen=True)
class Call:
    """One call, as a backend needs to know it to say whether it serves it.

    operation : the name of the function asked for, "aggregate" or another of the backends' functions.
    data : the vertex data [n, ...], or another tensor that says device and dtype.
    reduction, edge, weights, dtype : what `aggregate` and `relax` are given, where the operation has them.
    """

    operation: str
    data: Tensor
    reduction: Reduction | None = None
    edge: str = "copy"
    weights: Tensor | float | None = None
    dtype: torch.dtype | None = None

    @property
    def needs_gradient(self) -> bool:
        """True where what is computed will be differentiated."""
        tensors = (self.data, self.weights)
        return torch.is_grad_enabled() and any(isinstance(t, Tensor) and t.requires_grad for t in tensors)
