// An undirected simple graph whose vertices are renumbered by rank, each edge an arc to the end of smaller rank.
//
// With ranks by descending degree rows are no longer than sqrt(2 m); with those of a degeneracy order, the last vertex
// first, no longer than the degeneracy. A triangle is listed once, at its vertex of largest rank (Chiba and Nishizeki,
// SIAM J. Computing 1985), by marking the row of that vertex.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cohesion/orient.hpp"
#include "base/memory.hpp"
#include "base/rows.hpp"
#include "threads/parallel.hpp"

namespace tgraph {

struct InwardRows {
    int64_t num_vertices;
    Scratch<int64_t> offset, position;  // position : where an arc is stored in the given rows
    Scratch<Neighbor> heads;

    // order : the vertices by rank. rank : its inverse. numbered : whether `position` is wanted.
    InwardRows(const StoredRows& rows, const Neighbor* order, const Neighbor* rank, bool numbered);

    int64_t num_arcs() const { return offset.data()[num_vertices]; }
    int64_t begin(int64_t u) const { return offset.data()[u]; }
    int64_t end(int64_t u) const { return offset.data()[u + 1]; }
    int64_t degree(int64_t u) const { return end(u) - begin(u); }
    Neighbor head(int64_t i) const { return heads.data()[i]; }
};

// Lists the triangles u, v, w of arcs i = u -> v, j = v -> w and k = u -> w. make() is the visitor of a thread:
// visitor.begin(u), visitor.triangle(i, j, k) for each triangle of u, visitor.end(u).
template <class Make>
void list_triangles(const InwardRows& rows, const Make& make) {
    const RowChunks chunks{rows.offset.data(), rows.num_vertices, 1 << 11};
    Chunks left(chunks.size());
    run_team(part_count(rows.num_arcs()), [&](int) {
        const Scratch<Neighbor> scratch(rows.num_vertices);
        Neighbor* const marks = scratch.data();  // 1 + the place of a head in the row of u
        std::fill_n(marks, rows.num_vertices, Neighbor{0});
        auto visitor = make();
        left.each([&](int64_t chunk) {
            const Range range = chunks[chunk];
            for (int64_t u = range.begin; u < range.end; ++u) {
                const int64_t first = rows.begin(u), last = rows.end(u);
                if (last - first < 2) continue;
                for (int64_t i = first; i < last; ++i) marks[rows.head(i)] = static_cast<Neighbor>(i - first + 1);
                visitor.begin(u);
                for (int64_t i = first; i < last; ++i) {
                    const int64_t v = rows.head(i);
                    for (int64_t j = rows.begin(v); j < rows.end(v); ++j)
                        if (const Neighbor mark = marks[rows.head(j)]) visitor.triangle(i, j, first + mark - 1);
                }
                visitor.end(u);
                for (int64_t i = first; i < last; ++i) marks[rows.head(i)] = 0;
            }
        });
        visitor.finish();
    });
}

}  // namespace tgraph
