"""The border to the compiled kernels: how a function becomes the native implementation of an operator, which arguments
the kernels support, and the kernels themselves.

    @implements(k_core.peel, refuses_graph)
    def peel(graph: Graph) -> Tensor:
        core = torch.empty(graph.num_vertices, dtype=torch.int64, device="cpu")
        compiled().peel(graph.offset, graph.neighbors, core)
        return core

or, for a kernel that has the arguments of the operator, in one line:

    attach(k_core.peel, refuses_graph, per_vertex)

The operator has checked graphs and rows (`tgraph.core.dispatch.guard_of`). Tensors that a kernel only reads need not be
contiguous (bindings.hpp); those that it writes are made here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import torch
from torch import Tensor

from tgraph.core.building import memory
from tgraph.core.dispatch import BACKENDS, Operator
from tgraph.core.graph import Graph
from tgraph.core.system import native
from tgraph.core.system.library import is_plain
from tgraph.kernels.call import Call

implements = BACKENDS["native"].implements
compiled = cast(Callable[[], Any], native.load)  # the kernels, for callers that know that there are some


def attach(
    operator: Operator[..., Any], refuses: Callable[..., str | None], *outputs: Callable[..., Tensor], kernel: str = ""
) -> None:
    """Implement an operator by the kernel of its name, or of the name `kernel`, which takes the arguments of the
    operator, a graph as the offset and the neighbors of its rows, and then the tensors that the `outputs` make from the
    arguments: these are filled, and the result. Without any the result is that of the kernel."""
    name = kernel or operator.name

    def run(first: Any, *others: Any) -> Any:
        rows = (first.offset, first.neighbors) if isinstance(first, Graph) else (first,)
        found = tuple([make(first, *others) for make in outputs])
        returned = getattr(compiled(), name)(*rows, *others, *found)
        return found if len(found) > 1 else found[0] if found else returned

    implements(operator, refuses)(run)


def per_vertex(first: Graph | Tensor, *others: object) -> Tensor:
    """A tensor int64 [n] to be filled, for a graph or the offset of its rows."""
    size = first.num_vertices if isinstance(first, Graph) else len(first) - 1
    return torch.empty(size, dtype=torch.int64, device="cpu")


def both_sides(graph: Graph) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """(offset, neighbors) of a graph, then of its transpose."""
    reverse = graph.transpose_detached()
    return graph.offset, graph.neighbors, reverse.offset, reverse.neighbors


_PLAIN = (Tensor, torch.nn.Parameter)
_FEW = "its kernel is for graphs of fewer than 2^31 vertices"


def _are_common(arguments: tuple[Any, ...], named: dict[str, Any]) -> bool:
    kernels = native.load()  # at the first call that asks
    if kernels is None:
        return False
    memory.are_common = kernels.are_common
    return kernels.are_common(arguments, named)


memory.are_common = _are_common


def unavailable() -> str | None:
    """Why no call is served in this process at present, None where some are."""
    return None if native.load() is not None else "its kernels are not installed, or turned off by TGRAPH_NATIVE=0"


def refuses_tensors(*tensors: Tensor | None) -> str | None:
    """Why the kernels cannot be given the memory of these tensors, None where they can."""
    return unavailable() if is_plain(*tensors) else "it needs plain tensors of the CPU, not traced or transformed"


def refuses_data(tensor: Tensor) -> str | None:
    """The same for a tensor that no gradient, trace or transform goes through, such as the arcs of a graph."""
    if tensor.is_cpu and type(tensor) in _PLAIN:  # a fake tensor has no memory
        return None if native.load() is not None else unavailable()  # a frame less for what is supported
    return "it needs a plain tensor of the CPU"


def needs_gradient(tensor: Tensor) -> bool:
    """Whether a gradient of what is computed from a tensor is recorded."""
    return tensor.requires_grad and torch.is_grad_enabled()


def refuses_wide(neighbors: Tensor) -> str | None:
    """Why kernels for neighbours in int32 cannot take these, None where they can."""
    return None if neighbors.dtype == torch.int32 else _FEW


def refuses_first(first: Tensor, *others: object, **named: object) -> str | None:
    """Why an operator whose first argument tells the device of all does not support them, None if it does."""
    return refuses_data(first)


def refuses_rows(offset: Tensor, neighbors: Tensor, *others: object, **named: object) -> str | None:
    """The same for the rows of a graph, with neighbours in int32."""
    return refuses_data(offset) or refuses_wide(neighbors)


def refuses_graph(graph: Graph, *others: object, **named: object) -> str | None:
    """The same for a graph."""
    return refuses_data(graph.neighbors)


def refuses_wide_graph(graph: Graph, *others: object, **named: object) -> str | None:
    """The same for a graph with neighbours in int32."""
    return refuses_data(graph.neighbors) or refuses_wide(graph.neighbors)


def refuses_call(own: Callable[[Call], str | None]) -> Callable[[Call], str | None]:
    """Why a `Call` is not supported: the reasons that hold for all operators, then its `own`."""

    def refuses(call: Call) -> str | None:
        if not call.data.is_cpu:
            return f"it computes on the CPU, the data is on {call.data.device}"
        if torch.compiler.is_compiling():
            return "torch.compile cannot look into it"
        return unavailable() or own(call)

    return refuses
