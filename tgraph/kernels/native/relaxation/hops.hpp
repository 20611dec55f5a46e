// Rounds of a search whose messages are all equal, as in breadth-first search: direction-optimising BFS (Beamer,
// Asanovic, Patterson, SC 2012) on bitmaps, 64 vertices at a time. A word of a bitmap is written by one thread only.
//
// Loops over vertices and arcs have no data-dependent branches, which would be unpredictable and delay the following
// random accesses.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "base/memory.hpp"
#include "base/simd.hpp"
#include "relaxation/relaxation.hpp"
#include "relaxation/vertex_set.hpp"

namespace tgraph {

// Packs 64 bytes, each 0 or 1, into bits.
TGRAPH_INLINE uint64_t bits_of(const unsigned char* bytes) {
    constexpr bool little = std::endian::native == std::endian::little;
    constexpr uint64_t diagonal = little ? 0x0102040810204080 : 0x8040201008040201;
    uint64_t bits = 0;
    for (int i = 0; i < 8; ++i) {
        uint64_t eight;
        std::memcpy(&eight, bytes + 8 * i, sizeof eight);
        bits |= (eight * diagonal >> 56) << 8 * i;
    }
    return bits;
}

// The mask of up to 64 values that a message improves.
template <class V>
TGRAPH_MULTIVERSION_NARROW uint64_t improved_by(V message, const V* values, int64_t count, bool is_min) {
    unsigned char improved[64] = {};
    if (is_min)
        for (int64_t i = 0; i < count; ++i) improved[i] = message < values[i];
    else
        for (int64_t i = 0; i < count; ++i) improved[i] = message > values[i];
    return bits_of(improved);
}

// The mask of up to 64 rows that are not empty.
TGRAPH_MULTIVERSION_NARROW inline uint64_t with_arcs(const int64_t* offset, int64_t count) {
    unsigned char has_arcs[64] = {};
    for (int64_t i = 0; i < count; ++i) has_arcs[i] = offset[i] != offset[i + 1];
    return bits_of(has_arcs);
}

// The mask of those of 64 unvisited vertices that have a neighbor in the frontier. The first neighbors are tested
// without a branch, as most vertices that have a parent find it there. `rows` : rows from the first vertex on.
inline uint64_t find_parents(uint64_t unvisited, const int64_t* offset, int64_t rows, const int32_t* neighbors,
                             const uint64_t* front) {
    const auto is_active = [front](int64_t u) { return front[u >> 6] >> (u & 63) & 1; };
    uint64_t hits = 0;
    for (uint64_t left = unvisited; left; left &= left - 1) {
        const int i = std::countr_zero(left);
        if (i + 64 < rows) fetch(neighbors + offset[i + 64]);
        hits |= is_active(neighbors[offset[i]]) << i;
    }
    for (uint64_t left = unvisited & ~hits; left; left &= left - 1) {
        const int i = std::countr_zero(left);
        int64_t arc = offset[i] + 1;
        while (arc < offset[i + 1] && !is_active(neighbors[arc])) ++arc;
        hits |= uint64_t{arc < offset[i + 1]} << i;
    }
    return hits;
}

template <class V>
class Hops {
public:
    Hops(V* values, int64_t num_vertices, const Pieces<V>& out, bool is_min, V nothing)
        : values_(values), n_(num_vertices), out_(out), is_min_(is_min), nothing_(nothing), unvisited_(num_vertices) {}

    // Sets the message of the next round. A better message may improve vertices that were visited; another one need not
    // improve vertices that have a value but were not visited.
    void begin(V message) {
        if ((is_min_ ? message < message_ : message > message_) || (message != message_ && has_valued_))
            is_current_ = false;
        if (!is_current_) has_valued_ = false;
        message_ = message;
    }

    // The unvisited set is outdated, as values were changed by a push.
    void invalidate() { is_current_ = false; }

    // Pulls into the vertices of some words along their in-arcs from the frontier, or from all vertices if
    // `all_active`; adds improved vertices to `reached`.
    void pull(bool all_active, Range words, const Pieces<V>& in, Bitmap& front, Bitmap& reached, Found& found) {
        int64_t left = 0;
        for (int64_t word = words.begin; word < words.end; ++word) {
            const int64_t first = word * 64, count = std::min<int64_t>(64, n_ - first);
            uint64_t& unvisited = unvisited_.words()[word];
            if (!is_current_) {
                uint64_t with_any = 0;
                for (const auto& rows : in) with_any |= with_arcs(rows.offset + first, count);
                unvisited = improved_by(message_, values_ + first, count, is_min_) & with_any;
                const uint64_t valued = improved_by(nothing_, values_ + first, count, !is_min_);
                if (unvisited & valued) has_valued_.store(true, std::memory_order_relaxed);
            }
            const uint64_t hits = all_active ? unvisited : parents(unvisited, in, first, front.words());
            unvisited &= ~hits;
            left += std::popcount(unvisited);
            reach(word, hits, reached, found);
        }
        left_.fetch_add(left, std::memory_order_relaxed);
    }

    // To be called after all words were pulled: the unvisited set is up to date.
    void end_pull() {
        num_unvisited_ = left_.exchange(0, std::memory_order_relaxed);
        is_current_ = true;
    }

    // The number of vertices that the next pull visits.
    int64_t num_unvisited() const { return is_current_ ? num_unvisited_ : n_; }

    // Marks the targets of some arcs, for `take`.
    void mark(Range arcs, const int32_t* neighbors, Bitmap& marked) const {
        uint64_t* const words = marked.words();
        for (int64_t arc = arcs.begin; arc < arcs.end; ++arc)
            words[neighbors[arc] >> 6] |= uint64_t{1} << (neighbors[arc] & 63);
    }

    // Adds vertices that are marked in one of the bitmaps and improve to `reached`, for some words; clears the marks.
    void take(Range words, std::vector<Bitmap>& marked, Bitmap& reached, Found& found) {
        for (int64_t word = words.begin; word < words.end; ++word) {
            uint64_t hits = 0;
            for (Bitmap& set : marked) hits |= std::exchange(set.words()[word], 0);
            const int64_t first = word * 64;
            if (hits) hits &= improved_by(message_, values_ + first, std::min<int64_t>(64, n_ - first), is_min_);
            reach(word, hits, reached, found);
        }
    }

private:
    // `find_parents` of the vertices from `first` on, in whichever piece they have one.
    uint64_t parents(uint64_t unvisited, const Pieces<V>& in, int64_t first, const uint64_t* front) const {
        const int64_t rows = n_ - first;
        if (!in.are_two())
            return find_parents(unvisited, in.begin()->offset + first, rows, in.begin()->neighbors, front);
        uint64_t hits = 0;
        for (const auto& [offset, neighbors, weights] : in)
            if (const uint64_t left = unvisited & ~hits)
                hits |= find_parents(left & with_arcs(offset + first, std::min<int64_t>(64, rows)), offset + first,
                                     rows, neighbors, front);
        return hits;
    }

    void reach(int64_t word, uint64_t hits, Bitmap& reached, Found& found) {
        reached.words()[word] = hits;
        if (!hits) return;
        found.size += std::popcount(hits);
        for (const auto& rows : out_) {
            int64_t arcs = 0;
            for (uint64_t left = hits; left; left &= left - 1) {
                const int64_t v = word * 64 + std::countr_zero(left);
                values_[v] = message_;
                arcs += rows.degree(v);
            }
            found.arcs += arcs;
        }
    }

    V* values_;
    int64_t n_;
    Pieces<V> out_;
    bool is_min_;
    V nothing_, message_{};
    Bitmap unvisited_;         // vertices with in-arcs that the message of the last pull would improve
    bool is_current_ = false;  // whether unvisited_ reflects the values
    std::atomic<bool> has_valued_{false};  // whether one of unvisited_ has a value all the same
    int64_t num_unvisited_ = 0;
    std::atomic<int64_t> left_{0};  // unvisited vertices of the words pulled so far
};

}  // namespace tgraph
