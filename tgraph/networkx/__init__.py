"""networkx's interface to graphs in tensors.

`Graph`, `DiGraph`, `MultiGraph` and `MultiDiGraph` are read as networkx's classes of the same names are, and cannot be
changed. `convert_from_nx` and `convert_to_nx` translate to and from networkx's own. `explain` lists the calls of
networkx's functions that ran on tgraph, and the reasons against others.
"""

import networkx as nx

if tuple(map(int, nx.__version__.split(".")[:2])) < (3, 5):
    raise ImportError(f"networkx {nx.__version__} is too old: tgraph.networkx needs 3.5 (for Python 3.11) or later")

from tgraph.networkx.convert import convert_from_nx, convert_to_nx
from tgraph.networkx.graph import DiGraph, Graph, MultiDiGraph, MultiGraph
from tgraph.networkx.history import explain

__all__ = ["DiGraph", "Graph", "MultiDiGraph", "MultiGraph", "convert_from_nx", "convert_to_nx", "explain"]
