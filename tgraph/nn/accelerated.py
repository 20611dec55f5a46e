"""`accelerate` has a model made of PyTorch Geometric's layers run on ours, and `restore` has it run as before.

A layer that is replaced stays the same object, with the same parameters, buffers, hooks and place in the model: its
class changes, to one that is both PyTorch Geometric's and ours, and computes as ours does.
"""

from __future__ import annotations

import functools
import importlib
from dataclasses import dataclass, field
from typing import Any

import torch

from tgraph.nn import gat_conv, gatv2_conv, gcn_conv, gin_conv, sage_conv, transformer_conv
from tgraph.nn.attending import AttentionLayer
from tgraph.nn.layer import REDUCE, MessagePassing

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
    state_dict, repr and training mode. A layer that is being explained, or whose messages are hooked, computes as
    PyTorch Geometric has it for as long.

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
    """The class of a layer that is PyTorch Geometric's and computes as ours."""
    ours: Any = LAYERS[name][1]
    theirs: Any = _theirs(name)

    @functools.wraps(ours.forward)
    def forward(self: Any, *args: Any, **kwargs: Any) -> Any:
        return (theirs if _is_observed(self) else ours).forward(self, *args, **kwargs)

    def keep_templates(self: Any, raise_on_error: bool = False) -> None:
        """A copy would make the code that PyTorch Geometric generates for its class the original of this one, which
        explanations go back to."""

    own = {"forward": forward, "_set_jittable_templates": keep_templates}
    return type(name, (ours, theirs), {**own, "__module__": __name__, "__doc__": ours.__doc__})


HOOKS = ("propagate", "message", "aggregate", "message_and_aggregate", "edge_update")


def _is_observed(layer: Any) -> bool:
    """True where somebody looks at the messages, which ours never writes out."""
    return bool(layer.explain) or any(
        getattr(layer, f"_{of}_forward_pre_hooks") or getattr(layer, f"_{of}_forward_hooks") for of in HOOKS
    )


def __getattr__(name: str) -> type:
    """The classes that layers get, for pickle to find them."""
    if name in LAYERS:
        return _both(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
