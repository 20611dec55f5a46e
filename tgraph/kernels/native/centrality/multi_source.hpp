// Breadth-first searches from many sources at once (MS-BFS: Then et al., "The More the Merrier: Efficient Multi-Source
// Graph Traversal", VLDB 2014), which count the vertices at each distance from each source.
//
// A group of sources is searched together: each vertex has a bit for each source, in `width` words, at most a cache
// line. Pushes go along the arcs of the vertices that are active for any source; pulls visit the vertices that some
// source has not reached. Bits are counted by source with carry-save adders (Harley and Seal), one addition of vectors
// for each vertex that is reached, whatever the number of sources.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/memory.hpp"
#include "base/neighbor.hpp"
#include "base/simd.hpp"
#include "threads/parallel.hpp"

namespace tgraph {

// A bit for each source of a group.
template <int width>
struct alignas(8 * width) SourceBits {
    uint64_t word[width];

    TGRAPH_INLINE bool any() const {
        uint64_t all = 0;
        for (int i = 0; i < width; ++i) all |= word[i];
        return all != 0;
    }
    TGRAPH_INLINE void add(const SourceBits& other) {
        for (int i = 0; i < width; ++i) word[i] |= other.word[i];
    }
    TGRAPH_INLINE SourceBits without(const SourceBits& other) const {
        SourceBits left;
        for (int i = 0; i < width; ++i) left.word[i] = word[i] & ~other.word[i];
        return left;
    }
};

// How often each bit was set in the bits that were added. Plane j holds two summands of weight 2^j at most, so that
// every second addition goes on to the next plane.
template <int width>
struct BitCounter {
    static constexpr int planes = 48;
    SourceBits<width> sum[planes], pending[planes];
    int64_t size;

    void clear() {
        for (int j = 0; size >> j; ++j) sum[j] = {};
        size = 0;
    }

    TGRAPH_INLINE void add(SourceBits<width> bits) {
        int j = 0;
        for (int64_t before = size++; before & 1; before >>= 1, ++j)
            for (int i = 0; i < width; ++i) {
                const uint64_t a = sum[j].word[i], b = pending[j].word[i], c = bits.word[i], either = a ^ b;
                sum[j].word[i] = either ^ c;
                bits.word[i] = (a & b) | (either & c);
            }
        pending[j] = bits;
    }

    // Writes the count of each of the first bits, `count` of them.
    void write(int64_t* out, int64_t count) const {
        std::fill_n(out, count, 0);
        for (int j = 0; size >> j; ++j)
            for (int64_t bit = 0; bit < count; ++bit) {
                const int64_t in_sum = sum[j].word[bit >> 6] >> (bit & 63) & 1;
                const int64_t in_pending = pending[j].word[bit >> 6] >> (bit & 63) & (size >> j & 1);
                out[bit] += (in_sum + in_pending) << j;
            }
    }
};

struct SearchArcs {
    const int64_t* offset;
    const Neighbor* neighbors;

    TGRAPH_INLINE int64_t degree(int64_t v) const { return offset[v + 1] - offset[v]; }
};

// What a group of searches holds: `front` and `next` are zero outside of `active` and `reached`.
template <int width>
struct SearchState {
    SearchArcs out, in;
    int64_t num_arcs;
    SourceBits<width>*seen, *front, *next;
    Neighbor *active, *reached, *open;  // open: vertices with in-arcs that some source may not have reached
    int64_t num_active, num_reached, num_open, active_arcs, open_arcs;
    BitCounter<width> counter;

    TGRAPH_INLINE void arrive(Neighbor v, const SourceBits<width>& bits) {
        counter.add(bits);
        seen[v].add(bits);
        active_arcs += out.degree(v);
        SourceBits<width> all;
        for (int i = 0; i < width; ++i) all.word[i] = ~uint64_t{0};
        if (!all.without(seen[v]).any()) open_arcs -= in.degree(v);
    }
};

// The distance, in arcs or vertices, at which what is read at random addresses is fetched.
inline constexpr int64_t search_ahead = 8;

template <int width>
TGRAPH_INLINE void push(SearchState<width>& state) {
    state.num_reached = 0;
    for (int64_t i = 0; i < state.num_active; ++i) {
        const Neighbor u = state.active[i];
        const SourceBits<width> bits = state.front[u];
        const int64_t end = state.out.offset[u + 1];
        if (i + search_ahead < state.num_active) fetch(state.out.offset + state.active[i + search_ahead]);
        if (i + 4 < state.num_active) fetch(state.out.neighbors + state.out.offset[state.active[i + 4]]);
        for (int64_t arc = state.out.offset[u]; arc < end; ++arc) {
            if (arc + search_ahead < end) {
                fetch(state.seen + state.out.neighbors[arc + search_ahead]);
                fetch(state.next + state.out.neighbors[arc + search_ahead]);
            }
            const Neighbor v = state.out.neighbors[arc];
            const SourceBits<width> found = bits.without(state.seen[v]);
            if (!found.any()) continue;
            state.reached[state.num_reached] = v;
            state.num_reached += !state.next[v].any();
            state.next[v].add(found);
        }
    }
    state.active_arcs = 0;
    for (int64_t i = 0; i < state.num_reached; ++i) {
        if (i + search_ahead < state.num_reached) {
            fetch(state.seen + state.reached[i + search_ahead]);
            fetch(state.next + state.reached[i + search_ahead]);
        }
        state.arrive(state.reached[i], state.next[state.reached[i]]);
    }
}

// Rows end where all sources that had not reached the vertex are found.
template <int width>
TGRAPH_INLINE void pull(SearchState<width>& state) {
    constexpr int64_t ahead = 2 * search_ahead, at_once = 4;
    state.num_reached = state.active_arcs = 0;
    int64_t kept = 0;
    SourceBits<width> all;
    for (int i = 0; i < width; ++i) all.word[i] = ~uint64_t{0};
    for (int64_t i = 0; i < state.num_open; ++i) {
        const Neighbor v = state.open[i];
        if (i + search_ahead < state.num_open) fetch(state.seen + state.open[i + search_ahead]);
        const SourceBits<width> missing = all.without(state.seen[v]);
        if (!missing.any()) continue;
        SourceBits<width> found{};
        for (int64_t arc = state.in.offset[v], end = state.in.offset[v + 1]; arc < end;) {
            const int64_t stop = std::min(arc + at_once, end);
            for (; arc < stop; ++arc) {
                if (arc + ahead < state.num_arcs) fetch(state.front + state.in.neighbors[arc + ahead]);
                found.add(state.front[state.in.neighbors[arc]]);
            }
            if (!missing.without(found).any()) break;
        }
        for (int w = 0; w < width; ++w) found.word[w] &= missing.word[w];
        state.open[kept] = v;
        kept += missing.without(found).any();
        if (!found.any()) continue;
        state.next[v] = found;
        state.reached[state.num_reached++] = v;
        state.arrive(v, found);
    }
    state.num_open = kept;
}

// Bits of 256 sources and more are vectors.
inline void push_front(SearchState<1>& state) { push(state); }
inline void push_front(SearchState<2>& state) { push(state); }
TGRAPH_MULTIVERSION_NARROW inline void push_front(SearchState<4>& state) { push(state); }
TGRAPH_MULTIVERSION inline void push_front(SearchState<8>& state) { push(state); }
inline void pull_open(SearchState<1>& state) { pull(state); }
inline void pull_open(SearchState<2>& state) { pull(state); }
TGRAPH_MULTIVERSION_NARROW inline void pull_open(SearchState<4>& state) { pull(state); }
TGRAPH_MULTIVERSION inline void pull_open(SearchState<8>& state) { pull(state); }

// Searches group after group, in memory of its own.
template <int width>
class GroupSearch {
public:
    static constexpr int64_t capacity = 64 * width;

    GroupSearch(SearchArcs out, SearchArcs in, int64_t num_vertices)
        : n_(num_vertices), seen_(allocate()), front_(allocate()), next_(allocate()), active_(n_ + 1), reached_(n_ + 1),
          open_(n_ + 1) {
        std::fill_n(front_.get(), n_, SourceBits<width>{});
        std::fill_n(next_.get(), n_, SourceBits<width>{});
        state_.out = out, state_.in = in;
        state_.num_arcs = in.offset[n_];
        state_.counter.size = 0;
        std::fill_n(state_.counter.sum, BitCounter<width>::planes, SourceBits<width>{});
    }

    // The number of vertices at each distance: level after level, `count` numbers each.
    std::vector<int64_t> run(const int64_t* sources, int64_t count) {
        std::vector<int64_t> counts;
        each_level(sources, count, [&] {
            counts.resize(counts.size() + count);
            state_.counter.write(counts.data() + counts.size() - count, count);
        });
        return counts;
    }

    // The distance of each vertex from each source, [count, n], where it is reached; other places are left.
    void run(const int64_t* sources, int64_t count, int32_t* distance) {
        int32_t level = 0;
        each_level(sources, count, [&] {
            for (int64_t i = 0; i < state_.num_active; ++i) {
                const Neighbor v = state_.active[i];
                for (int w = 0; w < width; ++w)
                    for (uint64_t bits = state_.front[v].word[w]; bits; bits &= bits - 1)
                        distance[(64 * w + std::countr_zero(bits)) * n_ + v] = level;
            }
            ++level;
        });
    }

private:
    // Calls visit() when the vertices of a level are `active`, with their sources in `front`.
    template <class Visit>
    void each_level(const int64_t* sources, int64_t count, const Visit& visit) {
        start(sources, count);
        while (state_.num_active) {
            poll_interruption();
            visit();
            state_.counter.clear();
            // An arc of a push has two random accesses, to memory that it also writes.
            3 * state_.active_arcs < state_.open_arcs ? push_front(state_) : pull_open(state_);
            for (int64_t i = 0; i < state_.num_active; ++i) state_.front[state_.active[i]] = {};
            std::swap(state_.front, state_.next);
            std::swap(state_.active, state_.reached);
            state_.num_active = state_.num_reached;
        }
        state_.counter.clear();
    }

    using BitsOfAll = std::unique_ptr<SourceBits<width>[]>;  // as aligned as vectors are

    BitsOfAll allocate() const {
        BitsOfAll bits(new SourceBits<width>[n_]);
        advise_huge_pages(bits.get(), n_ * sizeof(SourceBits<width>));
        return bits;
    }

    void start(const int64_t* sources, int64_t count) {
        SourceBits<width> unused{};
        for (int64_t bit = count; bit < capacity; ++bit) unused.word[bit >> 6] |= uint64_t{1} << (bit & 63);
        std::fill_n(seen_.get(), n_, unused);
        state_.seen = seen_.get(), state_.front = front_.get(), state_.next = next_.get();
        state_.active = active_.data(), state_.reached = reached_.data(), state_.open = open_.data();
        state_.num_active = state_.num_open = state_.active_arcs = 0;
        state_.open_arcs = state_.num_arcs;
        for (int64_t v = 0; v < n_; ++v) {
            state_.open[state_.num_open] = static_cast<Neighbor>(v);
            state_.num_open += state_.in.degree(v) > 0;
        }
        for (int64_t bit = 0; bit < count; ++bit) {
            const auto v = static_cast<Neighbor>(sources[bit]);
            if (!state_.front[v].any()) state_.active[state_.num_active++] = v;
            state_.front[v].word[bit >> 6] |= uint64_t{1} << (bit & 63);
        }
        for (int64_t i = 0; i < state_.num_active; ++i)
            state_.arrive(state_.active[i], state_.front[state_.active[i]]);
    }

    int64_t n_;
    BitsOfAll seen_, front_, next_;
    Scratch<Neighbor> active_, reached_, open_;
    SearchState<width> state_;
};

}  // namespace tgraph
