// Bindings of neighbor intersection: triangles in total, per vertex, and arcs between neighbors (clustering
// coefficient).
#include <nanobind/stl/optional.h>
#include "cohesion/intersect.hpp"

#include <optional>

#include "base/classes.hpp"

namespace tgraph {
namespace {

// Calls counter.visit(u) for every row in parallel; each thread has a counter of its own, make(thread).
template <class Make>
int64_t count_rows(const int64_t* offset, int64_t num_vertices, int threads, const Make& make) {
    const RowChunks chunks{offset, num_vertices, 1 << 12};  // small, as the work of an arc varies
    std::atomic<int64_t> total{0};
    Chunks left(chunks.size());
    run_team(threads, [&](int rank) {
        auto counter = make(rank);
        left.each([&](int64_t chunk) {
            const Range range = chunks[chunk];
            for (int64_t u = range.begin; u < range.end; ++u) {
                if constexpr (requires { counter.prefetch(u); })
                    if (u + 1 < range.end) counter.prefetch(u + 1);
                counter.visit(u);
            }
        });
        counter.finish();
        total.fetch_add(counter.total, std::memory_order_relaxed);
    });
    return total.load();
}

// Zeroed arrays of `size` words per thread, initialised by that thread (first touch).
template <class Word>
class PerThread {
public:
    PerThread(int threads, int64_t size) : size_((size + line - 1) / line * line), data_(threads * size_) {}

    Word* zeros(int thread) const {
        Word* mine = data_.data() + thread * size_;
        std::fill_n(mine, size_, Word{0});
        return mine;
    }

private:
    static constexpr int64_t line = 64 / sizeof(Word);  // avoids false sharing
    int64_t size_;
    Scratch<Word> data_;
};

template <Tally tally>
int64_t count_ranked(const StoredRows& rows, int64_t* found) {
    const RankedGraph graph(rows, tally);
    const int threads = part_count(rows.num_arcs());
    const int64_t n = rows.num_vertices, words = words_of(n);
    const PerThread<uint64_t> marks(threads, words), twice(threads, tally == Tally::arcs ? words : 0);
    const PerThread<int64_t> at_hub(threads, tally == Tally::total ? 0 : graph.hubs.size);
    Scratch<int64_t> by_rank(tally == Tally::total ? 0 : n);
    if (tally != Tally::total) fill(by_rank.data(), n, int64_t{0});
    const int64_t total = count_rows(graph.arcs.offset.data(), n, threads, [&](int thread) {
        return RankedCounter<tally>(graph, marks.zeros(thread), twice.zeros(thread), by_rank.data(),
                                              at_hub.zeros(thread));
    });
    if (tally != Tally::total)
        for_each_entry(n, [&](int64_t place) {
            found[graph.arcs.ranking.order.data()[place]] = by_rank.data()[place];
        });
    return total;
}

template <Tally tally>
int64_t count_stored(const StoredRows& rows, int64_t* found) {
    const int threads = part_count(rows.num_arcs());
    const PerThread<uint64_t> marks(threads, words_of(rows.num_vertices));
    if (tally != Tally::total) fill(found, rows.num_vertices, int64_t{0});
    return count_rows(rows.offset, rows.num_vertices, threads, [&](int thread) {
        return StoredCounter<tally>(rows, marks.zeros(thread), found);
    });
}

StoredRows rows_of(const In<int64_t>& offset, const In<Neighbor>& neighbors) {
    return {offset.data(), neighbors.data(), static_cast<int64_t>(offset.shape(0)) - 1};
}

// rank : whether to relabel vertices by degree; None decides by a sample of the degrees.
int64_t count_triangles(In<int64_t> offset, In<Neighbor> neighbors, Out<int64_t> found, std::optional<bool> rank) {
    const auto rows = rows_of(offset, neighbors);
    if (rank.value_or(is_skewed(rows)))
        return found.is_valid() ? count_ranked<Tally::each>(rows, found.data())
                                : count_ranked<Tally::total>(rows, nullptr);
    return found.is_valid() ? count_stored<Tally::each>(rows, found.data())
                            : count_stored<Tally::total>(rows, nullptr);
}

void count_arcs_among(In<int64_t> offset, In<Neighbor> neighbors, Out<int64_t> found) {
    count_ranked<Tally::arcs>(rows_of(offset, neighbors), found.data());
}

}  // namespace

void bind_intersect(Module& module) {
    python_module(module).def("count_triangles", &count_triangles, nb::arg("offset"), nb::arg("neighbors"),
                              nb::arg("found").none(), nb::arg("rank").none(),
                              nb::call_guard<nb::gil_scoped_release>());
    module.def("count_arcs_among", &count_arcs_among, "offset, neighbors, found");
}

}  // namespace tgraph
