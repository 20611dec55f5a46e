// Rounds of a search whose messages are all equal, as those of breadth-first search: vertices are reached or not, and
// sets of them are bitmaps, whose words stay in the nearest cache.
//
// No loop over many vertices or arcs branches on what it finds there. Every other guess would be wrong, which costs
// as much as a dozen arcs; and what is read at random by the next ones would wait for it.
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
#include "relaxation/vertex_set.hpp"

namespace tgraph {

// Byte i of 64, which is 0 or 1, as bit i.
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

// Which of at most 64 values a message would improve.
template <class V, class Semiring>
TGRAPH_MULTIVERSION_NARROW uint64_t improved_by(V message, const V* values, int64_t count, Semiring semiring) {
    unsigned char improved[64] = {};
    for (int64_t i = 0; i < count; ++i) improved[i] = semiring.better(message, values[i]);
    return bits_of(improved);
}

// Which of at most 64 rows have arcs.
TGRAPH_MULTIVERSION_NARROW inline uint64_t with_arcs(const int64_t* offset, int64_t count) {
    unsigned char has_arcs[64] = {};
    for (int64_t i = 0; i < count; ++i) has_arcs[i] = offset[i] != offset[i + 1];
    return bits_of(has_arcs);
}

template <class V, class Semiring>
class Hops {
public:
    Hops(V* values, int64_t num_vertices, const int64_t* out_offset, Semiring semiring)
        : values_(values), n_(num_vertices), out_offset_(out_offset), semiring_(semiring), open_(num_vertices) {}

    // What the next round sends. Whom it does not improve a better one still might.
    void begin(V message) {
        if (semiring_.better(message, message_)) open_is_known_ = false;
        message_ = message;
    }

    // Values were improved by somebody else.
    void forget() { open_is_known_ = false; }

    // Lets the vertices of some words hear those of `front` along their in-arcs; `everyone` says that all send. Those
    // reached are noted.
    template <bool everyone>
    void pull(Range words, const int64_t* offset, const int32_t* neighbors, Bitmap& front, Bitmap& reached,
              Found& found) {
        int64_t left = 0;
        for (int64_t word = words.begin; word < words.end; ++word) {
            const int64_t first = word * 64, count = std::min<int64_t>(64, n_ - first);
            uint64_t& open = open_.words()[word];
            if (!open_is_known_)
                open = improved_by(message_, values_ + first, count, semiring_) & with_arcs(offset + first, count);
            const uint64_t hits = everyone ? open : hear(open, offset + first, n_ - first, neighbors, front.words());
            open &= ~hits;
            left += std::popcount(open);
            reach(word, hits, reached, found);
        }
        left_open_.fetch_add(left, std::memory_order_relaxed);
    }

    // Every row was pulled: what they left open is all there is.
    void end_pull() {
        num_open_ = left_open_.exchange(0, std::memory_order_relaxed);
        open_is_known_ = true;
    }

    // How many vertices the next pull looks at.
    int64_t num_open() const { return open_is_known_ ? num_open_ : n_; }

    // Sends along some arcs, to be taken by `take`.
    void mark(Range arcs, const int32_t* neighbors, Bitmap& marked) const {
        uint64_t* const words = marked.words();
        for (int64_t arc = arcs.begin; arc < arcs.end; ++arc)
            words[neighbors[arc] >> 6] |= uint64_t{1} << (neighbors[arc] & 63);
    }

    // Notes which vertices of some words were marked in one of the bitmaps and are improved; leaves none marked.
    void take(Range words, std::vector<Bitmap>& marked, Bitmap& reached, Found& found) {
        for (int64_t word = words.begin; word < words.end; ++word) {
            uint64_t hits = 0;
            for (Bitmap& set : marked) hits |= std::exchange(set.words()[word], 0);
            const int64_t first = word * 64;
            if (hits) hits &= improved_by(message_, values_ + first, std::min<int64_t>(64, n_ - first), semiring_);
            reach(word, hits, reached, found);
        }
    }

private:
    // Which of the open ones of 64 vertices have a neighbour among the senders. Most that have one find it first. There
    // are so many rows from the first of these vertices on.
    static uint64_t hear(uint64_t open, const int64_t* offset, int64_t rows, const int32_t* neighbors,
                         const uint64_t* front) {
        const auto sends = [front](int64_t u) { return front[u >> 6] >> (u & 63) & 1; };
        uint64_t hits = 0;
        for (uint64_t left = open; left; left &= left - 1) {
            const int i = std::countr_zero(left);
            if (i + 64 < rows) fetch(neighbors + offset[i + 64]);
            hits |= sends(neighbors[offset[i]]) << i;
        }
        for (uint64_t left = open & ~hits; left; left &= left - 1) {
            const int i = std::countr_zero(left);
            int64_t arc = offset[i] + 1;
            while (arc < offset[i + 1] && !sends(neighbors[arc])) ++arc;
            hits |= uint64_t{arc < offset[i + 1]} << i;
        }
        return hits;
    }

    void reach(int64_t word, uint64_t hits, Bitmap& reached, Found& found) {
        reached.words()[word] = hits;
        for (; hits; hits &= hits - 1) {
            const int64_t v = word * 64 + std::countr_zero(hits);
            values_[v] = message_;
            ++found.size;
            found.arcs += out_offset_[v + 1] - out_offset_[v];
        }
    }

    V* values_;
    int64_t n_;
    const int64_t* out_offset_;
    Semiring semiring_;
    V message_{};
    Bitmap open_;  // the vertices with in-arcs whom the message of the last pull still improves
    bool open_is_known_ = false;
    int64_t num_open_ = 0;
    std::atomic<int64_t> left_open_{0};
};

}  // namespace tgraph
