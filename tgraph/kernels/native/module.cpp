// The extension module tgraph._native: one bind_* function per file of kernels.
#include <utility>

#include "bindings.hpp"
#include "parallel.hpp"

namespace tgraph {

void bind_edge_index(nb::module_& module);

}  // namespace tgraph

NB_MODULE(_native, module) {
    module.doc() = "Compiled CPU kernels of tgraph.";
    module.def("thread_count", &tgraph::thread_count, "Threads that the kernels use at most.");
    module.def(
        "limit_threads", [](int count) { return std::exchange(tgraph::thread_limit, count); },
        "Lets kernels that are called from this thread use at most so many; returns what the limit was.");
    tgraph::bind_csr(module);
    tgraph::bind_edge_index(module);
    tgraph::bind_pages(module);
    tgraph::bind_aggregate(module);
    tgraph::bind_attention(module);
    tgraph::bind_edges(module);
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
