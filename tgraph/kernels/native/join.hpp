// Connected components without locks: union-find on labels that point at smaller vertices (Afforest: Sutton, Ben-Nun,
// Barak, IPDPS 2018, after Shiloach and Vishkin 1982).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <type_traits>

#include "rows.hpp"

namespace tgraph {

// Trees over the vertices: the label of a vertex is a vertex of its tree that is not larger, that of a root itself.
// All threads read and write the labels at once. Every value that one reads is or was an ancestor, which is all that
// `join` and `flatten` build on: no order between different labels is needed.
template <class Label>
class Forest {
public:
    explicit Forest(Label* label) : label_(label) {}

    // Hooks a root under a smaller neighbour, or what that points at. All threads may hook at once, each root by one of
    // them: no label is written by two, and no compare-and-swap is needed, the most expensive step of a `join`.
    void hook(Label v, Label neighbor) const {
        if (neighbor < v && parent(v) == v) at(v).store(parent(neighbor), std::memory_order_relaxed);
    }

    // Hooks the root of the larger tree under the other's.
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

    void prefetch(Label v) const { __builtin_prefetch(label_ + v); }

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
    bool all;
    const int64_t* rows;  // where not all
    int64_t num_rows, width;

    bool is_whole() const { return all && width >= offset[num_vertices]; }
    int64_t row(int64_t i) const { return all ? i : rows[i]; }
    Range arcs(int64_t row) const { return {offset[row], std::min(offset[row + 1], offset[row] + width)}; }
};

// Merges the trees of the two ends of every arc, and lets every vertex point at its root, which is the smallest vertex
// of the tree: the same whichever thread was first.
template <class Neighbor, class Label>
class Joiner {
public:
    // `fresh` says that every vertex is a tree by itself.
    Joiner(const Rows<Neighbor>& rows, Label* label, bool fresh) : rows_(rows), forest_(label), fresh_(fresh) {}

    void run() const {
        if (fresh_) {
            for_each_range(rows_.num_rows, vertices_per_chunk, [this](Range range) { hook(range); });
            // Threads that hooked side by side left chains as long as there are chunks, which every join would climb.
            if (thread_count() > 1) flatten();
        }
        if (rows_.is_whole())
            for_each_range(rows_.offset[rows_.num_vertices], 1 << 16, [this](Range arcs) {
                each_row(rows_.offset, rows_.num_vertices, arcs,
                         [this](int64_t row, Range held) { join(forest_, row, rows_.neighbors, held); });
            });
        else
            for_each_range(rows_.num_rows, rows_.all ? vertices_per_chunk : 1 << 10,
                           [this](Range range) { join_rows(range); });
        flatten();
    }

private:
    void flatten() const {
        for_each_range(rows_.num_vertices, vertices_per_chunk, [this](Range range) {
            const auto forest = forest_;
            for (int64_t v = range.begin; v < range.end; ++v) forest.flatten(static_cast<Label>(v));
        });
    }

    // The loops work on copies: what a member holds would be loaded again after every atomic access.

    // Hooks by the first arc of each row.
    void hook(Range range) const {
        const auto rows = rows_;
        const auto forest = forest_;
        for (int64_t i = range.begin; i < range.end; ++i) {
            const int64_t row = rows.row(i);
            const Range arcs = rows.arcs(row);
            if (arcs.begin < arcs.end)
                forest.hook(static_cast<Label>(row), static_cast<Label>(rows.neighbors[arcs.begin]));
        }
    }

    void join_rows(Range range) const {
        constexpr int64_t distance = 16;  // so many rows ahead the labels of neighbours are sent for
        const auto rows = rows_;
        const auto forest = forest_;
        const bool fresh = fresh_;
        for (int64_t i = range.begin; i < range.end; ++i) {
            if (i + distance < range.end) {
                const Range ahead = rows.arcs(rows.row(i + distance));
                if (ahead.begin + 1 < ahead.end) forest.prefetch(static_cast<Label>(rows.neighbors[ahead.begin + 1]));
            }
            const int64_t row = rows.row(i);
            Range arcs = rows.arcs(row);
            if (fresh && arcs.begin < arcs.end && rows.neighbors[arcs.begin] < row) ++arcs.begin;  // it was hooked
            join(forest, row, rows.neighbors, arcs);
        }
    }

    static void join(Forest<Label> forest, int64_t row, const Neighbor* neighbors, Range arcs) {
        for (int64_t i = arcs.begin; i < arcs.end; ++i)
            forest.join(static_cast<Label>(row), static_cast<Label>(neighbors[i]));
    }

    Rows<Neighbor> rows_;
    Forest<Label> forest_;
    bool fresh_;
};

struct ForestCheck {
    bool fits;   // every label is a vertex and not larger than the vertex that has it
    bool fresh;  // every vertex is a root
};

template <class Label>
ForestCheck check_forest(const Label* label, int64_t num_vertices) {
    using Bits = std::make_unsigned_t<Label>;
    constexpr Bits sign = Bits{1} << (sizeof(Bits) * 8 - 1);
    std::atomic<bool> fits{true}, fresh{true};
    for_each_range(num_vertices, vertices_per_chunk, [&](Range range) {
        Bits signs = 0, moved = 0;  // no branch, so that several labels are checked at once
        for (int64_t v = range.begin; v < range.end; ++v) {
            const auto own = static_cast<Bits>(v), above = static_cast<Bits>(label[v]);
            signs |= above | (own - above);
            moved |= own ^ above;
        }
        if (signs & sign) fits.store(false, std::memory_order_relaxed);
        if (moved) fresh.store(false, std::memory_order_relaxed);
    });
    return {fits.load(std::memory_order_relaxed), fresh.load(std::memory_order_relaxed)};
}

}  // namespace tgraph
