"""What an operation asks of a backend."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from tgraph.graph import Graph
from tgraph.kernels.messages import is_per_arc
from tgraph.kernels.reductions import Reduction


@dataclass(frozen=True)
class Call:
    """One call, as a backend needs to know it to say whether it serves it.

    operation : the name of the function asked for, "aggregate" or another of the backends' functions.
    data : the vertex data [n, ...], or another tensor that says device and dtype.
    graph : the graph, where the form of its tensors matters.
    reduction, edge, weights, dtype : what `aggregate` and `relax` are given, where the operation has them.
    others : further tensors that the result depends on.
    """

    operation: str
    data: Tensor
    reduction: Reduction | None = None
    edge: str = "copy"
    weights: Tensor | float | None = None
    graph: Graph | None = None
    others: tuple[Tensor, ...] = ()
    dtype: torch.dtype | None = None

    @property
    def needs_gradient(self) -> bool:
        """True where the backend has to record what it computes for a backward pass. Of an `aggregate` the operators
        in `kernels.operator` do that, whoever computes it."""
        return self.operation != "aggregate" and self._is_recorded

    @property
    def by_message(self) -> str | None:
        """What makes the gradient of an `aggregate` differ from message to message otherwise than by a factor, or
        None: the fused operators have no gradient of it."""
        if self.operation != "aggregate" or self.reduction is None or not self._is_recorded:
            return None
        if self.reduction.name == "prod":
            return "a product"
        return f"edge={self.edge!r}" if self.edge in ("min", "max") and is_per_arc(self.weights) else None

    @property
    def _is_recorded(self) -> bool:
        tensors = (self.data, self.weights, *self.others)
        return torch.is_grad_enabled() and any(isinstance(t, Tensor) and t.requires_grad for t in tensors)
