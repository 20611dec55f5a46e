// The extension module tgraph._native: one bind_* function per file of kernels.
#include <nanobind/stl/string.h>

#include "base/bindings.hpp"
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

// A dictionary for each place in the source where regions were run.
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

namespace tgraph {

void bind_batch_sums(nb::module_& module);
void bind_edge_index(nb::module_& module);
void bind_values(nb::module_& module);

}  // namespace tgraph

NB_MODULE(_native, module) {
    module.doc() = "Compiled CPU kernels of tgraph.";
    tgraph::set_interruption_hook(&check_signals);
    module.def("thread_count", &tgraph::thread_count, "Threads that kernels called from this thread use at most.");
    module.def("cpus", &cpus, "Looks again at how many processors the process may have.");
    module.def("cpu_quota", &tgraph::cpu_quota, nanobind::arg("root"),
               "Processors' worth of time by the control groups whose files lie below a folder; 0 for no limit.");
    module.def("used_by_others", &tgraph::used_by_others,
               "How many processors others used when a kernel last looked, 0 before two of them have.");
    module.def("limit_threads", &tgraph::limit_threads, nanobind::arg("count"),
               "Lets kernels that are called from this thread use at most so many; returns what the limit was.");
    module.def("hold_torch", &tgraph::hold_torch,
               "Lets torch compute on this thread alone; returns what to release.");
    module.def("release_torch", &tgraph::release_torch, nanobind::arg("threads"), "Undoes `hold_torch`.");
    module.def("take_census", &tgraph::take_census, nanobind::arg("taken"),
               "Begins or ends a census of the parallel regions of this thread, which runs them alone meanwhile.");
    module.def("census", &census, "What the census has counted, by place in the source: what regions took, and would "
               "take on their threads.");
    tgraph::bind_csr(module);
    tgraph::bind_batch_sums(module);
    tgraph::bind_edge_index(module);
    tgraph::bind_values(module);
    tgraph::bind_pages(module);
    tgraph::bind_aggregate(module);
    tgraph::bind_attention(module);
    tgraph::bind_relax(module);
    tgraph::bind_power(module);
    tgraph::bind_join(module);
    tgraph::bind_local_relax(module);
    tgraph::bind_block(module);
    tgraph::bind_sweep(module);
    tgraph::bind_intersect(module);
    tgraph::bind_peel(module);
    tgraph::bind_vote(module);
    tgraph::bind_sell(module);
    tgraph::bind_dag(module);
    tgraph::bind_pairs(module);
    tgraph::bind_cbm(module);
    tgraph::bind_unfold(module);
    tgraph::bind_tiles(module);
    tgraph::bind_mirror(module);
}
