"""The arguments of the layers of a model: captured in a call of the model, or synthetic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map_only

from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.nn.adjacency import Adjacency
from tgraph.nn.conv.layer import MessagePassing
from tgraph.nn.lazy.layer import LazyLayer


class Arguments(NamedTuple):
    """args, kwargs : of a call of a layer. calls : how often a call of the model calls the layer."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    calls: int = 1

    def leaves(self) -> list[Tensor]:
        """The tensors among them that require a gradient."""
        return [
            leaf for leaf in tree_leaves((self.args, self.kwargs)) if isinstance(leaf, Tensor) and leaf.requires_grad
        ]


ANY_COLUMNS = 64  # of a layer without parameters, for any number of columns


def layers_of(model: torch.nn.Module) -> dict[str, MessagePassing]:
    """The layers of tgraph.nn in a model, {place in the model: layer}."""
    return {place: module for place, module in model.named_modules() if isinstance(module, MessagePassing)}


def lazy_layers_of(model: torch.nn.Module) -> dict[str, Any]:
    """The layers with lazy messages in a model, {place in the model: layer}."""
    return {place: module for place, module in model.named_modules() if isinstance(module, LazyLayer)}


def captured(
    model: torch.nn.Module, layers: Mapping[str, MessagePassing], arguments: tuple[Any, ...]
) -> dict[str, Arguments]:
    """The arguments of the first call of each called layer in model(*arguments). Floating-point tensors are detached,
    with the same requires_grad."""
    found: dict[str, Arguments] = {}

    def note(place: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if place in found:
            found[place] = found[place]._replace(calls=found[place].calls + 1)
        else:
            found[place] = Arguments(*tree_map_only(Tensor, _detached, (args, kwargs)))

    def hook(place: str) -> Any:
        return lambda layer, args, kwargs: note(place, args, kwargs)

    handles = [layer.register_forward_pre_hook(hook(place), with_kwargs=True) for place, layer in layers.items()]
    try:
        model(*arguments)
    finally:
        for handle in handles:
            handle.remove()
    return found


def synthetic(place: str, layer: Any, edge_index: Any, adjacency: Adjacency, first: bool) -> Arguments:
    """Random features of sources, targets and edges of the adjacency of `edge_index`, in the dtype of the layer's
    parameters, without a gradient for the `first` layer.

    Raises ArgumentError for a lazy layer, whose number of columns is unknown.
    """
    like = next((parameter for parameter in layer.parameters() if parameter.is_floating_point()), torch.empty(0))
    columns, ends = _columns_of(layer), (adjacency.num_sources, adjacency.num_targets)
    if columns is None and next(layer.parameters(), None) is None:
        columns = ANY_COLUMNS
    if columns is None:
        raise ArgumentError(f"x: {place or 'the model'} takes its columns from its first input; give x")
    if isinstance(columns, int) and ends[0] != ends[1]:
        columns = (columns, columns)
    random, recorded = torch.Generator(like.device).manual_seed(0), torch.is_grad_enabled() and not first

    def drawn(rows: int, width: int) -> Tensor:
        return torch.randn((rows, width), generator=random, dtype=like.dtype, device=like.device)

    if isinstance(columns, int):
        x: Any = drawn(ends[0], columns).requires_grad_(recorded)
    else:
        x = tuple(drawn(rows, width).requires_grad_(recorded) for rows, width in zip(ends, columns, strict=True))
    edge_dim = getattr(layer, "edge_dim", None)
    edge_attr = () if edge_dim is None else (drawn(adjacency.num_edges, edge_dim),)
    return Arguments((x, edge_index, *edge_attr), {})


def _columns_of(layer: Any) -> int | tuple[int, ...] | None:
    """The number of input columns of a layer, by its attribute or by that of its first linear map."""
    for module in layer.modules():
        for name in ("in_channels", "in_features"):
            columns: Any = getattr(module, name, None)
            wide = columns if isinstance(columns, (tuple, list)) else (columns,)
            if all(isinstance(each, int) and each > 0 for each in wide):
                return columns if isinstance(columns, int) else tuple(columns)
            if columns is not None:
                return None
    return None


def on_graph(arguments: Arguments, layer: MessagePassing, graph: Graph) -> Arguments:
    """The `arguments` with another graph, and data of ones of its size."""

    def ones(tensor: Any, rows: int, dimension: int) -> Any:
        if not isinstance(tensor, Tensor) or not tensor.is_floating_point():
            return tensor
        shape = list(tensor.shape)
        shape[dimension] = rows
        return torch.ones(shape, dtype=tensor.dtype, device=tensor.device, requires_grad=tensor.requires_grad)

    def resized(key: int | str, given: Any) -> Any:
        if key in (0, "x"):
            parts = tuple(given) if isinstance(given, (tuple, list)) else (given,)
            parts = tuple(ones(part, graph.num_vertices, layer.node_dim) for part in parts)
            return parts if isinstance(given, (tuple, list)) else parts[0]
        return graph if key in (1, "edge_index") else ones(given, graph.num_arcs, 0)

    args = tuple(resized(number, each) for number, each in enumerate(arguments.args))
    return Arguments(args, {key: resized(key, each) for key, each in arguments.kwargs.items() if key != "size"})


def _detached(tensor: Tensor) -> Tensor:
    if tensor.is_floating_point() and tensor.layout == torch.strided:
        return tensor.detach().requires_grad_(tensor.requires_grad)
    return tensor
