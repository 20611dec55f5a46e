"""The native backend: compiled kernels for the CPU, whose C++ lies beside this file. A module
that is imported here implements its operators; see `base.support`."""

# ruff: noqa: F401
from __future__ import annotations

from tgraph.core.dispatch import BACKENDS
from tgraph.kernels.native.aggregation import add_rows, aggregation, csr_sums, products, rows, sell, tiles
from tgraph.kernels.native.algebra import products as matrix_products
from tgraph.kernels.native.attention import attention
from tgraph.kernels.native.base import values
from tgraph.kernels.native.base.support import unavailable
from tgraph.kernels.native.centrality import level_accumulate, paths
from tgraph.kernels.native.changes import changes
from tgraph.kernels.native.cohesion import cliques, peeling
from tgraph.kernels.native.coloring import coloring
from tgraph.kernels.native.community import communities
from tgraph.kernels.native.components import components, union_find
from tgraph.kernels.native.compressed import cbm, evaluate, pairing, unfolding
from tgraph.kernels.native.csr import degree_weights, edge_index, elias_fano, sorting
from tgraph.kernels.native.csr import rows as csr_rows
from tgraph.kernels.native.dag import topological
from tgraph.kernels.native.dicts import dicts
from tgraph.kernels.native.files import pieces
from tgraph.kernels.native.flow import flow
from tgraph.kernels.native.geometry import repulsion
from tgraph.kernels.native.linear import gauss_seidel, linear
from tgraph.kernels.native.matching import matching
from tgraph.kernels.native.paths import search, shortest_paths
from tgraph.kernels.native.relaxation import bitmaps, blocks, relaxation, rounds, row_rounds
from tgraph.kernels.native.sampling import neighbors, sampling
from tgraph.kernels.native.sets import independent_set
from tgraph.kernels.native.structure import structure
from tgraph.kernels.native.trees import boruvka
from tgraph.kernels.native.walks import walks

BACKENDS["native"].unavailable = unavailable
