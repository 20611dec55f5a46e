// Connected components without locks: union-find on labels that point at smaller vertices (Afforest: Sutton, Ben-Nun,
// Barak, IPDPS 2018, after Shiloach and Vishkin 1982).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "rows.hpp"

namespace tgraph {

// Trees over the vertices: the label of a vertex is a vertex of its tree that is not larger, that of a root itself.
// All threads read and write the labels at once. Every value that one reads is or was an ancestor, which is all that
// `join` and `flatten` build on: no order between different labels is needed.
template <class Label>
class Forest {
public:
    explicit Forest(Label* label) : label_(label) {}

    // Hooks the root of the larger tree under the other's, by compare-and-swap.
    void join(Label u, Label v) const {
        Label a = parent(u), b = parent(v);
        while (a != b) {
            const Label high = std::max(a, b), low = std::min(a, b);
            Label above = parent(high);
            if (above == low) return;
            if (above == high && at(high).compare_exchange_strong(above, low, std::memory_order_relaxed)) return;
            a = parent(parent(high));
            b = parent(low);
        }
    }

    // Lets a vertex point at its root. Roots do not change meanwhile: nothing is joined.
    void flatten(Label v) const {
        const Label first = parent(v);
        Label root = first;
        for (Label above; (above = parent(root)) != root;) root = above;
        if (root != first) at(v).store(root, std::memory_order_relaxed);
    }

private:
    std::atomic_ref<Label> at(Label v) const { return std::atomic_ref<Label>(label_[v]); }
    Label parent(Label v) const { return at(v).load(std::memory_order_relaxed); }

    Label* label_;
};

inline constexpr int64_t vertices_per_chunk = 1 << 14;

// Calls body(range) for every chunk of the vertices.
template <class Body>
void for_each_range(int64_t items, int64_t grain, Body&& body) {
    const int threads = items < items_per_part ? 1 : thread_count();
    for_each_chunk((items + grain - 1) / grain, threads, [&](int64_t chunk) {
        body(Range{chunk * grain, std::min(items, (chunk + 1) * grain)});
    });
}

// Some rows of a CSR structure, or all of them, and at most `width` arcs of each.
template <class Neighbor>
struct Rows {
    const int64_t* offset;
    const Neighbor* neighbors;
    int64_t num_vertices;
    const int64_t* rows;  // null for all of them
    int64_t num_rows, width;

    // Calls visit(row, arcs) for every row, on all threads. Where all arcs are held they are cut into equal parts; a
    // row is then visited in several.
    template <class Visit>
    void each(Visit visit) const {
        if (!rows && width >= offset[num_vertices]) {
            for_each_range(offset[num_vertices], 1 << 16, [&](Range arcs) { each_row(offset, num_vertices, arcs, visit); });
            return;
        }
        for_each_range(num_rows, rows ? 1 << 10 : vertices_per_chunk, [&](Range range) {
            for (int64_t i = range.begin; i < range.end; ++i) {
                const int64_t row = rows ? rows[i] : i, begin = offset[row];
                visit(row, Range{begin, begin + std::min(offset[row + 1] - begin, width)});
            }
        });
    }
};

// Merges the trees of the two ends of every arc, and lets every vertex point at its root, which is the smallest vertex
// of the tree: the same whichever thread was first.
template <class Neighbor, class Label>
void join_arcs(const Rows<Neighbor>& rows, Label* label) {
    const Forest<Label> forest(label);
    rows.each([&](int64_t row, Range arcs) {
        for (int64_t i = arcs.begin; i < arcs.end; ++i)
            forest.join(static_cast<Label>(row), static_cast<Label>(rows.neighbors[i]));
    });
    for_each_range(rows.num_vertices, vertices_per_chunk, [&](Range range) {
        for (int64_t v = range.begin; v < range.end; ++v) forest.flatten(static_cast<Label>(v));
    });
}

// True where every label is a vertex and not larger than the vertex that has it.
template <class Label>
bool is_forest(const Label* label, int64_t num_vertices) {
    std::atomic<bool> fits{true};
    for_each_range(num_vertices, vertices_per_chunk, [&](Range range) {
        bool all = true;
        for (int64_t v = range.begin; v < range.end; ++v) all &= (label[v] >= 0) & (label[v] <= v);
        if (!all) fits.store(false, std::memory_order_relaxed);
    });
    return fits.load(std::memory_order_relaxed);
}

}  // namespace tgraph
