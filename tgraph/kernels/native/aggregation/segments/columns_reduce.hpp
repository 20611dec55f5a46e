// Reduction of many columns over a batch of arcs. Blocks of columns are reduced in vector registers; the order of
// reduction of each column is that of the arcs.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <type_traits>

#include "aggregation/segments/kernels.hpp"
#include "base/semiring.hpp"

namespace tgraph {

// Whether a reduction gives the same bits for any grouping of the messages.
template <class Reduce, class A>
inline constexpr bool is_associative =
    std::is_integral_v<A> || std::is_same_v<Reduce, Lesser> || std::is_same_v<Reduce, Greater>;

// Reduces messages into `lanes` * `vectors` sums in registers. With few vectors the latency of the dependent operations
// dominates, so an associative reduction combines pairs of messages first.
template <class Reduce, class Edge, int lanes, int vectors, class A>
TGRAPH_INLINE void reduce_block(A* sums, const A* data, const int64_t* at, const A* weights, int64_t count) {
    using Lanes = Vector<A, lanes>;
    Lanes sum[vectors];
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) sum[v] = load<A, lanes>(sums + v * lanes);
    int64_t i = 0;
    if constexpr (vectors <= 2 && is_associative<Reduce, A>)
        for (; i + 2 <= count; i += 2) {
#pragma GCC unroll 2
            for (int v = 0; v < vectors; ++v) {
                const Lanes one = load<A, lanes>(data + at[i] + v * lanes);
                sum[v] = Reduce::apply(sum[v], Reduce::apply(one, load<A, lanes>(data + at[i + 1] + v * lanes)));
            }
        }
    for (; i < count; ++i) {
        Lanes weight{};
        if constexpr (Edge::weighted) weight = weights[i] - Lanes{};
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v)
            sum[v] = Reduce::apply(sum[v], Edge::apply(load<A, lanes>(data + at[i] + v * lanes), weight));
    }
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) *reinterpret_cast<Lanes*>(sums + v * lanes) = sum[v];
}

// At most eight vectors, which leave registers for the messages.
template <class A>
inline constexpr int block_columns = std::min<int>(8 * narrow_bytes / sizeof(A), 64);

template <class Reduce, class Edge, int columns, class A>
TGRAPH_INLINE void reduce_block_of(A* sums, const A* data, const int64_t* at, const A* weights, int64_t count) {
    constexpr int lanes = std::min<int>(columns, narrow_bytes / sizeof(A));  // wider ones are no faster here
    reduce_block<Reduce, Edge, lanes, columns / lanes>(sums, data, at, weights, count);
}

// Dispatches on `width`, a power of two.
template <class Reduce, class Edge, class A>
TGRAPH_INLINE void reduce_width(int64_t width, A* sums, const A* data, const int64_t* at, const A* weights,
                                int64_t count) {
    if constexpr (block_columns<A> == 64)
        if (width == 64) return reduce_block_of<Reduce, Edge, 64>(sums, data, at, weights, count);
    switch (width) {
        case 32: return reduce_block_of<Reduce, Edge, 32>(sums, data, at, weights, count);
        case 16: return reduce_block_of<Reduce, Edge, 16>(sums, data, at, weights, count);
        case 8: return reduce_block_of<Reduce, Edge, 8>(sums, data, at, weights, count);
        case 4: return reduce_block_of<Reduce, Edge, 4>(sums, data, at, weights, count);
        case 2: return reduce_block_of<Reduce, Edge, 2>(sums, data, at, weights, count);
        default: return reduce_block_of<Reduce, Edge, 1>(sums, data, at, weights, count);
    }
}

// The greatest power of two that is at most `columns`, and at most a block.
template <class A>
TGRAPH_INLINE int64_t block_below(int64_t columns) {
    int64_t width = block_columns<A>;
    while (width > columns) width /= 2;
    return width;
}

// Reduces any number of columns. The remainder is computed as a block of a power of two that overlaps the block before;
// it starts from a copy of the sums, so that both compute the same result for the columns that they share.
template <class Reduce, class Edge, class A>
TGRAPH_MULTIVERSION_NARROW void reduce_columns(void* into, const void* from, int64_t columns, const int64_t* at,
                                               const void* by, int64_t count) {
    A* const sums = static_cast<A*>(into);
    const A *const data = static_cast<const A*>(from), *const weights = static_cast<const A*>(by);
    const int64_t width = block_below<A>(columns), rest = columns % width;
    int64_t last = rest ? 1 : 0;
    while (last < rest) last *= 2;
    A copy[block_columns<A>];
    const int64_t begin = columns - last;
    for (int64_t f = 0; f < last; ++f) copy[f] = sums[begin + f];
    for (int64_t f = 0; f < columns; f += width) {
        const bool whole = f + width <= columns;
        reduce_width<Reduce, Edge>(whole ? width : last, whole ? sums + f : copy, data + (whole ? f : begin), at,
                                   weights, count);
    }
    for (int64_t f = 0; f < last; ++f) sums[begin + f] = copy[f];
}

// The same, arc by arc, for what is seldom reduced.
template <class Reduce, class A>
TGRAPH_MULTIVERSION_NARROW void reduce_seldom(void* into, const void* from, int64_t columns, const int64_t* at,
                                              const void*, int64_t count) {
    A* const sums = static_cast<A*>(into);
    for (int64_t i = 0; i < count; ++i) {
        const A* const sent = static_cast<const A*>(from) + at[i];
#pragma GCC ivdep
        for (int64_t f = 0; f < columns; ++f) sums[f] = Reduce::apply(sums[f], sent[f]);
    }
}

}  // namespace tgraph
