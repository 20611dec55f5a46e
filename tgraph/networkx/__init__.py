"""networkx's interface to graphs in tensors.

`Graph`, `DiGraph`, `MultiGraph` and `MultiDiGraph` are read as networkx's classes of the same names are, and cannot be
changed. `convert_from_nx` and `convert_to_nx` translate to and from networkx's own.
"""

from tgraph.networkx.convert import convert_from_nx, convert_to_nx
from tgraph.networkx.graph import DiGraph, Graph, MultiDiGraph, MultiGraph

__all__ = ["DiGraph", "Graph", "MultiDiGraph", "MultiGraph", "convert_from_nx", "convert_to_nx"]
