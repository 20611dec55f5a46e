// The line graph of an undirected simple graph: the row of an edge merges those of its two ends, which list edges in
// ascending order.
#include <algorithm>
#include <cstdint>

#include "base/bindings.hpp"
#include "base/rows.hpp"
#include "threads/parallel.hpp"

namespace tgraph {
namespace {

// ends [2, e] : the vertices of each edge. incident [m] : the edge of each arc. line_offset [e + 1] : where the rows of
// the result begin, deg(u) + deg(v) - 2 apart.
template <class Edge>
void line_rows(In<int64_t> offset, In<Edge> incident, In<int64_t> first, In<int64_t> second, In<int64_t> line_offset,
               Out<Edge> neighbors) {
    const RowChunks chunks{line_offset.data(), static_cast<int64_t>(first.shape(0))};
    const auto arcs = static_cast<int64_t>(neighbors.shape(0));
    const auto row = [&](int64_t v) {
        return Range{offset.data()[v], offset.data()[v + 1]};
    };
    for_each_chunk(chunks.size(), part_count(arcs), [&](int64_t chunk) {
        const Range edges = chunks[chunk];
        for (int64_t e = edges.begin; e < edges.end; ++e) {
            const Range one = row(first.data()[e]), other = row(second.data()[e]);
            if (one.begin == one.end || other.begin == other.end) continue;  // of a graph that lacks reverses
            const Edge *a = incident.data() + one.begin, *a_last = incident.data() + one.end - 1;
            const Edge *b = incident.data() + other.begin, *b_last = incident.data() + other.end - 1;
            Edge* next = neighbors.data() + line_offset.data()[e];
            // Edges below this one, and then those above it, which is in both rows.
            const Edge* const a_own = std::find_if(a, a_last, [=](Edge f) { return f >= e; });
            const Edge* const b_own = std::find_if(b, b_last, [=](Edge f) { return f >= e; });
            next = std::merge(a, a_own, b, b_own, next);
            std::merge(a_own + 1, a_last + 1, b_own + 1, b_last + 1, next);
        }
    });
}

template <class Edge>
void bind(Module& module) {
    module.def("line_rows", &line_rows<Edge>, "offset, incident, first, second, line_offset, neighbors");
}

}  // namespace

void bind_line_graph(Module& module) {
    bind<int32_t>(module);
    bind<int64_t>(module);
}

}  // namespace tgraph
