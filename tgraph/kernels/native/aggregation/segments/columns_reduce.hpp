// Definitions of the kernels declared in columns.hpp, included only by the files that instantiate them. Blocks of
// columns are reduced in vector registers; the order of reduction of each column is that of the arcs.
#pragma once

#include <algorithm>
#include <type_traits>

#include "aggregation/segments/columns.hpp"
#include "base/semiring.hpp"

namespace tgraph {

// Whether a reduction gives the same bits for any grouping of the messages.
template <class Reduce, class A>
inline constexpr bool is_associative =
    std::is_integral_v<A> || std::is_same_v<Reduce, Lesser> || std::is_same_v<Reduce, Greater>;

// Reduces messages into `lanes` * `vectors` sums in registers. With few vectors the latency of the dependent operations
// dominates, so an associative reduction combines pairs of messages first.
template <class Reduce, class Edge, int lanes, int vectors, class T, class A>
TGRAPH_INLINE void reduce_block(A* sums, const T* data, const int64_t* at, const A* weights, int64_t count) {
    using Lanes = Vector<A, lanes>;
    Lanes sum[vectors];
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) sum[v] = load<A, lanes>(sums + v * lanes);
    int64_t i = 0;
    if constexpr (vectors <= 2 && is_associative<Reduce, A>)
        for (; i + 2 <= count; i += 2) {
            Lanes weight{}, after{};
            if constexpr (Edge::weighted) weight = weights[i] - Lanes{}, after = weights[i + 1] - Lanes{};
#pragma GCC unroll 2
            for (int v = 0; v < vectors; ++v) {
                const Lanes one = Edge::apply(load<A, lanes>(data + at[i] + v * lanes), weight);
                const Lanes next = Edge::apply(load<A, lanes>(data + at[i + 1] + v * lanes), after);
                sum[v] = Reduce::apply(sum[v], Reduce::apply(one, next));
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

// Eight AVX2 vectors, which leave registers for the messages.
template <class A>
inline constexpr int block_columns = 8 * 32 / std::max<int>(sizeof(A), 4);

template <class Reduce, class Edge, int columns, class T, class A>
TGRAPH_INLINE void reduce_block_of(A* sums, const T* data, const int64_t* at, const A* weights, int64_t count) {
    constexpr int lanes = std::min<int>(columns, 32 / sizeof(A));  // AVX2: wider vectors are no faster here
    reduce_block<Reduce, Edge, lanes, columns / lanes>(sums, data, at, weights, count);
}

// Dispatches on `width`, a power of two.
template <class Reduce, class Edge, class T, class A>
TGRAPH_INLINE void reduce_width(int64_t width, A* sums, const T* data, const int64_t* at, const A* weights,
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
template <class Reduce, class Edge, class T, class A>
TGRAPH_MULTIVERSION_NARROW void reduce_columns(A* sums, const T* data, int64_t columns, const int64_t* at,
                                               const A* weights, int64_t count) {
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

// One weight per column.
template <class Reduce, class Edge, class T, class A, class W>
void reduce_pairs(A* sums, const T* data, int64_t columns, const int64_t* at, const W* weights, const int64_t* arc,
                  int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
        const T* sent = data + at[i];
        const W* weight = weights + arc[i] * columns;
        for (int64_t f = 0; f < columns; ++f)
            sums[f] = Reduce::apply(sums[f],
                                    Edge::apply(static_cast<A>(widen(sent[f])), static_cast<A>(widen(weight[f]))));
    }
}

template <class Reduce, class A>
void join_sums(A* sums, const A* others, int64_t columns) {
    for (int64_t f = 0; f < columns; ++f) sums[f] = Reduce::apply(sums[f], others[f]);
}

template <class T, class A, class W>
ColumnKernels<T, A, W> column_kernels(std::string_view reduce, std::string_view edge) {
    ColumnKernels<T, A, W> found{};
    with_pair<T, A, W>(reduce, edge, [&]<class Reduce, class Edge>(Reduce, Edge) {
        found.reduce = &reduce_columns<Reduce, Edge, T, A>;
        if constexpr (Edge::weighted) found.reduce_pairs = &reduce_pairs<Reduce, Edge, T, A, W>;
        found.join = &join_sums<Reduce, A>;
        found.weighted = Edge::weighted;
    });
    return found;
}

}  // namespace tgraph
