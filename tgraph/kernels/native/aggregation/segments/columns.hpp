// The inner loops of SpMM over a semiring: reduce many columns over a batch of arcs, selected by the names of reduction
// and edge operation. They are compiled once per dtype and called through function pointers, so that kernels that
// iterate over arcs are compiled only once for all semirings.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/memory.hpp"
#include "base/numbers.hpp"

namespace tgraph {

// Data of T, weights of W, accumulators of A.
template <class T, class A, class W = T>
struct ColumnKernels {
    // Reduces into `sums` the messages of rows data + at[i], each with weights[i].
    void (*reduce)(A* sums, const T* data, int64_t columns, const int64_t* at, const A* weights, int64_t count);
    // The same with one weight per column: those of message i are at weights + arc[i] * columns.
    void (*reduce_pairs)(A* sums, const T* data, int64_t columns, const int64_t* at, const W* weights,
                         const int64_t* arc, int64_t count);
    // Reduces other partial sums into `sums`.
    void (*join)(A* sums, const A* others, int64_t columns);
    bool weighted;
};

// Throws std::invalid_argument for pairs of names that are not compiled.
template <class T, class A, class W = T>
ColumnKernels<T, A, W> column_kernels(std::string_view reduce, std::string_view edge);

// Prefetches a row of data, at most its first KiB: the hardware prefetcher follows.
template <class T>
TGRAPH_INLINE void fetch_columns(const T* row, int64_t columns) {
    const auto bytes = std::min<int64_t>(columns * static_cast<int64_t>(sizeof(T)), 1024);
    for (int64_t line = 0; line < bytes; line += 64) fetch_ahead(reinterpret_cast<const char*>(row) + line);
}

}  // namespace tgraph
