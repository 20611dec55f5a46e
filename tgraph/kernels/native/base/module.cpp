// The extension module tgraph._native: calls the bind_* function of each file of kernels, and binds thread control.
#include <nanobind/stl/string.h>

#include "base/kernels.hpp"
#include "threads/census.hpp"
#include "threads/cpus.hpp"
#include "threads/crowd.hpp"
#include "threads/team.hpp"

namespace {

void check_signals() {
    const nanobind::gil_scoped_acquire held;
    if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
}

nanobind::dict cpus() {
    const tgraph::Cpus found = tgraph::find_cpus();
    nanobind::dict facts;
    facts["online"] = found.online;
    facts["affinity"] = found.affinity;
    facts["quota"] = found.quota;
    facts["demanded"] = found.demanded;
    facts["usable"] = found.usable;
    return facts;
}

// One dictionary per source location of parallel regions.
nanobind::list census() {
    nanobind::list places;
    for (const tgraph::PlaceCount& count : tgraph::census()) {
        nanobind::dict facts;
        facts["file"] = count.place.file;
        facts["line"] = count.place.line;
        facts["regions"] = count.regions;
        facts["chunks"] = count.chunks;
        facts["threads"] = count.threads;
        facts["seconds"] = count.seconds;
        facts["most"] = count.most;
        facts["longest_chunk"] = count.longest_chunk;
        facts["spread"] = count.spread;
        places.append(facts);
    }
    return places;
}

}  // namespace

NB_MODULE(_native, module) {
    module.doc() = "Compiled CPU kernels of tgraph.";
    tgraph::set_interruption_hook(&check_signals);
    module.def("thread_count", &tgraph::thread_count, "Maximum number of threads of kernels called from this thread.");
    module.def("cpus", &cpus, "Queries how many CPUs this process may use.");
    module.def("cpu_quota", &tgraph::cpu_quota, nanobind::arg("root"),
               "CPU quota by the control groups whose files lie below a folder, in CPUs; 0 for no limit.");
    module.def("used_by_others", &tgraph::used_by_others,
               "CPUs in use by other processes when a kernel last measured it; 0 before the second measurement.");
    module.def("limit_threads", &tgraph::limit_threads, nanobind::arg("count"),
               "Limits the threads of kernels called from this thread; returns the previous limit.");
    module.def("hold_torch", &tgraph::hold_torch,
               "Restricts torch to one thread; returns the argument of `release_torch`.");
    module.def("release_torch", &tgraph::release_torch, nanobind::arg("threads"), "Undoes `hold_torch`.");
    module.def("take_census", &tgraph::take_census, nanobind::arg("taken"),
               "Starts or ends profiling the parallel regions of this thread, which run on one thread meanwhile.");
    module.def("census", &census, "The profile by source location: time of regions on one thread, and the time "
               "estimated for their number of threads.");
    tgraph::bind_csr(module);
    tgraph::bind_add_rows(module);
    tgraph::bind_batch_sums(module);
    tgraph::bind_edge_index(module);
    tgraph::bind_values(module);
    tgraph::bind_pages(module);
    tgraph::bind_aggregate(module);
    tgraph::bind_attention(module);
    tgraph::bind_relax(module);
    tgraph::bind_bitmaps(module);
    tgraph::bind_power(module);
    tgraph::bind_gauss_seidel_columns(module);
    tgraph::bind_join(module);
    tgraph::bind_local_relax(module);
    tgraph::bind_block(module);
    tgraph::bind_sweep(module);
    tgraph::bind_intersect(module);
    tgraph::bind_peel(module);
    tgraph::bind_point_to_point(module);
    tgraph::bind_parents(module);
    tgraph::bind_bellman_ford(module);
    tgraph::bind_k_shortest(module);
    tgraph::bind_max_flow(module);
    tgraph::bind_walks(module);
    tgraph::bind_sample_negatives(module);
    tgraph::bind_sample_neighbors(module);
    tgraph::bind_arcs_from(module);
    tgraph::bind_least_arcs(module);
    tgraph::bind_push_residuals(module);
    tgraph::bind_push_sums(module);
    tgraph::bind_most_visited(module);
    tgraph::bind_number_vertices(module);
    tgraph::bind_global_cut(module);
    tgraph::bind_floyd_warshall(module);
    tgraph::bind_depth_first(module);
    tgraph::bind_search(module);
    tgraph::bind_weighted_search(module);
    tgraph::bind_triangle_edges(module);
    tgraph::bind_truss(module);
    tgraph::bind_onion(module);
    tgraph::bind_squares(module);
    tgraph::bind_cliques(module);
    tgraph::bind_boruvka(module);
    tgraph::bind_independent_set(module);
    tgraph::bind_suitor(module);
    tgraph::bind_bipartite(module);
    tgraph::bind_vote(module);
    tgraph::bind_multi_source(module);
    tgraph::bind_sample_paths(module);
    tgraph::bind_path_counts(module);
    tgraph::bind_sell(module);
    tgraph::bind_dag(module);
    tgraph::bind_pairs(module);
    tgraph::bind_cbm(module);
    tgraph::bind_unfold(module);
    tgraph::bind_tiles(module);
    tgraph::bind_mirror(module);
    tgraph::bind_mutual(module);
    tgraph::bind_sort_changes(module);
    tgraph::bind_splice(module);
    tgraph::bind_read_rows(module);
    tgraph::bind_line_graph(module);
    tgraph::bind_elias_fano(module);
    tgraph::bind_read_pieces(module);
    tgraph::bind_correlation(module);
    tgraph::bind_dicts(module);
    tgraph::bind_lookup(module);
    tgraph::bind_move(module);
    tgraph::bind_contract(module);
    tgraph::bind_spgemm(module);
    tgraph::bind_dot(module);
    tgraph::bind_nearest(module);
    tgraph::bind_repulsion(module);
    tgraph::bind_strong_components(module);
    tgraph::bind_biconnected(module);
    tgraph::bind_transitive(module);
    tgraph::bind_two_coloring(module);
    tgraph::bind_cycles(module);
    tgraph::bind_topological(module);
    tgraph::bind_coloring(module);
    tgraph::bind_followed_rows(module);
    tgraph::bind_settle(module);
    tgraph::bind_follow_push(module);
}
