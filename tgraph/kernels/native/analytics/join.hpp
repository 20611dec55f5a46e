// Connected components without locks: union-find on labels that point at smaller vertices (Afforest: Sutton, Ben-Nun,
// Barak, IPDPS 2018, after Shiloach and Vishkin 1982).
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "base/memory.hpp"
#include "base/rows.hpp"

namespace tgraph {

// Trees over the vertices: the label of a vertex is a vertex of its tree that is not larger, that of a root itself.
// All threads read and write the labels at once. Every value that one reads is or was an ancestor, which is all that
// `join` and `flatten` build on: no order between different labels is needed.
template <class Label>
class Forest {
public:
    explicit Forest(Label* label) : label_(label) {}

    // Hooks a vertex that nothing was done to under a smaller neighbour, or what that points at. All threads may hook
    // at once, each vertex by one of them: no label is written by two, and no compare-and-swap is needed, the most
    // expensive step of a `join`. There is no branch, since none could be predicted.
    void hook(Label v, Label neighbor) const {
        at(v).store(neighbor < v ? parent(neighbor) : v, std::memory_order_relaxed);
    }

    // Whether two vertices seem to be in two trees, by their grandparents.
    bool apart(Label u, Label v) const { return parent(parent(u)) != parent(parent(v)); }

    // Hooks the root of the larger tree under the other's.
    void join(Label u, Label v) const {
        Label a = parent(u), b = parent(v);
        while (a != b) {
            const Label high = std::max(a, b), low = std::min(a, b);
            Label above = parent(high);
            if (above == low) return;
            if (above == high && at(high).compare_exchange_strong(above, low, std::memory_order_relaxed)) return;
            a = parent(parent(high));
            // The next to come by has a shorter way. Whoever stores here stores an ancestor: only roots may not be.
            if (a != above && above != high) at(high).store(a, std::memory_order_relaxed);
            b = parent(low);
        }
    }

    // Lets a vertex point at its root. Roots do not change meanwhile: nothing is joined.
    void flatten(Label v) const {
        Label root = parent(parent(v));  // mostly it is: a loop from the vertex on would end after one step or two
        for (Label above; (above = parent(root)) != root;) root = above;
        at(v).store(root, std::memory_order_relaxed);
    }

    void prefetch(Label v) const { __builtin_prefetch(label_ + v); }

private:
    std::atomic_ref<Label> at(Label v) const { return std::atomic_ref<Label>(label_[v]); }
    Label parent(Label v) const { return at(v).load(std::memory_order_relaxed); }

    Label* label_;
};

// Joins pairs of vertices. Most are in one tree already, and which cannot be predicted, so that a branch on each would
// cost more than the rest: the others are picked out without one, and joined a batch at a time.
template <class Label>
class Joins {
public:
    explicit Joins(Forest<Label> forest) : forest_(forest) {}
    Joins(const Joins&) = delete;
    ~Joins() { join_batch(); }

    void add(Label u, Label v) {
        batch_[count_] = {u, v};
        count_ += forest_.apart(u, v);
        if (count_ == batch_.size()) join_batch();
    }

private:
    void join_batch() {
        for (std::size_t i = 0; i < count_; ++i) forest_.join(batch_[i].first, batch_[i].second);
        count_ = 0;
    }

    struct Pair {
        Label first, second;
    };
    Forest<Label> forest_;
    std::size_t count_ = 0;
    std::array<Pair, 512> batch_;
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
        if (fresh_ && rows_.width <= 2)
            join_two();
        else if (rows_.is_whole())
            for_each_range(rows_.offset[rows_.num_vertices], 1 << 16, [this](Range arcs) {
                Joins<Label> joins(forest_);
                each_row(rows_.offset, rows_.num_vertices, arcs,
                         [&](int64_t row, Range held) { join(joins, row, rows_.neighbors, held); });
            });
        else
            for_each_range(rows_.num_rows, rows_.all ? vertices_per_chunk : 1 << 10,
                           [this](Range range) { join_rows(range); });
        flatten();
    }

    static void join(Joins<Label>& joins, int64_t row, const Neighbor* neighbors, Range arcs) {
        for (int64_t i = arcs.begin; i < arcs.end; ++i)
            joins.add(static_cast<Label>(row), static_cast<Label>(neighbors[i]));
    }

private:
    void flatten() const {
        for_each_range(rows_.num_vertices, vertices_per_chunk, [this](Range range) {
            const auto forest = forest_;
            for (int64_t v = range.begin; v < range.end; ++v) forest.flatten(static_cast<Label>(v));
        });
    }

    // The loops work on copies: what a member holds would be loaded again after every atomic access.

    // Joins along the first two arcs of each row, which are brought from memory once: their neighbours are kept.
    void join_two() const {
        const Scratch<Label> kept(2 * static_cast<std::size_t>(rows_.num_rows));
        for_each_range(rows_.num_rows, vertices_per_chunk, [&](Range range) { hook_first(range, kept.data()); });
        // Threads that hooked side by side left chains as long as there are chunks, which every join would climb.
        if (thread_count() > 1) flatten();
        for_each_range(rows_.num_rows, vertices_per_chunk, [&](Range range) {
            const auto rows = rows_;
            const Label* const pair = kept.data();
            Joins<Label> joins(forest_);
            for (int64_t i = range.begin; i < range.end; ++i) {
                joins.add(static_cast<Label>(rows.row(i)), pair[2 * i]);
                joins.add(static_cast<Label>(rows.row(i)), pair[2 * i + 1]);
            }
        });
    }

    // Hooks by the first arc of each row, and keeps two neighbours: the row itself where it has fewer.
    void hook_first(Range range, Label* pair) const {
        constexpr int64_t distance = 32;  // so many rows ahead neighbours are sent for
        const auto rows = rows_;
        const auto forest = forest_;
        for (int64_t i = range.begin; i < range.end; ++i) {
            if (i + distance < range.end) fetch(rows.neighbors + rows.offset[rows.row(i + distance)]);
            const int64_t row = rows.row(i);
            const Range arcs = rows.arcs(row);
            const auto own = static_cast<Label>(row);
            pair[2 * i] = arcs.begin < arcs.end ? static_cast<Label>(rows.neighbors[arcs.begin]) : own;
            pair[2 * i + 1] = arcs.begin + 1 < arcs.end ? static_cast<Label>(rows.neighbors[arcs.begin + 1]) : own;
            forest.hook(own, pair[2 * i]);
        }
    }

    void join_rows(Range range) const {
        constexpr int64_t distance = 16;  // so many rows ahead the labels of neighbours are sent for
        const auto rows = rows_;
        const auto forest = forest_;
        Joins<Label> joins(forest);
        for (int64_t i = range.begin; i < range.end; ++i) {
            if (i + distance < range.end) {
                const Range ahead = rows.arcs(rows.row(i + distance));
                if (ahead.begin < ahead.end) forest.prefetch(static_cast<Label>(rows.neighbors[ahead.begin]));
            }
            const int64_t row = rows.row(i);
            join(joins, row, rows.neighbors, rows.arcs(row));
        }
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
