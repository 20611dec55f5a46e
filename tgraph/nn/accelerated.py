"""`accelerate` replaces the PyTorch Geometric layers of a model by TGraph's, and `restore` undoes it.

A replaced layer remains the same object, with the same parameters, buffers, hooks and place in the model: its class is
set to a subclass of the TGraph layer, which itself derives from the PyTorch Geometric layer. The class of any other
layer, such as a user's, is set to a subclass with lazy messages (`lazy/layer.py`).
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import Any

import torch

from tgraph.nn.conv import (
    appnp,
    edge_conv,
    gat_conv,
    gatv2_conv,
    gcn_conv,
    gin_conv,
    graph_conv,
    hgt_conv,
    pna_conv,
    res_gated_graph_conv,
    rgcn_conv,
    sage_conv,
    sg_conv,
    transformer_conv,
)
from tgraph.nn.conv.attention_base import AttentionLayer
from tgraph.nn.conv.degree_scalers import AGGREGATORS, names_of
from tgraph.nn.conv.layer import MESSAGES, REDUCE, MessagePassing, changed_step, is_from_pyg
from tgraph.nn.conv.namesakes import namesake
from tgraph.nn.lazy.layer import LazyLayer, lazy_class, obstacle

_ALL = (
    *(gat_conv.GATConv, gatv2_conv.GATv2Conv, gcn_conv.GCNConv),
    *(gin_conv.GINConv, sage_conv.SAGEConv, transformer_conv.TransformerConv),
    *(appnp.APPNP, graph_conv.GraphConv, sg_conv.SGConv, gin_conv.GINEConv, edge_conv.EdgeConv),
    *(res_gated_graph_conv.ResGatedGraphConv, rgcn_conv.RGCNConv, pna_conv.PNAConv, hgt_conv.HGTConv),
)
LAYERS: dict[str, type[MessagePassing]] = {layer.__name__: layer for layer in _ALL}


@dataclass
class Acceleration:
    """The result of `accelerate`. replaced : {place in the model: class name} of the layers that now run on TGraph's
    operators. lazy : the same of layers of other classes, whose messages are lazy.
    kept : {place in the model: reason} of the layers left unchanged.

    >>> from torch_geometric.nn import GCNConv
    >>> report = tg.nn.accelerate(torch.nn.ModuleList([GCNConv(8, 4)]))
    >>> report.replaced, report.lazy, report.kept
    ({'0': 'GCNConv'}, {}, {})
    """

    replaced: dict[str, str] = field(default_factory=dict)
    lazy: dict[str, str] = field(default_factory=dict)
    kept: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        lines = [f"{place or 'the model'}: {name}, replaced" for place, name in self.replaced.items()]
        lines += [f"{place or 'the model'}: {name}, with lazy messages" for place, name in self.lazy.items()]
        lines += [f"{place or 'the model'}: kept, {reason}" for place, reason in self.kept.items()]
        return "\n".join(lines) or "no layers of PyTorch Geometric"


def accelerate(model: torch.nn.Module) -> Acceleration:
    """Replace the PyTorch Geometric layers of a model by the TGraph layers of the same name, in place, and make the
    messages of others lazy: of layers without a counterpart in tgraph.nn, such as users' own MessagePassing classes.

    A lazy message is not materialised where `message` multiplies, adds, subtracts or divides features of the two ends
    (`x_i`, `x_j`), numbers or features of the edges and constants, maps them by linear maps, also concatenated, and
    applies functions of elements or rows to features of one end: these are computed at vertices and then aggregated.
    The minimum or maximum of a sum of several parts that differ between the edges of a vertex materialises messages,
    and so does any other operation, as in PyTorch Geometric; `tgraph.advise` reports it.

    model : any module. Its parameters remain the same objects, so that optimizers stay valid; state_dict, repr and
    training mode are unchanged. While a replaced layer is being explained, has hooks on its messages, or has a
    `message` or `aggregate` assigned to it, it runs PyTorch Geometric's implementation. A layer with such an assignment
    at the time of the call is not replaced.

    Returns the layers that were replaced, and the reasons for the others.

    >>> from torch_geometric.nn import SAGEConv
    >>> model = torch.nn.ModuleList([SAGEConv(8, 4), torch.nn.Linear(4, 2)])
    >>> tg.nn.accelerate(model).replaced
    {'0': 'SAGEConv'}
    """
    done = Acceleration()
    for place, module in model.named_modules():
        if isinstance(module, (MessagePassing, LazyLayer)) or not _passes_messages(module):
            continue
        kind: Any = type(module)
        name = kind.__name__
        known = name in LAYERS and kind is namesake(name)
        if (reason := _obstacle(module) if known else obstacle(module)) is not None:
            done.kept[place] = reason
        elif known:
            _clear_cache(module)
            module.__class__ = _replacement(name)
            done.replaced[place] = name
        else:
            module.__class__ = lazy_class(kind)
            done.lazy[place] = name
    return done


def restore(model: torch.nn.Module) -> list[str]:
    """Undo `accelerate` in a `model`, in place. Returns the places of the layers that were restored.

    >>> from torch_geometric.nn import SAGEConv
    >>> model = torch.nn.ModuleList([SAGEConv(8, 4)])
    >>> tg.nn.accelerate(model).replaced
    {'0': 'SAGEConv'}
    >>> tg.nn.restore(model)
    ['0']
    """
    places = []
    for place, module in model.named_modules():
        if type(module).__module__ == __name__:
            _clear_cache(module)
            module.__class__ = namesake(type(module).__name__)
            places.append(place)
        elif isinstance(module, LazyLayer):
            module.__class__ = module.written
            places.append(place)
    return places


def _passes_messages(module: torch.nn.Module) -> bool:
    return any(base.__module__ == "torch_geometric.nn.conv.message_passing" for base in type(module).__mro__)


def _obstacle(module: torch.nn.Module) -> str | None:
    """The reason not to replace a PyTorch Geometric layer by that of the same name, or None."""
    name = type(module).__name__
    aggr: Any = module.aggr
    if LAYERS[name] is pna_conv.PNAConv:
        if unknown := [each for each in names_of(module.aggr_module) if each not in AGGREGATORS]:
            return f"{unknown[0]!r} is not one of the aggregators {', '.join(map(repr, AGGREGATORS))}"
    elif not isinstance(aggr, str) or aggr not in REDUCE:
        return f"aggr={aggr!r} is not one of {', '.join(map(repr, REDUCE))}"
    if issubclass(LAYERS[name], AttentionLayer) and REDUCE[aggr] != "sum":
        return f"aggr={aggr!r}, and the attention layers of tgraph.nn only sum"
    steps = (getattr(type(module), step) for step in (*MESSAGES, "forward"))
    if "forward" in vars(module) or not all(map(is_from_pyg, steps)):
        return f"{name} was given a forward, or a step of it, that is not PyTorch Geometric's"
    if (step := changed_step(module, LAYERS[name].reduces_by)) is not None:
        return f"its {step} was replaced, or is hooked"
    return None


def _clear_cache(module: torch.nn.Module) -> None:
    """Clear the cache of a layer with cached=True: the two implementations store different things in it."""
    for name in ("_cached_edge_index", "_cached_adj_t"):
        if hasattr(module, name):
            setattr(module, name, None)


@functools.cache
def _replacement(name: str) -> type:
    """The class of replaced layers: a subclass of the TGraph layer, so that `restore` recognises them."""
    layer = LAYERS[name]
    return type(name, (layer,), {"__module__": __name__, "__doc__": layer.__doc__})


def __getattr__(name: str) -> type:
    """The classes of replaced layers, so that pickle finds them."""
    if name in LAYERS:
        return _replacement(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
