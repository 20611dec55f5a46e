"""Layers of graph neural networks, drop-in for their namesakes in PyTorch Geometric: the same arguments, names of
parameters and numbers, on our operators. PyTorch Geometric is not needed to use them.

Where it is installed they derive from its layers (`namesakes.py`), and so what asks for these, `to_hetero` and the
explainers among others, takes ours. It is imported with the first layer that is asked for.
"""

import importlib
from typing import TYPE_CHECKING, Any

from tgraph.nn.conv.linear import Linear
from tgraph.nn.edge_index import forget

if TYPE_CHECKING:
    from tgraph.nn.accelerated import Acceleration, accelerate, restore
    from tgraph.nn.conv.gat_conv import GATConv
    from tgraph.nn.conv.gatv2_conv import GATv2Conv
    from tgraph.nn.conv.gcn_conv import GCNConv
    from tgraph.nn.conv.gin_conv import GINConv
    from tgraph.nn.conv.layer import MessagePassing
    from tgraph.nn.conv.sage_conv import SAGEConv
    from tgraph.nn.conv.transformer_conv import TransformerConv

__all__ = [
    "Acceleration",
    "GATConv",
    "GATv2Conv",
    "GCNConv",
    "GINConv",
    "Linear",
    "MessagePassing",
    "SAGEConv",
    "TransformerConv",
    "accelerate",
    "forget",
    "restore",
]

# The modules of what is imported at first use.
_HOMES = {
    "Acceleration": "tgraph.nn.accelerated",
    "GATConv": "tgraph.nn.conv.gat_conv",
    "GATv2Conv": "tgraph.nn.conv.gatv2_conv",
    "GCNConv": "tgraph.nn.conv.gcn_conv",
    "GINConv": "tgraph.nn.conv.gin_conv",
    "MessagePassing": "tgraph.nn.conv.layer",
    "SAGEConv": "tgraph.nn.conv.sage_conv",
    "TransformerConv": "tgraph.nn.conv.transformer_conv",
    "accelerate": "tgraph.nn.accelerated",
    "restore": "tgraph.nn.accelerated",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
