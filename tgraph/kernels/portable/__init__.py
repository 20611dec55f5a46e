"""The portable backend: torch operators only, any device, any dtype, differentiable. The reference for all others."""

from __future__ import annotations

from tgraph.kernels.call import Call
from tgraph.kernels.portable.adjoints import argreduce, products, push_rows
from tgraph.kernels.portable.aggregation import aggregate
from tgraph.kernels.portable.algebra.dot import dot_pairs
from tgraph.kernels.portable.algebra.nearest import nearest_rows
from tgraph.kernels.portable.algebra.spgemm import spgemm
from tgraph.kernels.portable.attention import attend, attend_backward, attention_weights
from tgraph.kernels.portable.centrality.level_accumulate import levels, sweep
from tgraph.kernels.portable.centrality.multi_source import count_hops, count_levels
from tgraph.kernels.portable.centrality.path_counts import add_along_arcs, count_paths
from tgraph.kernels.portable.centrality.sample_paths import paths_inside
from tgraph.kernels.portable.cohesion.intersect import count_arcs_among, count_triangles
from tgraph.kernels.portable.cohesion.k_core import peel
from tgraph.kernels.portable.community.communities import (
    contract_groups,
    move_vertices,
    number_groups,
    sum_inside,
)
from tgraph.kernels.portable.community.label_propagation import vote
from tgraph.kernels.portable.components.biconnected import biconnect
from tgraph.kernels.portable.components.coloring import color_in_order
from tgraph.kernels.portable.components.strong_components import label_strong
from tgraph.kernels.portable.components.topological import has_cycle, longest, topological_levels
from tgraph.kernels.portable.components.transitive import replaced_arcs
from tgraph.kernels.portable.components.two_coloring import color_by_depth, has_odd_cycle
from tgraph.kernels.portable.components.union_find import join, outside
from tgraph.kernels.portable.flow.max_flow import max_flow
from tgraph.kernels.portable.gauss_seidel import gauss_seidel_step
from tgraph.kernels.portable.linear import affine_step
from tgraph.kernels.portable.paths.shortest_paths import (
    bellman_ford,
    fewest_hops,
    hops,
    k_shortest,
    parents,
    shortest_path,
)
from tgraph.kernels.portable.relaxation import relax
from tgraph.kernels.portable.rounds import Rounds as rounds
from tgraph.kernels.portable.values import convert, fill, number, replace

__all__ = [
    "add_along_arcs",
    "affine_step",
    "aggregate",
    "argreduce",
    "attend",
    "attend_backward",
    "attention_weights",
    "bellman_ford",
    "biconnect",
    "color_by_depth",
    "color_in_order",
    "contract_groups",
    "convert",
    "count_arcs_among",
    "count_hops",
    "count_levels",
    "count_paths",
    "count_triangles",
    "dot_pairs",
    "fewest_hops",
    "fill",
    "gauss_seidel_step",
    "has_cycle",
    "has_odd_cycle",
    "hops",
    "join",
    "k_shortest",
    "label_strong",
    "levels",
    "longest",
    "max_flow",
    "move_vertices",
    "name",
    "nearest_rows",
    "number",
    "number_groups",
    "outside",
    "parents",
    "paths_inside",
    "peel",
    "products",
    "push_rows",
    "refuses",
    "relax",
    "replace",
    "replaced_arcs",
    "rounds",
    "shortest_path",
    "spgemm",
    "sum_inside",
    "sweep",
    "topological_levels",
    "vote",
]

name = "portable"


def refuses(call: Call) -> str | None:
    """The portable backend serves everything."""
    return None
