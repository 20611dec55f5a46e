"""What the layers of a model are called with: seen in a call of the model, or made up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor

from tgraph.errors import ArgumentError
from tgraph.nn.adjacency import Adjacency
from tgraph.nn.conv.layer import MessagePassing


class Arguments(NamedTuple):
    """args, kwargs : of a call of a layer. calls : how often a call of the model calls it."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    calls: int = 1

    def leaves(self) -> list[Tensor]:
        """The tensors among them that record a gradient."""
        return [tensor for tensor in _tensors((self.args, self.kwargs)) if tensor.requires_grad]


def layers_of(model: torch.nn.Module) -> dict[str, MessagePassing]:
    """Our layers in a model, {place in the model: layer}."""
    return {place: module for place, module in model.named_modules() if isinstance(module, MessagePassing)}


def seen(
    model: torch.nn.Module, layers: Mapping[str, MessagePassing], arguments: tuple[Any, ...]
) -> dict[str, Arguments]:
    """What each of the layers is called with first when the model is called with these `arguments`; of those that are
    called at all. Floating tensors are detached, and record a gradient where they did."""
    found: dict[str, Arguments] = {}

    def note(place: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if place in found:
            found[place] = found[place]._replace(calls=found[place].calls + 1)
        else:
            found[place] = Arguments(_detached(args), _detached(kwargs))

    def hook(place: str) -> Any:
        return lambda layer, args, kwargs: note(place, args, kwargs)

    handles = [layer.register_forward_pre_hook(hook(place), with_kwargs=True) for place, layer in layers.items()]
    try:
        model(*arguments)
    finally:
        for handle in handles:
            handle.remove()
    return found


def made_up(place: str, layer: Any, edge_index: Any, adjacency: Adjacency, first: bool) -> Arguments:
    """Random features of sources, targets and edges of the adjacency of `edge_index`, in the dtype of the layer's
    parameters. Those of the `first` layer record no gradient.

    Raises ArgumentError for a layer that takes its columns from its first input.
    """
    like = next((parameter for parameter in layer.parameters() if parameter.is_floating_point()), torch.empty(0))
    columns, ends = _columns_of(layer), (adjacency.num_sources, adjacency.num_targets)
    if columns is None:
        raise ArgumentError(f"x: {place or 'the model'} takes its columns from its first input; give x")
    if isinstance(columns, int) and ends[0] != ends[1]:
        columns = (columns, columns)
    random, records = torch.Generator(like.device).manual_seed(0), torch.is_grad_enabled()

    def drawn(rows: int, width: int, recorded: bool) -> Tensor:
        made = torch.randn((rows, width), generator=random, dtype=like.dtype, device=like.device)
        return made.requires_grad_(recorded)

    if isinstance(columns, int):
        x: Any = drawn(ends[0], columns, records and not first)
    else:
        x = tuple(drawn(rows, width, records and not first) for rows, width in zip(ends, columns, strict=True))
    edge_dim = getattr(layer, "edge_dim", None)
    of_edges = () if edge_dim is None else (drawn(adjacency.num_edges, edge_dim, False),)
    return Arguments((x, edge_index, *of_edges), {})


def _columns_of(layer: Any) -> int | tuple[int, ...] | None:
    """The columns that a layer takes, where it tells, or the first linear map in it does."""
    for module in layer.modules():
        for name in ("in_channels", "in_features"):
            columns: Any = getattr(module, name, None)
            wide = columns if isinstance(columns, (tuple, list)) else (columns,)
            if all(isinstance(each, int) and each > 0 for each in wide):
                return columns if isinstance(columns, int) else tuple(columns)
            if columns is not None:
                return None
    return None


def on_another(arguments: Arguments, layer: MessagePassing, graph: Any, size: tuple[int, int]) -> Arguments:
    """As the `arguments`, but over another graph of so many vertices and edges: all data is 1."""

    def ones(tensor: Any, rows: int, dimension: int) -> Any:
        if not isinstance(tensor, Tensor) or not tensor.is_floating_point():
            return tensor
        shape = list(tensor.shape)
        shape[dimension] = rows
        return torch.ones(shape, dtype=tensor.dtype, device=tensor.device, requires_grad=tensor.requires_grad)

    def of_vertices(x: Any) -> Any:
        if isinstance(x, (tuple, list)):
            return tuple(of_vertices(each) for each in x)
        return ones(x, size[0], layer.node_dim)

    args = [of_vertices(each) if number == 0 else ones(each, size[1], 0) for number, each in enumerate(arguments.args)]
    kwargs = {
        key: of_vertices(value) if key == "x" else ones(value, size[1], 0) for key, value in arguments.kwargs.items()
    }
    if len(args) > 1:
        args[1] = graph
    else:
        kwargs["edge_index"] = graph
    return Arguments(tuple(args), {key: value for key, value in kwargs.items() if key != "size"})


def _detached(given: Any) -> Any:
    if isinstance(given, Tensor):
        floating = given.is_floating_point() and given.layout == torch.strided
        return given.detach().requires_grad_(given.requires_grad) if floating else given
    if isinstance(given, tuple) and not hasattr(given, "_fields"):
        return tuple(_detached(each) for each in given)
    if isinstance(given, list):
        return [_detached(each) for each in given]
    if isinstance(given, dict):
        return {name: _detached(each) for name, each in given.items()}
    return given


def _tensors(given: Any) -> Iterable[Tensor]:
    if isinstance(given, Tensor):
        yield given
    elif isinstance(given, (tuple, list)):
        for each in given:
            yield from _tensors(each)
    elif isinstance(given, dict):
        yield from _tensors(tuple(given.values()))
