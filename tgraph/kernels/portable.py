"""The portable backend: torch operators only, any device, any dtype, differentiable. The reference for all others."""

from __future__ import annotations

from tgraph.kernels.call import Call
from tgraph.kernels.operators.aggregation.adjoints import argreduce, products, push_rows
from tgraph.kernels.operators.aggregation.aggregation import aggregate
from tgraph.kernels.operators.algebra.dot import dot_pairs
from tgraph.kernels.operators.algebra.nearest import nearest_rows
from tgraph.kernels.operators.algebra.spgemm import spgemm
from tgraph.kernels.operators.attention import attend, attend_backward, attention_weights
from tgraph.kernels.operators.centrality.level_accumulate import levels, sweep
from tgraph.kernels.operators.centrality.multi_source import count_hops, count_levels
from tgraph.kernels.operators.centrality.path_counts import add_along_arcs, count_paths
from tgraph.kernels.operators.centrality.sample_paths import paths_inside
from tgraph.kernels.operators.cohesion.intersect import count_arcs_among, count_triangles
from tgraph.kernels.operators.cohesion.k_core import peel
from tgraph.kernels.operators.coloring.coloring import color_in_order
from tgraph.kernels.operators.coloring.two_coloring import color_by_depth, has_odd_cycle
from tgraph.kernels.operators.community.communities import contract_groups, move_vertices, number_groups, sum_inside
from tgraph.kernels.operators.community.label_propagation import vote
from tgraph.kernels.operators.components.biconnected import biconnect
from tgraph.kernels.operators.components.strong_components import label_strong
from tgraph.kernels.operators.components.union_find import join, outside
from tgraph.kernels.operators.dag.topological import has_cycle, longest, topological_levels
from tgraph.kernels.operators.dag.transitive import replaced_arcs
from tgraph.kernels.operators.flow.max_flow import max_flow
from tgraph.kernels.operators.linear.gauss_seidel import gauss_seidel_step
from tgraph.kernels.operators.linear.linear import affine_step
from tgraph.kernels.operators.paths.shortest_paths import (
    bellman_ford,
    fewest_hops,
    hops,
    k_shortest,
    parents,
    shortest_path,
)
from tgraph.kernels.operators.relaxation.relaxation import relax
from tgraph.kernels.operators.relaxation.rounds import Rounds as rounds
from tgraph.kernels.operators.values import convert, fill, number, replace

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
