// Cycles of four vertices through each vertex: from its vertex of largest degree u, the paths u - v - w over vertices
// of smaller degree are counted by their end w, and two of them are a cycle (Chiba and Nishizeki, SIAM J. Computing
// 1985), in O(a(G) m).
#include <atomic>
#include <vector>

#include "cohesion/orient.hpp"
#include "base/bindings.hpp"

namespace tgraph {
namespace {

inline void add_shared(int64_t& sum, int64_t amount) {
    std::atomic_ref<int64_t>(sum).fetch_add(amount, std::memory_order_relaxed);
}

// The rows by rank, largest degree first, each with its neighbors by descending rank.
struct DescendingRows {
    Ranking ranking;
    Scratch<Neighbor> heads;

    explicit DescendingRows(const StoredRows& rows) : ranking(rows), heads(rows.num_arcs()) {
        const RowChunks chunks{ranking.offset.data(), rows.num_vertices};
        for_each_chunk(chunks.size(), part_count(rows.num_arcs()), [&](int64_t chunk) {
            const Range range = chunks[chunk];
            for (int64_t u = range.begin; u < range.end; ++u) {
                const int64_t v = ranking.order.data()[u];
                Neighbor* out = heads.data() + ranking.offset.data()[u];
                for (int64_t i = 0; i < rows.degree(v); ++i)
                    out[i] = ranking.rank.data()[rows.neighbors[rows.offset[v] + i]];
                std::sort(out, out + rows.degree(v), std::greater<>());
            }
        });
    }

    // Calls visit(w) for the neighbors w of v of smaller degree than u.
    template <class Visit>
    void each_below(int64_t v, int64_t u, const Visit& visit) const {
        const int64_t last = ranking.offset.data()[v + 1];
        for (int64_t i = ranking.offset.data()[v]; i < last && heads.data()[i] > u; ++i) visit(heads.data()[i]);
    }
};

void count_squares(In<int64_t> offset, In<Neighbor> neighbors, Out<int64_t> found) {
    const StoredRows stored{offset.data(), neighbors.data(), static_cast<int64_t>(offset.shape(0)) - 1};
    const DescendingRows rows(stored);
    const int64_t n = stored.num_vertices;
    const Neighbor* const order = rows.ranking.order.data();
    fill(found.data(), n, int64_t{0});
    const RowChunks chunks{rows.ranking.offset.data(), n, 1 << 11};
    Chunks left(chunks.size());
    run_team(part_count(stored.num_arcs()), [&](int) {
        const Scratch<Neighbor> scratch(n);
        Neighbor* const paths = scratch.data();
        std::fill_n(paths, n, Neighbor{0});
        left.each([&](int64_t chunk) {
            const Range range = chunks[chunk];
            for (int64_t u = range.begin; u < range.end; ++u) {
                rows.each_below(u, u, [&](Neighbor v) { rows.each_below(v, u, [&](Neighbor w) { ++paths[w]; }); });
                int64_t at_u = 0;
                rows.each_below(u, u, [&](Neighbor v) {
                    int64_t at_v = 0;
                    rows.each_below(v, u, [&](Neighbor w) { at_v += paths[w] - 1; });
                    if (at_v) add_shared(found.data()[order[v]], at_v);
                });
                rows.each_below(u, u, [&](Neighbor v) {
                    rows.each_below(v, u, [&](Neighbor w) {
                        const int64_t count = paths[w], pairs = count * (count - 1) / 2;
                        paths[w] = 0;
                        at_u += pairs > 0 ? pairs : 0;
                        if (pairs > 0) add_shared(found.data()[order[w]], pairs);
                    });
                });
                if (at_u) add_shared(found.data()[order[u]], at_u);
            }
        });
    });
}

}  // namespace

void bind_squares(Module& module) {
    module.def("count_squares", &count_squares, "offset, neighbors, found");
}

}  // namespace tgraph
