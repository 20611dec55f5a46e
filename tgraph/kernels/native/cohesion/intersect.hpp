// Triangle counting by intersection of neighbor lists, parallel over vertices.
//
// A triangle u, v, w is found once, at its largest vertex u: v and w are in the row of u, and w is in the row of v. The
// row of u is marked in a bitmap per thread, so that rows of its neighbors are intersected by one lookup per entry. If
// vertices are ranked by degree (orient.hpp), most neighbors are hubs; rows of hubs are also stored as bitmaps, and
// intersected 64 entries at a time by popcount. Counts per vertex are added atomically (relaxed), those at hubs per
// thread first.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>

#include "base/memory.hpp"
#include "cohesion/orient.hpp"
#include "threads/parallel.hpp"
#include "base/simd.hpp"

namespace tgraph {

// total : all triangles. each : triangles per vertex. arcs : per vertex, the arcs between its neighbors, where an edge
// that is stored more than once stands for an arc in both directions.
enum class Tally { total, each, arcs };

inline int64_t words_of(int64_t bits) { return (bits + 63) / 64; }

inline bool is_marked(const uint64_t* bits, int64_t i) { return bits[i >> 6] >> (i & 63) & 1; }

inline void mark(uint64_t* bits, int64_t i) { bits[i >> 6] |= uint64_t{1} << (i & 63); }

// Popcount of the intersection of two bitmaps: with the popcnt instruction, or AVX-512 vector popcount.
TGRAPH_MULTIVERSION_NARROW inline int64_t count_each_word(const uint64_t* a, const uint64_t* b, int64_t words) {
    int64_t count = 0;
    for (int64_t i = 0; i < words; ++i) count += __builtin_popcountll(a[i] & b[i]);
    return count;
}

#ifdef TGRAPH_COUNTS_VECTORS
TGRAPH_COUNTS_VECTORS inline int64_t count_eight_words(const uint64_t* a, const uint64_t* b, int64_t words) {
    int64_t count = 0;
    for (int64_t i = 0; i < words; ++i) count += __builtin_popcountll(a[i] & b[i]);
    return count;
}

inline int64_t count_common(const uint64_t* a, const uint64_t* b, int64_t words) {
    static const bool in_vectors = __builtin_cpu_supports("avx512vpopcntdq");
    return in_vectors ? count_eight_words(a, b, words) : count_each_word(a, b, words);
}
#else
inline int64_t count_common(const uint64_t* a, const uint64_t* b, int64_t words) {
    return count_each_word(a, b, words);
}
#endif

inline void add(int64_t& shared, int64_t amount) {
    if (amount) std::atomic_ref<int64_t>(shared).fetch_add(amount, std::memory_order_relaxed);
}

// Rows of the largest hubs as bitmaps, triangular: row v has bits 0 .. v - 1, rounded up to words, so that the rows of
// a block of 64 have equal lengths.
class HubRows {
public:
    int64_t size = 0;

    HubRows() = default;

    HubRows(const OrientedRows& arcs, bool only_twice) : size(std::min(arcs.num_vertices, most)) {
        const int64_t words = start(words_of(size) * 64);
        bits_ = Scratch<uint64_t>(words);
        fill(bits_.data(), words, uint64_t{0});
        const int64_t entries = arcs.offset.data()[size];
        for_each_chunk(words_of(size), part_count(entries), [&](int64_t block) {
            for (int64_t v = 64 * block; v < std::min(size, 64 * block + 64); ++v)
                for (int64_t i = arcs.offset.data()[v]; i < arcs.end.data()[v]; ++i)
                    if (!only_twice || arcs.twice.data()[i]) mark(bits_.data() + start(v), arcs.neighbors.data()[i]);
        });
    }

    const uint64_t* operator[](int64_t v) const { return bits_.data() + start(v); }
    static int64_t words(int64_t v) { return v / 64 + 1; }

private:
    static constexpr int64_t most = 1 << 14;  // 16 MiB of bitmaps, which fit the last-level cache
    Scratch<uint64_t> bits_;

    static int64_t start(int64_t v) {
        const int64_t block = v / 64;
        return 32 * block * (block + 1) + (v % 64) * (block + 1);
    }
};

// ---- Graphs relabelled by rank.

struct RankedGraph {
    OrientedRows arcs;
    HubRows hubs, twice_hubs;

    RankedGraph(const StoredRows& rows, Tally tally)
        : arcs(rows, tally == Tally::arcs), hubs(arcs, false) {
        if (tally == Tally::arcs) twice_hubs = HubRows(arcs, true);
    }
};

// The counter of a thread. `marks` [n bits, zeros] and, for Tally::arcs, `twice_marks`; `found` [n], by rank, is
// shared.
template <Tally tally>
class RankedCounter {
public:
    int64_t total = 0;

    RankedCounter(const RankedGraph& graph, uint64_t* marks, uint64_t* twice_marks, int64_t* found,
                  int64_t* at_hub)
        : arcs_(graph.arcs), hubs_(graph.hubs), twice_hubs_(graph.twice_hubs), marks_(marks),
          twice_marks_(twice_marks), found_(found), at_hub_(at_hub) {}

    void visit(int64_t u) {
        const Neighbor* row = arcs_.row(u);
        const int64_t degree = arcs_.degree(u);
        if (degree < 2) return;
        for (int64_t i = 0; i < degree; ++i) mark(marks_, row[i]);
        if constexpr (tally == Tally::arcs)
            for (int64_t i = 0; i < degree; ++i)
                if (is_twice(row + i)) mark(twice_marks_, row[i]);
        at_u_ = 0;
        for (int64_t i = 1; i < degree; ++i) {
            at_v_ = 0;
            if (row[i] < hubs_.size)
                at_u_ += compare_with_hub(row, i);
            else
                at_u_ += compare_with_list(row, i);
            if constexpr (tally != Tally::total) add(found_[row[i]], at_v_);
        }
        total += at_u_;
        if constexpr (tally != Tally::total) add(found_[u], at_u_);
        for (int64_t i = 0; i < degree; ++i) marks_[row[i] >> 6] = 0;
        if constexpr (tally == Tally::arcs)
            for (int64_t i = 0; i < degree; ++i) twice_marks_[row[i] >> 6] = 0;
    }

    // Prefetches the rows of neighbors that are not hubs, for visit(u).
    TGRAPH_INLINE void prefetch(int64_t u) const {
        const Neighbor *row = arcs_.row(u), *last = row + arcs_.degree(u);
        for (int64_t i = 0; i < most_fetched && last != row && *--last >= hubs_.size; ++i) {
            __builtin_prefetch(arcs_.row(*last));
            __builtin_prefetch(arcs_.row(*last) + 64 / sizeof(Neighbor));
        }
    }

    // Adds the counts at hubs to the shared counts.
    void finish() {
        if constexpr (tally != Tally::total)
            for (int64_t v = 0; v < hubs_.size; ++v) add(found_[v], at_hub_[v]);
    }

private:
    const OrientedRows& arcs_;
    const HubRows &hubs_, &twice_hubs_;
    uint64_t *marks_, *twice_marks_;
    int64_t *found_, *at_hub_;
    int64_t at_u_ = 0, at_v_ = 0;

    bool is_twice(const Neighbor* arc) const { return arcs_.twice.data()[arc - arcs_.neighbors.data()]; }

    // The multiplicity of the edge.
    int64_t weight(const Neighbor* arc) const {
        if constexpr (tally == Tally::arcs) return 1 + is_twice(arc);
        return 1;
    }

    // Common neighbors of u and the hub v = row[i]: by words of the bitmaps, or by a lookup for each w before v if
    // these are few.
    int64_t compare_with_hub(const Neighbor* row, int64_t i) {
        const int64_t v = row[i], words = HubRows::words(v);
        if (2 * i > words) {
            if constexpr (tally == Tally::total) return count_common(marks_, hubs_[v], words);
            return tally_words(v, words, weight(row + i));
        }
        int64_t count = 0;
        const uint64_t* hub = hubs_[v];
        for (int64_t j = 0; j < i; ++j) {
            const int64_t hit = is_marked(hub, row[j]);
            if constexpr (tally == Tally::arcs) {
                if (hit) count += tally_triangle(row + i, row + j, 1 + is_marked(twice_hubs_[v], row[j]));
            } else {
                count += hit;
                if constexpr (tally == Tally::each) at_hub_[row[j]] += hit;
            }
        }
        if constexpr (tally == Tally::each) at_v_ += count;
        return count;
    }

    // compare_with_hub by words; `weight` is that of the arc u -> v.
    int64_t tally_words(int64_t v, int64_t words, int64_t weight) {
        const uint64_t* hub = hubs_[v];
        int64_t count = count_common(marks_, hub, words);
        at_v_ += count;
        if constexpr (tally == Tally::arcs) {
            count += count_common(marks_, twice_hubs_[v], words);
            at_v_ += count_common(twice_marks_, hub, words);
        }
        for (int64_t k = 0; k < words; ++k)
            for (uint64_t common = marks_[k] & hub[k]; common; common &= common - 1)
                at_hub_[64 * k + std::countr_zero(common)] += weight;
        return count;
    }

    // Common neighbors of u and v = row[i], which is not a hub: by a lookup for each entry of the row of v, or a binary
    // search for each w before v if these are far fewer.
    int64_t compare_with_list(const Neighbor* row, int64_t i) {
        const Neighbor *first = arcs_.row(row[i]), *last = first + arcs_.degree(row[i]);
        int64_t count = 0;
        if (i * search_cost < last - first) {
            for (int64_t j = 0; j < i; ++j) {
                first = std::lower_bound(first, last, row[j]);
                if (first == last) break;
                if (*first == row[j]) count += tally_triangle(row + i, row + j, weight(first));
            }
            return count;
        }
        for (; first != last; ++first) {
            if constexpr (tally == Tally::total)
                count += is_marked(marks_, *first);
            else if (is_marked(marks_, *first))
                count += tally_found(row + i, first);
        }
        return count;
    }

    static constexpr int64_t search_cost = 8, most_fetched = 64;

    // Triangle u, v, w given by the arcs u -> v and u -> w; `opposite` is the weight of v -> w.
    int64_t tally_triangle(const Neighbor* to_v, const Neighbor* to_w, int64_t opposite) {
        if constexpr (tally != Tally::total) {
            at_v_ += weight(to_w);
            add_at(*to_w, weight(to_v));
        }
        return opposite;
    }

    // The same given by the arcs u -> v and v -> w.
    int64_t tally_found(const Neighbor* to_v, const Neighbor* v_to_w) {
        at_v_ += 1 + (tally == Tally::arcs && is_marked(twice_marks_, *v_to_w));
        add_at(*v_to_w, weight(to_v));
        return weight(v_to_w);
    }

    void add_at(int64_t w, int64_t amount) {
        if (w < hubs_.size)
            at_hub_[w] += amount;
        else
            add(found_[w], amount);
    }
};

// ---- Graphs in their own numbering.

// The counter of a thread. `marks` [n bits, zeros]; `found` [n] is shared. Parallel arcs and self-loops are skipped.
template <Tally tally>
class StoredCounter {
public:
    int64_t total = 0;

    StoredCounter(const StoredRows& rows, uint64_t* marks, int64_t* found)
        : rows_(rows), marks_(marks), found_(found), fetches_(rows.num_arcs() > few * rows.num_vertices) {}

    void visit(int64_t u) {
        const Neighbor *row = rows_.neighbors + rows_.offset[u], *last = rows_.neighbors + rows_.offset[u + 1];
        const int64_t size = (last - row > longest_scan ? std::lower_bound(row, last, u) : scan(row, last, u)) - row;
        if (size < 2) return;
        const bool marks = size > few;
        if (marks)
            for (int64_t i = 0; i < size; ++i) mark(marks_, row[i]);
        int64_t count = 0;
        for (int64_t i = 1; i < size; ++i) {
            if (row[i] == row[i - 1]) continue;
            const int64_t at_v = compare(row, i, marks);
            count += at_v;
            if constexpr (tally != Tally::total) add(found_[row[i]], at_v);
        }
        total += count;
        if constexpr (tally != Tally::total) add(found_[u], count);
        if (marks)
            for (int64_t i = 0; i < size; ++i) marks_[row[i] >> 6] = 0;
    }

    // Prefetches the rows of the neighbors, for visit(u).
    TGRAPH_INLINE void prefetch(int64_t u) const {
        if (!fetches_) return;
        const int64_t begin = rows_.offset[u], end = std::min(rows_.offset[u + 1], begin + most_fetched);
        for (int64_t i = begin; i < end && rows_.neighbors[i] < u; ++i) {
            const Neighbor* row = rows_.neighbors + rows_.offset[rows_.neighbors[i]];
            __builtin_prefetch(row);
            __builtin_prefetch(row + 64 / sizeof(Neighbor));
        }
    }

    void finish() {}

private:
    static constexpr int64_t few = 4, longest_scan = 64, most_fetched = 128, search_cost = 32;
    const StoredRows& rows_;
    uint64_t* marks_;
    int64_t* found_;
    const bool fetches_;

    // The first neighbor that is not below `limit`.
    static const Neighbor* scan(const Neighbor* first, const Neighbor* last, int64_t limit) {
        while (first != last && *first < limit) ++first;
        return first;
    }

    // Common neighbors of u and v = row[i] that are below v.
    int64_t compare(const Neighbor* row, int64_t i, bool marked) {
        const int64_t v = row[i];
        const Neighbor *first = rows_.neighbors + rows_.offset[v], *last = rows_.neighbors + rows_.offset[v + 1];
        if (i * search_cost < last - first) return search(row, i, first, last);
        return marked ? look_up(first, last, v) : merge(row, i, first, last);
    }

    int64_t look_up(const Neighbor* first, const Neighbor* last, int64_t v) {
        int64_t count = 0, before = -1;
        for (; first != last && *first < v; before = *first++) {
            const int64_t hit = is_marked(marks_, *first) & (*first != before);
            count += hit;
            if constexpr (tally != Tally::total) add(found_[*first], hit);
        }
        return count;
    }

    int64_t merge(const Neighbor* row, int64_t i, const Neighbor* first, const Neighbor* last) {
        int64_t count = 0;
        for (int64_t j = 0; j < i; ++j) {
            if (j && row[j] == row[j - 1]) continue;
            first = scan(first, last, row[j]);
            if (first == last) break;
            count += tally_if_equal(*first, row[j]);
        }
        return count;
    }

    int64_t search(const Neighbor* row, int64_t i, const Neighbor* first, const Neighbor* last) {
        int64_t count = 0;
        for (int64_t j = 0; j < i; ++j) {
            if (j && row[j] == row[j - 1]) continue;
            first = std::lower_bound(first, last, row[j]);
            if (first == last) break;
            count += tally_if_equal(*first, row[j]);
        }
        return count;
    }

    int64_t tally_if_equal(Neighbor a, Neighbor b) {
        if (a != b) return 0;
        if constexpr (tally != Tally::total) add(found_[a], 1);
        return 1;
    }
};

}  // namespace tgraph
