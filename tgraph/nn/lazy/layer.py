"""Users' layers on PyTorch Geometric's MessagePassing, with messages materialised only where necessary.

`propagate` is PyTorch Geometric's. It passes lazy tensors to `message` for `x_i` and `x_j`: the function multiplies,
adds and maps their terms, and `aggregate` reduces the terms. Any other operation materialises the messages.
"""

from __future__ import annotations

import functools
import threading
from typing import Any

import torch
from torch import Tensor

from tgraph.core.system.library import in_functorch
from tgraph.nn.conv.layer import HOOKS, REDUCE, changed_step
from tgraph.nn.conv.namesakes import namesake
from tgraph.nn.lazy.reduction import reduced_terms
from tgraph.nn.lazy.tensor import LazyMessages, lazy
from tgraph.nn.lazy.terms import Edges, Term

# Arguments of `message` that group the edges by target, as for a softmax.
NUMBERS = ("index", "ptr", "dim_size", "size_i", "edge_index_i", "edge_index_j", "edge_index", "adj_t")


class _Running(threading.local):
    """The edges of the call of `propagate` that is running in this thread."""

    edges: Edges | None = None


_running = _Running()


class LazyLayer:
    """The steps of message passing that `accelerate` adds to a layer of the user's class `written`."""

    written: type
    made_for: str | None = None  # the function that materialised the messages of the last call

    def propagate(self: Any, edge_index: Any, *args: Any, **kwargs: Any) -> Any:
        """As `written.propagate`."""
        before = _running.edges
        _running.edges = edges = Edges(edge_index, self.flow) if _is_lazy(self, edge_index) else None
        try:
            return super().propagate(edge_index, *args, **kwargs)  # type: ignore[misc]
        finally:
            _running.edges = before
            if edges is not None:
                self.__dict__["made_for"] = edges.made_for[0] if edges.made_for else None

    def _index_select(self: Any, src: Tensor, index: Tensor) -> Tensor:
        """Lazy data `src` of the vertices `index`, one end of the edges."""
        edges, first = _running.edges, self.node_dim == 0 or src.dim() + self.node_dim == 0
        end = None if edges is None or not first or not _is_data(src) else edges.end_of(index)
        if edges is None or end is None:
            return super()._index_select(src, index)  # type: ignore[misc]
        if end == "source":
            edges.num_sources = src.shape[0]
        return lazy(edges, (Term(**{end: src}),), src)

    def aggregate(self: Any, inputs: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """As `written.aggregate`."""
        if type(inputs) is not LazyMessages:
            return super().aggregate(inputs, *args, **kwargs)  # type: ignore[misc]
        count = kwargs.get("dim_size")
        if inputs.found is None and inputs.parts is None and count is not None:
            found = reduced_terms(inputs.terms, inputs.edges, REDUCE[self.aggr], count)
            if found is not None:
                return found
        return super().aggregate(inputs.make(REDUCE[self.aggr]), *args, **kwargs)  # type: ignore[misc]

    def _set_jittable_templates(self, raise_on_error: bool = False) -> None:
        """Nothing: the code that PyTorch Geometric has generated for `written` suffices."""

    def __prepare_scriptable__(self: Any) -> Any:
        """A layer of class `written`, for torch.jit.script to compile instead."""
        twin = self.written.__new__(self.written)
        twin.__setstate__(self.__dict__)
        return twin

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return _revived, (self.written,), self.__dict__


@functools.cache
def lazy_class(written: Any) -> type:
    """The class of layers of class `written` with lazy messages."""
    names = {"__module__": written.__module__, "__qualname__": written.__qualname__, "__doc__": written.__doc__}
    return type(written.__name__, (LazyLayer, written), {**names, "written": written})


def obstacle(layer: Any) -> str | None:
    """Why the messages of a layer cannot be lazy, or None."""
    aggr = layer.aggr
    if not isinstance(aggr, str) or aggr not in REDUCE:
        return f"aggr={aggr!r} is not one of {', '.join(map(repr, REDUCE))}"
    if "aggregate" in vars(layer) or type(layer).aggregate is not namesake("MessagePassing").aggregate:
        return "its aggregate is its own"
    if (step := changed_step(layer)) is not None:
        return f"its {step} was replaced, or is hooked"
    names = layer.inspector.get_param_names("message")
    if not any(name.endswith("_j") for name in names):
        return "its message takes nothing of the sources"
    if read := [name for name in names if name in NUMBERS]:
        return f"its message takes {', '.join(read)}, as for a softmax over edges"
    return None


def _revived(written: type) -> Any:
    kind: Any = lazy_class(written)
    return kind.__new__(kind)


def _is_lazy(layer: Any, edge_index: Any) -> bool:
    """Whether messages over an edge_index may be lazy: no hook, explainer or transform sees single messages."""
    if type(edge_index) is not Tensor or edge_index.layout != torch.strided or edge_index.dim() != 2:
        return False
    if torch.compiler.is_compiling() or torch.jit.is_tracing() or in_functorch():
        return False
    if torch.is_autocast_enabled(edge_index.device.type) or layer._explain or layer.decomposed_layers != 1:
        return False
    if edge_index.shape[0] != 2 or not edge_index.numel() or any(map(layer.__dict__.__getitem__, HOOKS)):
        return False
    return changed_step(layer) is None


def _is_data(src: Any) -> bool:
    return type(src) in (Tensor, torch.nn.Parameter) and src.is_floating_point() and src.layout == torch.strided
