"""The base class of the layers, and the order of transformation and aggregation."""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.nn.parameter import UninitializedParameter

from tgraph.core.dispatch import check_backend
from tgraph.core.graph import Graph
from tgraph.core.system.library import in_functorch
from tgraph.core.system.pages import LARGE
from tgraph.errors import ArgumentError
from tgraph.model.operators import running_on
from tgraph.nn import hugepage_ops
from tgraph.nn.adjacency import Adjacency
from tgraph.nn.compiled import prepare
from tgraph.nn.conv.linear import reset, zeros
from tgraph.nn.conv.namesakes import namesake
from tgraph.nn.edge_index import FLOWS, Sizes, adjacency_of
from tgraph.nn.hugepage_ops import linear_map

REDUCE = {"add": "sum", "sum": "sum", "mean": "mean", "min": "min", "max": "max"}

# The steps of PyTorch Geometric's message passing, which derived classes override.
MESSAGES = ("propagate", "message", "aggregate", "message_and_aggregate", "update", "edge_update", "edge_updater")

# Its aggregation modules, and its attributes with the hooks on each step.
AGGREGATIONS = {"sum": "SumAggregation", "mean": "MeanAggregation", "min": "MinAggregation", "max": "MaxAggregation"}
HOOKS = tuple(
    f"_{step}_forward{kind}_hooks"
    for step in ("propagate", "message", "aggregate", "message_and_aggregate", "edge_update")
    for kind in ("_pre", "")
)

Pair = tuple[Tensor, Tensor | None]

_INSTEAD = "use torch.compile, or PyTorch Geometric's layer"

_of_all = torch.nn.modules.module  # where torch keeps the hooks of all modules

Namesake: Any = namesake("MessagePassing")
HAS_NAMESAKES = Namesake is not torch.nn.Module


class MessagePassing(Namesake):
    """Base class of the layers; derives from PyTorch Geometric's MessagePassing where that is installed.

    aggr : how messages are reduced, "sum" or "add", "mean", "min" or "max".
    flow : "source_to_target", messages go from edge_index[0] to edge_index[1], or "target_to_source".
    aggr_kwargs : None; these aggregations have no arguments.
    node_dim : the dimension of x that counts vertices.
    decomposed_layers : has no effect.
    backend : the kernels of the aggregates of a call, a name as `tg.run` takes it; not where torch.compile or
        torch.func traces, or PyTorch Geometric's implementation runs.

    Raises ArgumentError for an unknown aggr, flow or backend, for a backend by name of a layer that attends, whose
    kernels are its own, and for a derived class that overrides a step of message passing.

    >>> issubclass(tg.nn.SAGEConv, tg.nn.MessagePassing)
    True
    """

    aggr: str
    node_dim: int
    decomposed_layers: int
    backend: str = "auto"

    attends: bool = False  # by kernels of attention, which no backend by name has
    reduces_by: str | None = None  # the aggregation module of a layer that has one of its own

    def __init__(
        self,
        aggr: str = "sum",
        *,
        aggr_kwargs: dict[str, Any] | None = None,
        flow: str = "source_to_target",
        node_dim: int = -2,
        decomposed_layers: int = 1,
        backend: str = "auto",
    ):
        if not isinstance(aggr, str) or aggr not in REDUCE:
            raise ArgumentError(f"aggr: {aggr!r} is not one of {', '.join(map(repr, REDUCE))}")
        if aggr_kwargs:
            raise ArgumentError(f"aggr_kwargs: aggr={aggr!r} takes none, got {sorted(aggr_kwargs)}")
        if flow not in FLOWS:
            raise ArgumentError(f"flow: {flow!r} is not one of {', '.join(map(repr, FLOWS))}")
        check_backend(backend)
        if backend != "auto" and self.attends:
            raise ArgumentError(
                f"backend: {backend!r} has no attention, and {type(self).__name__} attends; leave backend out"
            )
        if HAS_NAMESAKES:  # not the base of the same name as the layer, which would create all parameters
            Namesake.__init__(self, aggr, flow=flow, node_dim=node_dim, decomposed_layers=decomposed_layers)
        else:
            torch.nn.Module.__init__(self)
            self.aggr, self.flow, self.node_dim, self.decomposed_layers = aggr, flow, node_dim, decomposed_layers
        self.backend = backend

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if changed := [name for name in MESSAGES if name in vars(cls)]:
            raise ArgumentError(
                f"{cls.__name__}: defines {', '.join(changed)}, never called by the layers of tgraph.nn; derive it "
                "from PyTorch Geometric's layer"
            )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.backend == "auto" or torch.compiler.is_compiling():
            return super().__call__(*args, **kwargs)
        before = running_on.set(self.backend)
        try:
            return super().__call__(*args, **kwargs)
        finally:
            running_on.reset(before)

    def reset_parameters(self) -> None:
        """Initialise the parameters."""

    def _adjacency(self, edge_index: Any, x: Pair, size: Sizes | None = None) -> Adjacency:
        """The adjacency from the vertices of the first features to those of the second. `size` : (number of vertices of
        edge_index[0], of edge_index[1])."""
        if not HAS_NAMESAKES and torch.jit.is_tracing():  # otherwise `_is_observed` is true
            raise ArgumentError(f"edge_index: torch.jit.trace would record it as a constant; {_INSTEAD}")
        first, second = x if self.flow == "source_to_target" else x[::-1]
        known = self._count(first), self._count(second)
        if size is not None:
            known = _agreed(known, size)
        if isinstance(edge_index, Graph) and torch.compiler.is_compiling():
            prepare(edge_index, self.flow == "target_to_source")
        return adjacency_of(edge_index, known, self.flow)

    def _count(self, x: Tensor | None) -> int | None:
        """The number of vertices of features x."""
        if x is None:
            return None
        try:
            return x.shape[self.node_dim]
        except IndexError:
            raise ArgumentError(f"x: expected [..., n, columns], got {list(x.shape)}") from None

    def _is_observed(self) -> bool:
        """Whether to run PyTorch Geometric's implementation: an explainer or hook needs single messages, a step was
        replaced by assignment, or torch.jit.trace is tracing."""
        if not HAS_NAMESAKES:
            return False
        state = self.__dict__
        if state["_explain"] or torch.jit.is_tracing() or any(map(state.__getitem__, HOOKS)):
            return True
        return changed_step(self, self.reduces_by) is not None

    def _as_many_as(self, first: Tensor, received: Tensor) -> Tensor:
        """`received`; for flow "target_to_source" padded with rows of zeros to the number of vertices of `first`, if
        that is larger, as PyTorch Geometric does for a pair."""
        missing = first.shape[self.node_dim] - received.shape[self.node_dim]
        if self.flow == "source_to_target" or missing <= 0:
            return received
        shape = list(received.shape)
        shape[self.node_dim] = missing
        return torch.cat((received, received.new_zeros(shape)), self.node_dim)

    def _set_jittable_templates(self, raise_on_error: bool = False) -> None:
        """Nothing: the code that PyTorch Geometric generates for the base class suffices."""

    def __prepare_scriptable__(self) -> Any:
        """PyTorch Geometric's layer with the same parameters, for torch.jit.script to compile instead."""
        namesakes = [base for base in type(self).__mro__ if base.__module__.startswith("torch_geometric.")]
        if not namesakes:
            raise ArgumentError(f"{type(self).__name__}: torch.jit.script supports no operators of TGraph; {_INSTEAD}")
        twin = copy.copy(self)
        twin.__class__ = namesakes[0]
        twin.__dict__.pop("propagate", None)  # of decomposed layers; it would shadow the method of the class
        twin.inspector = copy.copy(self.inspector)
        twin.inspector._cls, twin.inspector._source_dict = namesakes[0], {}
        twin._set_jittable_templates()
        return twin

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.in_channels}, {self.out_channels})"


class Layer(MessagePassing):
    """Base class of the layers with parameters in modules."""

    def __init__(self, aggr: str = "add", **kwargs: Any):
        super().__init__(aggr, **kwargs)

    def reset_parameters(self) -> None:
        """Initialise the modules, in the order of PyTorch Geometric's draws; a shared one, twice."""
        for module in self._modules.values():
            reset(module)
        zeros(self._parameters.get("bias"))


def _agreed(known: Sizes, size: Sizes) -> Sizes:
    """The numbers of vertices at both ends, by x or else by `size`."""
    for end, (count, claimed) in enumerate(zip(known, size, strict=True)):
        if count is not None and claimed is not None and count != claimed:
            raise ArgumentError(f"size: {claimed} at position {end}, but x has features of {count} vertices")
    return size[0] if known[0] is None else known[0], size[1] if known[1] is None else known[1]


def vertices_first(x: Tensor, node_dim: int) -> Tensor:
    """x with the vertex dimension moved to the front."""
    return x if x.dim() + node_dim == 0 or node_dim == 0 else x.movedim(node_dim, 0)


def vertices_back(x: Tensor, node_dim: int) -> Tensor:
    """The inverse of `vertices_first`."""
    return x if x.dim() + node_dim == 0 or node_dim == 0 else x.movedim(0, node_dim)


def changed_step(layer: Any, reduces_by: str | None = None) -> str | None:
    """The step of message passing that was replaced by assignment to a `layer`, or None. reduces_by : the class name of
    its aggregation module, where `aggr` does not determine it."""
    state = layer.__dict__
    if any(map(state.__contains__, MESSAGES)):
        for name in MESSAGES:
            if name in state and not is_from_pyg(state[name]):
                return name
    reduction = state["_modules"].get("aggr_module")
    aggr = state["aggr"]
    expected = reduces_by
    if expected is None and isinstance(aggr, str):
        expected = AGGREGATIONS.get(REDUCE.get(aggr, ""))
    kind: Any = type(reduction)
    if kind.__name__ != expected or not _is_class_from_pyg(kind) or is_hooked(reduction):
        return "aggr_module"
    return None


def is_from_pyg(definition: Any) -> bool:
    """Whether a function or class is PyTorch Geometric's: its explainers too assign a `propagate` to layers."""
    return str(getattr(definition, "__module__", None)).startswith("torch_geometric.")


_is_class_from_pyg = cache(is_from_pyg)


def is_hooked(module: Any) -> bool:
    """Whether a module has forward or backward hooks, or torch has global ones."""
    return bool(
        module._forward_hooks
        or module._forward_pre_hooks
        or module._backward_hooks
        or module._backward_pre_hooks
        or _of_all._global_forward_hooks
        or _of_all._global_forward_pre_hooks
        or _of_all._global_backward_hooks
        or _of_all._global_backward_pre_hooks
    )


LINEAR = ("torch.nn.modules.linear", "torch_geometric.nn.dense.linear", "tgraph.nn.conv.linear")


def plain_weight(lin: Any) -> Tensor | None:
    """The weight of a linear map, if using it is equivalent to calling the map. None if the map has hooks, is of a
    class outside of LINEAR, or has no weight yet."""
    kind: Any = type(lin)
    if not _is_linear(kind) or "forward" in lin.__dict__ or is_hooked(lin):
        return None
    weight = lin._parameters.get("weight")
    return None if weight is None or isinstance(weight, UninitializedParameter) else weight


@cache
def _is_linear(kind: Any) -> bool:
    return kind.__name__ == "Linear" and kind.__module__ in LINEAR


def plus(x: Tensor, y: Tensor) -> Tensor:
    """x + y; by `hugepage_ops.plus` for large inputs."""
    if torch.compiler.is_compiling() or x.numel() * x.element_size() < LARGE:
        return x + y
    return hugepage_ops.plus(x, y)


def linear(lin: Any, weight: Tensor | None, x: Tensor) -> Tensor:
    """lin(x), by the `weight` without calling lin if there is one."""
    return lin(x) if weight is None else linear_map(x, weight, lin._parameters["bias"])


def check_features(x: Tensor, columns: int, weight: Tensor) -> None:
    """Raise ArgumentError unless x is [n, columns] in the dtype of a weight."""
    if x.dim() != 2 or x.shape[1] != columns:
        raise ArgumentError(f"x: expected [n, {columns}], got {list(x.shape)}")
    if x.dtype != weight.dtype and not torch.is_autocast_enabled(x.device.type):
        raise ArgumentError(f"x: {x.dtype}, the parameters are {weight.dtype}; use x.to({weight.dtype})")


def linear_of_received(lin: Any, weight: Tensor | None, received: Tensor, sent: torch.dtype) -> Tensor:
    """As `linear`, of aggregated features, whose dtype before aggregation was `sent`: where edge weights promoted them,
    the map is computed in the promoted dtype, as if it had come first."""
    if received.dtype == sent or torch.is_autocast_enabled(received.device.type):
        return linear(lin, weight, received)
    if weight is None:
        return lin(received.to(sent)).to(received.dtype)
    if weight.dtype not in (sent, received.dtype):
        raise ArgumentError(f"x: {sent}, the parameters are {weight.dtype}; use x.to({weight.dtype})")
    bias = lin._parameters["bias"]
    return linear_map(received, weight.to(received.dtype), None if bias is None else bias.to(received.dtype))


def plus_linear(out: Tensor, lin: Any, x: Tensor, in_place: bool) -> Tensor:
    """out + lin(x), in one operation for a plain weight without a bias. `in_place` : nothing else refers to `out`."""
    weight = plain_weight(lin)
    if weight is None or lin._parameters["bias"] is not None or out.dim() != 2 or x.dim() != 2:
        return plus(out, lin(x))
    if not out.dtype == x.dtype == weight.dtype or torch.is_autocast_enabled(x.device.type) or in_functorch():
        return plus(out, lin(x))
    # autograd functions may return views; torch.compile chooses in-place operations itself
    if in_place and not torch.compiler.is_compiling() and not out._is_view():
        return out.addmm_(x, weight.t())
    return torch.addmm(out, x, weight.t())


def transform_first(weight: Tensor | None, x: Tensor, reduce: str) -> bool | None:
    """Whether to transform features by a plain `weight` before aggregating them, which is cheaper if it gathers fewer
    columns; None if the two do not commute. Sparse features are transformed first where possible.

    The cost is the number of gathered columns. Transformed first, `narrow` columns are gathered forward, and again
    backward for the gradient of the weight; aggregated first, `wide` columns are, backward only if x needs a gradient.
    """
    if weight is None or reduce in ("min", "max"):
        return None
    if x.layout != torch.strided:
        return True
    if x.dtype != weight.dtype and not torch.is_autocast_enabled(x.device.type):
        return False  # edge weights may promote it
    wide, narrow = x.shape[-1], weight.shape[0]
    if torch.is_grad_enabled() and weight.requires_grad:
        return 2 * narrow < (2 if x.requires_grad else 1) * wide
    return narrow < wide
