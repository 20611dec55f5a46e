"""`accelerate` has a model made of PyTorch Geometric's layers run on ours, and `restore` has it run as before.

A layer that is replaced stays the same object, with the same parameters, buffers, hooks and place in the model: its
class changes to one derived from ours, which derive from PyTorch Geometric's.
"""

from __future__ import annotations

import functools
import importlib
from dataclasses import dataclass, field
from typing import Any

import torch

from tgraph.nn.conv import gat_conv, gatv2_conv, gcn_conv, gin_conv, sage_conv, transformer_conv
from tgraph.nn.conv.attention_base import AttentionLayer
from tgraph.nn.conv.layer import MESSAGES, REDUCE, MessagePassing, changed_step, is_theirs

# Where PyTorch Geometric has the layers that are replaced, and ours.
LAYERS: dict[str, tuple[str, type[MessagePassing]]] = {
    "GATConv": ("gat_conv", gat_conv.GATConv),
    "GATv2Conv": ("gatv2_conv", gatv2_conv.GATv2Conv),
    "GCNConv": ("gcn_conv", gcn_conv.GCNConv),
    "GINConv": ("gin_conv", gin_conv.GINConv),
    "SAGEConv": ("sage_conv", sage_conv.SAGEConv),
    "TransformerConv": ("transformer_conv", transformer_conv.TransformerConv),
}
CONV = "torch_geometric.nn.conv"


@dataclass
class Acceleration:
    """What `accelerate` did. replaced : the layers that now run on our operators, {place in the model: name of the
    class}. kept : those that do not, {place in the model: reason}."""

    replaced: dict[str, str] = field(default_factory=dict)
    kept: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        lines = [f"{place or 'the model'}: {name}, replaced" for place, name in self.replaced.items()]
        lines += [f"{place or 'the model'}: kept, {reason}" for place, reason in self.kept.items()]
        return "\n".join(lines) or "no layers of PyTorch Geometric"


def accelerate(model: torch.nn.Module) -> Acceleration:
    """Replace PyTorch Geometric's layers in a model by ours, in place, where we have them.

    model : any module. Its parameters stay the same objects, so that optimizers go on as they are; so do its
    state_dict, repr and training mode. A layer that is being explained, or whose messages are hooked, or that is given
    a `message` or `aggregate` of its own afterwards, computes as PyTorch Geometric has it for as long; one that has its
    own already stays as it is.

    Returns what was replaced, and what was not and why.
    """
    done = Acceleration()
    for place, module in model.named_modules():
        if isinstance(module, MessagePassing) or not _passes_messages(module):
            continue
        if (reason := _obstacle(module)) is not None:
            done.kept[place] = reason
            continue
        name = type(module).__name__
        _forget(module)
        module.__class__ = _both(name)
        done.replaced[place] = name
    return done


def restore(model: torch.nn.Module) -> list[str]:
    """Undo `accelerate` in a `model`, in place. Returns the places of the layers that compute as before."""
    places = []
    for place, module in model.named_modules():
        if type(module).__module__ == __name__:
            _forget(module)
            module.__class__ = _theirs(type(module).__name__)
            places.append(place)
    return places


def _passes_messages(module: torch.nn.Module) -> bool:
    return any(base.__module__ == f"{CONV}.message_passing" for base in type(module).__mro__)


def _obstacle(module: torch.nn.Module) -> str | None:
    """Why a layer of PyTorch Geometric is not replaced, None where it can be."""
    name = type(module).__name__
    if name not in LAYERS or type(module).__module__ != f"{CONV}.{LAYERS[name][0]}":
        derived = [base.__name__ for base in type(module).__mro__[1:] if base.__name__ in LAYERS]
        return f"{name} may change what {derived[0]} does" if derived else f"there is no {name} of ours"
    aggr: Any = module.aggr
    if not isinstance(aggr, str) or aggr not in REDUCE:
        return f"aggr={aggr!r} is not one of {', '.join(map(repr, REDUCE))}"
    if issubclass(LAYERS[name][1], AttentionLayer) and REDUCE[aggr] != "sum":
        return f"aggr={aggr!r}, and attention of ours only sums"
    if "forward" in vars(module) or not all(is_theirs(getattr(type(module), step)) for step in (*MESSAGES, "forward")):
        return f"{name} was given a forward, or a step of it, that is not PyTorch Geometric's"
    if (step := changed_step(module)) is not None:
        return f"its {step} was replaced, or is hooked"
    return None


def _forget(module: torch.nn.Module) -> None:
    """Drop what a layer with cached=True keeps: each side keeps something else."""
    for name in ("_cached_edge_index", "_cached_adj_t"):
        if hasattr(module, name):
            setattr(module, name, None)


def _theirs(name: str) -> type:
    return getattr(importlib.import_module(f"{CONV}.{LAYERS[name][0]}"), name)


@functools.cache
def _both(name: str) -> type:
    """The class of the layers that were replaced: ours, as one to be told from those that were made so."""
    ours = LAYERS[name][1]
    return type(name, (ours,), {"__module__": __name__, "__doc__": ours.__doc__})


def __getattr__(name: str) -> type:
    """The classes that layers get, for pickle to find them."""
    if name in LAYERS:
        return _both(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
