// Connected components by lock-free union-find, where labels point at smaller vertices (Afforest: Sutton, Ben-Nun,
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

// Trees over the vertices: the label of a vertex is an ancestor that is not larger; a root is its own label. Labels are
// read and written concurrently with relaxed order: every value read is or was an ancestor, which is the only invariant
// that `join` and `flatten` need.
template <class Label>
class Forest {
public:
    explicit Forest(Label* label) : label_(label) {}

    // Hooks a vertex that is still a singleton under the parent of a smaller neighbor. Each vertex is hooked by one
    // thread, so that no compare-and-swap is needed, the most expensive step of a `join`. Branch-free, since the
    // comparison is unpredictable.
    void hook(Label v, Label neighbor) const {
        at(v).store(neighbor < v ? parent(neighbor) : v, std::memory_order_relaxed);
    }

    // Whether a vertex points at a root.
    bool is_below(Label v, Label root) const { return parent(v) == root; }

    // Whether two vertices appear to be in different trees, by their grandparents.
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
            // Path compression. A plain store of an ancestor is safe, except at a root.
            if (a != above && above != high) at(high).store(a, std::memory_order_relaxed);
            b = parent(low);
        }
    }

    // Points a vertex at its root. Not concurrent with `join`, so that roots do not change.
    void flatten(Label v) const {
        Label root = parent(parent(v));  // mostly the root already, after one or two steps
        for (Label above; (above = parent(root)) != root;) root = above;
        at(v).store(root, std::memory_order_relaxed);
    }

    void prefetch(Label v) const { __builtin_prefetch(label_ + v); }

private:
    std::atomic_ref<Label> at(Label v) const { return std::atomic_ref<Label>(label_[v]); }
    Label parent(Label v) const { return at(v).load(std::memory_order_relaxed); }

    Label* label_;
};

// Joins pairs of vertices. Most are in the same tree already, but unpredictably: the other pairs are selected without a
// branch, and joined in batches.
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

// All or some rows of a CSR structure, and at most `width` arcs of each.
template <class Neighbor>
struct Rows {
    const int64_t* offset;
    const Neighbor* neighbors;
    int64_t num_vertices;
    bool all;
    const int64_t* rows;  // if not all
    int64_t num_rows, width;

    bool is_whole() const { return all && width >= num_arcs(); }
    int64_t num_arcs() const { return offset[num_vertices]; }
    int64_t row(int64_t i) const { return all ? i : rows[i]; }
    Range arcs(int64_t row) const { return {offset[row], std::min(offset[row + 1], offset[row] + width)}; }
};

// The most frequent of a sample of labels, the smallest of equals, as `tgraph.primitives.union_find.frequent`.
template <class Label>
Label frequent(const Label* label, int64_t num_vertices) {
    constexpr uint64_t samples = 1024, golden = 2654435761;  // 2^32 over the golden ratio
    std::array<Label, samples> drawn;
    for (uint64_t i = 0; i < samples; ++i) drawn[i] = label[i * golden % static_cast<uint64_t>(num_vertices)];
    std::sort(drawn.begin(), drawn.end());
    Label found = drawn[0];
    for (std::size_t i = 0, most = 0; i < samples;) {
        const std::size_t begin = i;
        while (i < samples && drawn[i] == drawn[begin]) ++i;
        if (i - begin > most) most = i - begin, found = drawn[begin];
    }
    return found;
}

inline constexpr int64_t sampled_arcs = 2;  // of each row
inline constexpr int64_t arcs_worth_sampling = 1 << 13;  // fewer are joined while a sample is looked at
inline constexpr int64_t rows_per_batch = 1 << 12;

// Joins the trees of both ends of every arc, and points every vertex at its root, the smallest vertex of the tree: the
// result does not depend on the order of joins.
template <class Neighbor, class Label>
class Joiner {
public:
    // `fresh` : every vertex is a tree by itself. `both_ways` : the rows are all, and every arc has its reverse there.
    Joiner(const Rows<Neighbor>& rows, Label* label, bool fresh, bool both_ways)
        : rows_(rows), label_(label), forest_(label), fresh_(fresh), both_ways_(both_ways) {}

    void run() const {
        if (fresh_ && rows_.width <= sampled_arcs)
            join_two();
        else if (fresh_ && both_ways_ && rows_.is_whole() && rows_.num_arcs() >= arcs_worth_sampling)
            return join_sampled();
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

    // Joins along two arcs of each row, which makes up most of a large component: its vertices need no second look,
    // since their arcs to others are seen from the other end (Afforest).
    void join_sampled() const {
        join_two();
        flatten();
        const Label root = frequent(label_, rows_.num_vertices);
        std::atomic<bool> joined{false};
        for_each_range(rows_.num_vertices, rows_per_batch, [&](Range range) {
            const auto rows = rows_;
            const auto forest = forest_;
            std::array<Label, rows_per_batch> outside;  // selected without a branch, which would be unpredictable
            std::size_t count = 0;
            for (int64_t v = range.begin; v < range.end; ++v) {
                outside[count] = static_cast<Label>(v);
                count += (rows.offset[v + 1] - rows.offset[v] > sampled_arcs) &
                         !forest.is_below(static_cast<Label>(v), root);
            }
            if (count == 0) return;
            Joins<Label> joins(forest);
            for (std::size_t i = 0; i < count; ++i)
                join(joins, outside[i], rows.neighbors, {rows.offset[outside[i]] + sampled_arcs,
                                                         rows.offset[outside[i] + 1]});
            joined.store(true, std::memory_order_relaxed);
        });
        if (joined.load(std::memory_order_relaxed)) flatten();
    }

    // The loops below copy members to locals, which would be reloaded after every atomic access otherwise.

    // Joins along the first two arcs of each row. Rows are read once; their first two neighbors are stored.
    void join_two() const {
        const Scratch<Label> kept(2 * static_cast<std::size_t>(rows_.num_rows));
        for_each_range(rows_.num_rows, vertices_per_chunk, [&](Range range) { hook_first(range, kept.data()); });
        // Concurrent hooks leave chains as long as the number of chunks, which every join would climb.
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

    // Hooks each row under its first neighbor, and stores two neighbors; the row itself in place of missing ones.
    void hook_first(Range range, Label* pair) const {
        constexpr int64_t distance = 32;  // prefetch distance in rows
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
        constexpr int64_t distance = 16;  // prefetch distance in rows
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
    const Label* label_;
    Forest<Label> forest_;
    bool fresh_, both_ways_;
};

struct ForestCheck {
    bool fits;   // every label is a vertex, and not larger than its own vertex
    bool fresh;  // every vertex is a root
};

template <class Label>
ForestCheck check_forest(const Label* label, int64_t num_vertices) {
    using Bits = std::make_unsigned_t<Label>;
    constexpr Bits sign = Bits{1} << (sizeof(Bits) * 8 - 1);
    std::atomic<bool> fits{true}, fresh{true};
    for_each_range(num_vertices, vertices_per_chunk, [&](Range range) {
        Bits signs = 0, moved = 0;  // branch-free, so that the loop vectorises
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
