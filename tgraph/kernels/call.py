"""What an operation asks of a backend."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.core.subgraph import Subgraph
from tgraph.kernels.messages import is_per_arc
from tgraph.kernels.reductions import Reduction


@dataclass(slots=True, eq=False)
class Call:
    """One call, as a backend needs to know it to say whether it serves it.

    operation : the name of the function asked for, "aggregate" or another of the backends' functions.
    data : the vertex data [n, ...], or another tensor that says device and dtype.
    graph : the graph, where the form of its tensors matters.
    reduction, edge, weights, dtype : what `aggregate` and `relax` are given, where the operation has them.
    sub : the arcs that the operation is given.
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
    sub: Subgraph | None = None

    @property
    def weights_in_layout(self) -> bool:
        """True where the weights are the graph's own, and still in its layout."""
        return self.edge != "copy" and self.weights is None

    def decoded(self) -> Call:
        """The same call with the weights of the arcs held, wherever they lay."""
        if not self.weights_in_layout or self.sub is None:
            return self
        return replace(self, weights=self.sub.weights())

    @property
    def needs_gradient(self) -> bool:
        """True where the backend has to record what it computes for a backward pass. Of an `aggregate` the operators
        in `kernels.autograd.pull_push` do that for every backend."""
        return self.operation != "aggregate" and self._is_recorded

    @property
    def materialises_messages(self) -> str | None:
        """What makes the gradient of an `aggregate` differ from message to message otherwise than by a factor, or
        None: the fused operators have no gradient of it."""
        if self.operation != "aggregate" or self.reduction is None or not self._is_recorded:
            return None
        if self.reduction.name == "prod":
            return "a product"
        return f"edge={self.edge!r}" if self.edge in ("min", "max") and is_per_arc(self.weights) else None

    @property
    def _is_recorded(self) -> bool:
        if not torch.is_grad_enabled():
            return False
        if self.data.requires_grad or (isinstance(self.weights, Tensor) and self.weights.requires_grad):
            return True
        return any(tensor.requires_grad for tensor in self.others)


def not_plain(call: Call) -> str | None:
    """Why a backend of eager operators on plain tensors cannot serve a call, None where that is no obstacle."""
    if torch.compiler.is_compiling():
        return "torch.compile cannot look into it"
    if torch._C._are_functorch_transforms_active() or torch.autograd.forward_ad._current_level >= 0:
        return "it has no rule for torch.func transforms and forward-mode gradients"
    if any(isinstance(t, Tensor) and type(t) not in (Tensor, torch.nn.Parameter) for t in (call.data, call.weights)):
        return "it needs plain tensors, not a subclass"
    return None
