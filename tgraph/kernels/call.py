"""A call of an operator on a graph, as backends are asked whether they support it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.core.subgraph import InLayout, Subgraph, Weights
from tgraph.kernels.messages import is_per_arc
from tgraph.kernels.reductions import Reduction


@dataclass(slots=True, eq=False)
class Call:
    """The arguments of a call on which it depends whether a backend supports it.

    operation : the name of the operator, "aggregate" or another function of the backends.
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
    weights: Weights = None
    graph: Graph | None = None
    others: tuple[Tensor, ...] = ()
    dtype: torch.dtype | None = None
    sub: Subgraph | None = None

    @property
    def weights_in_layout(self) -> bool:
        """True where the weights are the graph's own, and still in its layout."""
        return self.weights is InLayout.WEIGHTS

    def decoded(self) -> Call:
        """The same call with weights that are read from the layout, if they are there."""
        if not self.weights_in_layout or self.sub is None:
            return self
        return replace(self, weights=self.sub.weights())

    @property
    def needs_gradient(self) -> bool:
        """True where the backend has to record a gradient. Of an `aggregate` the operators in
        `kernels.autograd.pull_push` record it, whichever backend computes it."""
        return self.operation != "aggregate" and self._is_recorded

    @property
    def materialises_messages(self) -> str | None:
        """The part of an `aggregate` whose gradient differs by more than a factor from message to message, for which
        the fused operators have no gradient; None without such a part."""
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
