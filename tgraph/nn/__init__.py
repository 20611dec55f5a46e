"""Layers of graph neural networks, drop-in for their namesakes in PyTorch Geometric: the same arguments, names of
parameters and numbers, on our operators. PyTorch Geometric is not needed to use them."""

from tgraph.nn.gcn_conv import GCNConv
from tgraph.nn.gin_conv import GINConv
from tgraph.nn.layer import MessagePassing
from tgraph.nn.linear import Linear
from tgraph.nn.sage_conv import SAGEConv

__all__ = ["GCNConv", "GINConv", "Linear", "MessagePassing", "SAGEConv"]
