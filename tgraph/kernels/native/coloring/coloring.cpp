// Greedy colouring of an undirected graph in a given order.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "components/breadth_first.hpp"

namespace tgraph {
namespace {

// Each vertex in turn gets the smallest colour that no neighbor has so far.
void color_in_order(In<int64_t> offset, In<Neighbor> neighbors, In<int64_t> order, Out<int64_t> color) {
    const GraphRows arcs(offset, neighbors);
    const Scratch<Neighbor> colors(arcs.num_vertices);
    Neighbor* const given = colors.data();
    fill(given, arcs.num_vertices, Neighbor{-1});
    std::vector<int64_t> seen{-1};  // by colour + 1, the last vertex that has a neighbor of it
    constexpr int64_t ahead = 16;
    for (int64_t i = 0; i < arcs.num_vertices; ++i) {
        if (i % 4096 == 0) poll_interruption();
        if (i + ahead < arcs.num_vertices) fetch(arcs.offset + order.data()[i + ahead]);
        if (i + ahead / 2 < arcs.num_vertices) fetch(arcs.neighbors + arcs.offset[order.data()[i + ahead / 2]]);
        const int64_t v = order.data()[i], end = arcs.offset[v + 1];
        for (int64_t arc = arcs.offset[v]; arc < end; ++arc) {
            if (arc + ahead < end) fetch(given + arcs.neighbors[arc + ahead]);
            seen[given[arcs.neighbors[arc]] + 1] = i;
        }
        std::size_t free = 1;
        while (free < seen.size() && seen[free] == i) ++free;
        if (free == seen.size()) seen.push_back(-1);
        given[v] = static_cast<Neighbor>(free - 1);
    }
    copy(given, arcs.num_vertices, color.data());
}

}  // namespace

void bind_coloring(Module& module) {
    module.def("color_in_order", &color_in_order, "offset, neighbors, order, color");
}

}  // namespace tgraph
