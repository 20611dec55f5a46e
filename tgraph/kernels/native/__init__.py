"""The native backend: compiled kernels for the CPU, whose C++ lies beside this file."""

from __future__ import annotations

from collections.abc import Callable

import torch

from tgraph.core.dispatch import BACKENDS
from tgraph.kernels.call import Call
from tgraph.kernels.native.aggregation import add_rows, aggregation, csr_sums, sell, tiles
from tgraph.kernels.native.aggregation import products as products_of_segments
from tgraph.kernels.native.aggregation import rows as reduced_rows
from tgraph.kernels.native.aggregation.aggregation import (
    aggregate,
    argreduce,
    products,
    push_rows,
    scatter_argreduce,
    segment_argreduce,
)
from tgraph.kernels.native.algebra import products as products_of_matrices
from tgraph.kernels.native.algebra.products import dot_pairs, nearest_rows, spgemm
from tgraph.kernels.native.attention import attention
from tgraph.kernels.native.attention.attention import attend, attend_backward, attention_weights
from tgraph.kernels.native.base import values
from tgraph.kernels.native.base.support import refuses_wide_rows, unavailable
from tgraph.kernels.native.base.values import convert, fill, number, replace
from tgraph.kernels.native.centrality import level_accumulate, path_counts
from tgraph.kernels.native.centrality.level_accumulate import levels, sweep
from tgraph.kernels.native.centrality.multi_source import count_hops, count_levels
from tgraph.kernels.native.centrality.path_counts import add_along_arcs, count_paths
from tgraph.kernels.native.centrality.sample_paths import paths_inside
from tgraph.kernels.native.changes import changes
from tgraph.kernels.native.cohesion import cliques, peeling
from tgraph.kernels.native.cohesion.intersect import count_arcs_among, count_triangles
from tgraph.kernels.native.cohesion.k_core import peel
from tgraph.kernels.native.coloring.coloring import color_in_order
from tgraph.kernels.native.coloring.two_coloring import color_by_depth
from tgraph.kernels.native.community.communities import (
    contract_groups,
    move_vertices,
    number_groups,
    sum_inside,
)
from tgraph.kernels.native.community.label_propagation import vote
from tgraph.kernels.native.components import union_find
from tgraph.kernels.native.components.biconnected import biconnect
from tgraph.kernels.native.components.strong_components import label_strong
from tgraph.kernels.native.components.union_find import join, outside
from tgraph.kernels.native.compressed import cbm, evaluate, pairing, unfolding
from tgraph.kernels.native.csr import degree_weights, edge_index, elias_fano, rows, sorting
from tgraph.kernels.native.dag import topological
from tgraph.kernels.native.dag.cycles import has_cycle, has_odd_cycle
from tgraph.kernels.native.dag.topological import longest, topological_levels
from tgraph.kernels.native.dag.transitive import replaced_arcs
from tgraph.kernels.native.dicts import dicts
from tgraph.kernels.native.files import pieces
from tgraph.kernels.native.flow import global_cut
from tgraph.kernels.native.flow.max_flow import max_flow
from tgraph.kernels.native.geometry import repulsion
from tgraph.kernels.native.linear import gauss_seidel, linear
from tgraph.kernels.native.linear.gauss_seidel import gauss_seidel_step
from tgraph.kernels.native.linear.linear import affine_step
from tgraph.kernels.native.matching import matching
from tgraph.kernels.native.paths import floyd_warshall, search, shortest_paths
from tgraph.kernels.native.paths.shortest_paths import (
    bellman_ford,
    fewest_hops,
    hops,
    k_shortest,
    parents,
    shortest_path,
)
from tgraph.kernels.native.relaxation import bitmaps, blocks, relaxation
from tgraph.kernels.native.relaxation.relaxation import Fixpoint as fixpoint
from tgraph.kernels.native.relaxation.rounds import Rounds as rounds
from tgraph.kernels.native.sampling import labor, members, negatives, places, push, visits
from tgraph.kernels.native.sampling import neighbors as sampled_neighbors
from tgraph.kernels.native.sets import independent_set
from tgraph.kernels.native.structure import correlation, line_graph, mutual
from tgraph.kernels.native.trees import boruvka
from tgraph.kernels.native.walks import walks

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
    "fixpoint",
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
    "replace",
    "replaced_arcs",
    "rounds",
    "scatter_argreduce",
    "segment_argreduce",
    "shortest_path",
    "spgemm",
    "sum_inside",
    "sweep",
    "topological_levels",
    "unavailable",
    "vote",
]

name = "native"


def refuses(call: Call) -> str | None:
    """Why a call is not served: the reason that holds for all operations, then that of the operation itself."""
    if not call.data.is_cpu:
        return f"it computes on the CPU, the data is on {call.data.device}"
    if torch.compiler.is_compiling():
        return "torch.compile cannot look into it"
    if (reason := unavailable()) is not None or call.operation not in _REFUSALS:
        return reason
    return _REFUSALS[call.operation](call)


# Operations whose kernels take neighbours in int32.
_OF_NARROW_ROWS = (
    "biconnect",
    "color_by_depth",
    "color_in_order",
    "count_arcs_among",
    "count_hops",
    "count_levels",
    "count_triangles",
    "has_cycle",
    "has_odd_cycle",
    "label_strong",
    "paths_inside",
    "replaced_arcs",
    "topological_levels",
)

# Why a call of an operation is refused; the others are supported whenever the kernels are.
_REFUSALS: dict[str, Callable[[Call], str | None]] = {
    **dict.fromkeys(_OF_NARROW_ROWS, refuses_wide_rows),
    "aggregate": aggregation.refuses,
    "attend": attention.refuses,
    "attend_backward": attention.refuses,
    "attention_weights": attention.refuses,
    "push_rows": aggregation.refuses_push_rows,
    "products": aggregation.refuses_adjoints,
    "argreduce": aggregation.refuses_adjoints,
    "segment_argreduce": aggregation.refuses_adjoints,
    "scatter_argreduce": aggregation.refuses_adjoints,
    "fixpoint": relaxation.refuses,
    "rounds": relaxation.refuses,
    "affine_step": linear.refuses,
    "gauss_seidel_step": gauss_seidel.refuses,
    "join": union_find.refuses,
    "outside": union_find.refuses,
    "levels": level_accumulate.refuses_levels,
    "sweep": level_accumulate.refuses,
    "add_along_arcs": path_counts.refuses,
    "count_paths": path_counts.refuses,
    "dot_pairs": products_of_matrices.refuses,
    "nearest_rows": products_of_matrices.refuses,
    "spgemm": products_of_matrices.refuses,
    "parents": shortest_paths.refuses_parents,
    "longest": topological.refuses_longest,
    "fill": values.refuses,
    "number": values.refuses,
    "replace": values.refuses,
    "convert": values.refuses,
}

# Operators on tensors, by topic.
for _module in (
    *(changes, correlation, degree_weights, edge_index, elias_fano, line_graph, mutual, rows, sorting),
    repulsion,
    *(add_rows, csr_sums, products_of_segments, reduced_rows, sell, tiles),
    *(cbm, evaluate, pairing, unfolding),
    *(bitmaps, blocks, search),
    *(floyd_warshall, gauss_seidel, global_cut, walks),
    *(labor, members, negatives, places, push, sampled_neighbors, visits),
    *(dicts, pieces),
    *(cliques, peeling),
    *(boruvka, independent_set, matching),
):
    BACKENDS[name].operators.update(_module.OPERATORS)
