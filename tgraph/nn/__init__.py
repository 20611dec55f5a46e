"""Layers of graph neural networks, drop-in replacements for the PyTorch Geometric layers of the same name: the same
arguments, parameter names and results, computed by TGraph's operators. PyTorch Geometric is optional.

Where it is installed the layers derive from its layers (`conv/namesakes.py`), so that `to_hetero`, the explainers and
other code that requires its classes accept them. It is imported when a layer is first accessed.
"""

from typing import TYPE_CHECKING

from tgraph.deferred import at_first_access
from tgraph.nn.conv.linear import Linear
from tgraph.nn.edge_index import forget

if TYPE_CHECKING:
    from tgraph.nn.accelerated import Acceleration, accelerate, restore
    from tgraph.nn.conv.appnp import APPNP
    from tgraph.nn.conv.edge_conv import EdgeConv
    from tgraph.nn.conv.gat_conv import GATConv
    from tgraph.nn.conv.gatv2_conv import GATv2Conv
    from tgraph.nn.conv.gcn_conv import GCNConv
    from tgraph.nn.conv.gin_conv import GINConv, GINEConv
    from tgraph.nn.conv.graph_conv import GraphConv
    from tgraph.nn.conv.hgt_conv import HGTConv
    from tgraph.nn.conv.layer import MessagePassing
    from tgraph.nn.conv.pna_conv import PNAConv
    from tgraph.nn.conv.res_gated_graph_conv import ResGatedGraphConv
    from tgraph.nn.conv.rgcn_conv import RGCNConv
    from tgraph.nn.conv.sage_conv import SAGEConv
    from tgraph.nn.conv.sg_conv import SGConv
    from tgraph.nn.conv.transformer_conv import TransformerConv

__all__ = [
    "APPNP",
    "Acceleration",
    "EdgeConv",
    "GATConv",
    "GATv2Conv",
    "GCNConv",
    "GINConv",
    "GINEConv",
    "GraphConv",
    "HGTConv",
    "Linear",
    "MessagePassing",
    "PNAConv",
    "RGCNConv",
    "ResGatedGraphConv",
    "SAGEConv",
    "SGConv",
    "TransformerConv",
    "accelerate",
    "forget",
    "restore",
]

# The modules of the names that are imported at first access.
_HOMES = {
    "HGTConv": "tgraph.nn.conv.hgt_conv",
    "PNAConv": "tgraph.nn.conv.pna_conv",
    "RGCNConv": "tgraph.nn.conv.rgcn_conv",
    "ResGatedGraphConv": "tgraph.nn.conv.res_gated_graph_conv",
    "EdgeConv": "tgraph.nn.conv.edge_conv",
    "GINEConv": "tgraph.nn.conv.gin_conv",
    "SGConv": "tgraph.nn.conv.sg_conv",
    "GraphConv": "tgraph.nn.conv.graph_conv",
    "APPNP": "tgraph.nn.conv.appnp",
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

__getattr__, __dir__ = at_first_access(globals(), _HOMES)
