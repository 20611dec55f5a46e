// The extension module tgraph._native: calls the bind_* function of each file of kernels, and binds thread control.
#include "base/classes.hpp"
#include "base/kernels.hpp"
#include "base/simd.hpp"
#include "threads/census.hpp"
#include "threads/cpus.hpp"
#include "threads/crowd.hpp"
#include "threads/team.hpp"

namespace {

void check_signals() {
    const tgraph::nb::gil_scoped_acquire held;
    if (PyErr_CheckSignals() != 0) throw tgraph::nb::python_error();
}

tgraph::nb::dict cpus() {
    const tgraph::Cpus found = tgraph::find_cpus();
    tgraph::nb::dict facts;
    facts["online"] = found.online;
    facts["affinity"] = found.affinity;
    facts["quota"] = found.quota;
    facts["demanded"] = found.demanded;
    facts["usable"] = found.usable;
    return facts;
}

// One dictionary per source location of parallel regions.
tgraph::nb::list census() {
    tgraph::nb::list places;
    for (const tgraph::PlaceCount& count : tgraph::census()) {
        tgraph::nb::dict facts;
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

NB_MODULE(_native, python) {
    using namespace tgraph;
    python.doc() = "Compiled CPU kernels of tgraph.";
    python.def("are_common", &tgraph::are_common, tgraph::nb::arg("arguments"), tgraph::nb::arg("named"));
    python.def("cpus", &::cpus, "Queries how many CPUs this process may use.");
    python.def("instruction_set", &tgraph::instruction_set, "The largest one that kernels use on this machine.");
    python.def("census", &::census, "The profile by source location: time of regions on one thread, and the time "
               "estimated for their number of threads.");
    set_interruption_hook(&check_signals);
    nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
        try {
            std::rethrow_exception(thrown);
        } catch (const TypeError& error) {
            PyErr_SetString(PyExc_TypeError, error.what());
        }
    });
    Module module(python.ptr());
    module.def("thread_count", &thread_count, "", Gil::held);
    module.def("cpu_quota", &cpu_quota, "root", Gil::held);
    module.def("used_by_others", &used_by_others, "", Gil::held);
    module.def("limit_threads", &limit_threads, "count", Gil::held);
    module.def("hold_torch", &hold_torch, "", Gil::held);
    module.def("release_torch", &release_torch, "threads", Gil::held);
    module.def("take_census", &take_census, "taken", Gil::held);
    bind_csr(module);
    bind_add_rows(module);
    bind_batch_sums(module);
    bind_edge_index(module);
    bind_values(module);
    bind_pages(module);
    bind_aggregate(module);
    bind_attention(module);
    bind_relax(module);
    bind_row_rounds(module);
    bind_rings(module);
    bind_bitmaps(module);
    bind_power(module);
    bind_gauss_seidel_columns(module);
    bind_join(module);
    bind_local_relax(module);
    bind_block(module);
    bind_sweep(module);
    bind_intersect(module);
    bind_peel(module);
    bind_point_to_point(module);
    bind_parents(module);
    bind_bellman_ford(module);
    bind_lengths(module);
    bind_k_shortest(module);
    bind_max_flow(module);
    bind_walks(module);
    bind_sample_negatives(module);
    bind_sample_neighbors(module);
    bind_arcs_from(module);
    bind_least_arcs(module);
    bind_push_residuals(module);
    bind_push_sums(module);
    bind_most_visited(module);
    bind_number_vertices(module);
    bind_global_cut(module);
    bind_floyd_warshall(module);
    bind_depth_first(module);
    bind_search(module);
    bind_weighted_search(module);
    bind_triangle_edges(module);
    bind_truss(module);
    bind_onion(module);
    bind_squares(module);
    bind_cliques(module);
    bind_boruvka(module);
    bind_independent_set(module);
    bind_suitor(module);
    bind_bipartite(module);
    bind_vote(module);
    bind_multi_source(module);
    bind_sample_paths(module);
    bind_path_counts(module);
    bind_sell(module);
    bind_dag(module);
    bind_pairs(module);
    bind_cbm(module);
    bind_unfold(module);
    bind_tiles(module);
    bind_mirror(module);
    bind_sort_rows(module);
    bind_mutual(module);
    bind_sort_changes(module);
    bind_splice(module);
    bind_read_rows(module);
    bind_line_graph(module);
    bind_elias_fano(module);
    bind_read_pieces(module);
    bind_correlation(module);
    bind_dicts(module);
    bind_lookup(module);
    bind_move(module);
    bind_contract(module);
    bind_spgemm(module);
    bind_dot(module);
    bind_nearest(module);
    bind_repulsion(module);
    bind_strong_components(module);
    bind_biconnected(module);
    bind_transitive(module);
    bind_two_coloring(module);
    bind_cycles(module);
    bind_topological(module);
    bind_coloring(module);
    bind_followed_rows(module);
    bind_settle(module);
    bind_follow_push(module);
}
