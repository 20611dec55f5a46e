"""Layers of graph neural networks, drop-in for their namesakes in PyTorch Geometric: the same arguments, names of
parameters and numbers, on our operators. PyTorch Geometric is not needed to use them.

What of PyTorch Geometric asks for layers of its own class, `to_hetero` and its explainers, takes these after
`accelerate`."""

from tgraph.nn.accelerated import Acceleration, accelerate, restore
from tgraph.nn.advice import advise
from tgraph.nn.edge_index import forget
from tgraph.nn.findings import Advice
from tgraph.nn.gat_conv import GATConv
from tgraph.nn.gatv2_conv import GATv2Conv
from tgraph.nn.gcn_conv import GCNConv
from tgraph.nn.gin_conv import GINConv
from tgraph.nn.layer import MessagePassing
from tgraph.nn.linear import Linear
from tgraph.nn.sage_conv import SAGEConv
from tgraph.nn.transformer_conv import TransformerConv

__all__ = [
    "Acceleration",
    "Advice",
    "GATConv",
    "GATv2Conv",
    "GCNConv",
    "GINConv",
    "Linear",
    "MessagePassing",
    "SAGEConv",
    "TransformerConv",
    "accelerate",
    "advise",
    "forget",
    "restore",
]
