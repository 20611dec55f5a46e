"""Synthetic graphs: random models, trees, lattices and well-known small ones.

The same arguments give the same graph on every machine, with any number of threads and with every version of the
libraries: the draw of an edge or a vertex is a function of the seed and of its number (`tgraph.random`), in integers or
in operations that IEEE 754 rounds exactly. Vertices are numbered 0..n-1. Graphs are simple by default: self-loops and
parallel edges of a model are dropped.
"""

from tgraph.generators.blocks import lfr, stochastic_block_model
from tgraph.generators.classic import (
    barbell,
    complete,
    complete_bipartite,
    complete_multipartite,
    cycle,
    hypercube,
    ladder,
    lollipop,
    path,
    star,
    wheel,
)
from tgraph.generators.degrees import configuration_model, random_regular
from tgraph.generators.famous import famous
from tgraph.generators.geometric import hyperbolic, random_geometric
from tgraph.generators.grid import grid2d
from tgraph.generators.growing import barabasi_albert, watts_strogatz
from tgraph.generators.kronecker import kronecker, rmat
from tgraph.generators.pairs import erdos_renyi, random_edges, uniform
from tgraph.generators.trees import balanced_tree, random_tree

__all__ = [
    "balanced_tree",
    "barabasi_albert",
    "barbell",
    "complete",
    "complete_bipartite",
    "complete_multipartite",
    "configuration_model",
    "cycle",
    "erdos_renyi",
    "famous",
    "grid2d",
    "hyperbolic",
    "hypercube",
    "kronecker",
    "ladder",
    "lfr",
    "lollipop",
    "path",
    "random_edges",
    "random_geometric",
    "random_regular",
    "random_tree",
    "rmat",
    "star",
    "stochastic_block_model",
    "uniform",
    "watts_strogatz",
    "wheel",
]
