"""What an operation asks of a backend."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from tgraph.graph import Graph
from tgraph.kernels.reductions import Reduction
from tgraph.subgraph import Subgraph


@dataclass(frozen=True)
class Call:
    """One call, as a backend needs to know it to say whether it serves it.

    operation : the name of the function asked for, "aggregate" or another of the backends' functions.
    data : the vertex data [n, ...], or another tensor that says device and dtype.
    graph : the graph, where the form of its tensors matters.
    reduction, edge, weights, dtype : what `aggregate` and `relax` are given, where the operation has them.
    sub : the arcs that `aggregate` is given.
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
    def needs_gradient(self) -> bool:
        """True where what is computed will be differentiated."""
        tensors = (self.data, self.weights, *self.others)
        return torch.is_grad_enabled() and any(isinstance(t, Tensor) and t.requires_grad for t in tensors)


def not_plain(call: Call) -> str | None:
    """Why a backend of eager operators on plain tensors cannot serve a call, None where that is no obstacle."""
    if torch.compiler.is_compiling():
        return "torch.compile cannot look into it"
    if torch._C._are_functorch_transforms_active() or torch.autograd.forward_ad._current_level >= 0:
        return "it has no rule for torch.func transforms and forward-mode gradients"
    if any(isinstance(t, Tensor) and type(t) not in (Tensor, torch.nn.Parameter) for t in (call.data, call.weights)):
        return "it needs plain tensors, not a subclass"
    return None
