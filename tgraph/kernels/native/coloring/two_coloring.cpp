// Colours the vertices of an undirected graph by the parity of their depth, up to the first edge between equals.
#include <algorithm>
#include <atomic>
#include <cstdint>

#include "components/breadth_first.hpp"

namespace tgraph {
namespace {

// The depth of each vertex from the smallest vertex of its component. Returns -1, or the first vertex with a neighbor
// of its own depth: components, levels and vertices in ascending order. What comes behind it is left at depth -1.
int64_t color_by_depth(In<int64_t> offset, In<Neighbor> neighbors, Out<int64_t> depth) {
    const GraphRows arcs(offset, neighbors);
    const int64_t n = arcs.num_vertices;
    const Scratch<Neighbor> level(n);
    const Neighbor* const found = level.data();
    fill(level.data(), n, BreadthFirst::unseen);
    BreadthFirst search(arcs, arcs, level.data());
    std::atomic<int64_t> first{n};

    const auto conflicts = [&](int64_t v) {
        for (int64_t i = arcs.offset[v]; i < arcs.offset[v + 1]; ++i)
            if (found[arcs.neighbors[i]] == found[v]) return true;
        return false;
    };
    const auto visit = [&](Range range) {
        const Neighbor* const order = search.order();
        constexpr int64_t some = 64;
        const int64_t count = range.end - range.begin;
        for_each_chunk((count + some - 1) / some, count < 16 * some ? 1 : thread_count(), [&](int64_t chunk) {
            const int64_t begin = range.begin + chunk * some;
            for (int64_t i = begin; i < std::min(begin + some, range.end); ++i) {
                const int64_t v = order[i];
                int64_t least = first.load(std::memory_order_relaxed);
                if (v >= least || !conflicts(v)) continue;
                while (v < least && !first.compare_exchange_weak(least, v, std::memory_order_relaxed)) {}
            }
        });
        return first.load(std::memory_order_relaxed) == n;
    };
    for (int64_t v = 0; v < n && first.load(std::memory_order_relaxed) == n; ++v)
        if (found[v] < 0) search.search(static_cast<Neighbor>(v), visit);
    copy(found, n, depth.data());
    return first.load() == n ? -1 : first.load();
}

}  // namespace

void bind_two_coloring(Module& module) {
    module.def("color_by_depth", &color_by_depth, "offset, neighbors, depth");
}

}  // namespace tgraph
