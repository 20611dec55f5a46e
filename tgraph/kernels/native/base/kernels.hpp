// The bind_* function of each file of kernels. For module.cpp alone: a new file of kernels compiles no other anew.
#pragma once

#include <nanobind/nanobind.h>

namespace tgraph {

namespace nb = nanobind;

void bind_add_rows(nb::module_& module);
void bind_batch_sums(nb::module_& module);
void bind_edge_index(nb::module_& module);
void bind_values(nb::module_& module);
void bind_csr(nb::module_& module);
void bind_aggregate(nb::module_& module);
void bind_pages(nb::module_& module);
void bind_attention(nb::module_& module);
void bind_relax(nb::module_& module);
void bind_bitmaps(nb::module_& module);
void bind_power(nb::module_& module);
void bind_gauss_seidel_columns(nb::module_& module);
void bind_join(nb::module_& module);
void bind_local_relax(nb::module_& module);
void bind_block(nb::module_& module);
void bind_sweep(nb::module_& module);
void bind_intersect(nb::module_& module);
void bind_peel(nb::module_& module);
void bind_point_to_point(nb::module_& module);
void bind_parents(nb::module_& module);
void bind_bellman_ford(nb::module_& module);
void bind_k_shortest(nb::module_& module);
void bind_max_flow(nb::module_& module);
void bind_walks(nb::module_& module);
void bind_sample_negatives(nb::module_& module);
void bind_sample_neighbors(nb::module_& module);
void bind_arcs_from(nb::module_& module);
void bind_least_arcs(nb::module_& module);
void bind_push_residuals(nb::module_& module);
void bind_push_sums(nb::module_& module);
void bind_most_visited(nb::module_& module);
void bind_number_vertices(nb::module_& module);
void bind_global_cut(nb::module_& module);
void bind_floyd_warshall(nb::module_& module);
void bind_depth_first(nb::module_& module);
void bind_search(nb::module_& module);
void bind_weighted_search(nb::module_& module);
void bind_triangle_edges(nb::module_& module);
void bind_truss(nb::module_& module);
void bind_onion(nb::module_& module);
void bind_squares(nb::module_& module);
void bind_cliques(nb::module_& module);
void bind_boruvka(nb::module_& module);
void bind_independent_set(nb::module_& module);
void bind_suitor(nb::module_& module);
void bind_bipartite(nb::module_& module);
void bind_vote(nb::module_& module);
void bind_multi_source(nb::module_& module);
void bind_sample_paths(nb::module_& module);
void bind_path_counts(nb::module_& module);
void bind_sell(nb::module_& module);
void bind_dag(nb::module_& module);
void bind_pairs(nb::module_& module);
void bind_cbm(nb::module_& module);
void bind_unfold(nb::module_& module);
void bind_mirror(nb::module_& module);
void bind_mutual(nb::module_& module);
void bind_sort_changes(nb::module_& module);
void bind_read_rows(nb::module_& module);
void bind_splice(nb::module_& module);
void bind_line_graph(nb::module_& module);
void bind_elias_fano(nb::module_& module);
void bind_read_pieces(nb::module_& module);
void bind_correlation(nb::module_& module);
void bind_repulsion(nb::module_& module);
void bind_dicts(nb::module_& module);
void bind_lookup(nb::module_& module);
void bind_move(nb::module_& module);
void bind_contract(nb::module_& module);
void bind_tiles(nb::module_& module);
void bind_spgemm(nb::module_& module);
void bind_dot(nb::module_& module);
void bind_nearest(nb::module_& module);
void bind_strong_components(nb::module_& module);
void bind_biconnected(nb::module_& module);
void bind_transitive(nb::module_& module);
void bind_two_coloring(nb::module_& module);
void bind_cycles(nb::module_& module);
void bind_topological(nb::module_& module);
void bind_coloring(nb::module_& module);
void bind_followed_rows(nb::module_& module);
void bind_settle(nb::module_& module);
void bind_follow_push(nb::module_& module);

}  // namespace tgraph
