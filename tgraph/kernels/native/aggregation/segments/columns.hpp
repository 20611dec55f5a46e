// Reducing many columns: the inner loops of every kernel that walks arcs, by the names of reduction and edge operation.
// They are compiled once for each kind of number and called through pointers, a batch of arcs at a time, so that what
// walks the arcs is compiled once as well.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/memory.hpp"
#include "base/numbers.hpp"

namespace tgraph {

// Data of T, weights of W, sums in A.
template <class T, class A, class W = T>
struct ColumnKernels {
    // Adds to the sums of adjacent columns the messages that begin at data + at[i], each with weights[i].
    void (*reduce)(A* sums, const T* data, int64_t columns, const int64_t* at, const A* weights, int64_t count);
    // The same where each column has a weight of its own, those of message i at weights + arc[i] * columns.
    void (*reduce_pairs)(A* sums, const T* data, int64_t columns, const int64_t* at, const W* weights,
                         const int64_t* arc, int64_t count);
    // Adds other sums to the sums.
    void (*join)(A* sums, const A* others, int64_t columns);
    bool weighted;
};

// Throws std::invalid_argument for names, or pairs of them, that are not compiled.
template <class T, class A, class W = T>
ColumnKernels<T, A, W> column_kernels(std::string_view reduce, std::string_view edge);

// Asks for a row of data before it is read, or for its beginning if it is long.
template <class T>
TGRAPH_INLINE void fetch_columns(const T* row, int64_t columns) {
    const auto bytes = std::min<int64_t>(columns * static_cast<int64_t>(sizeof(T)), 1024);
    for (int64_t line = 0; line < bytes; line += 64) fetch_ahead(reinterpret_cast<const char*>(row) + line);
}

}  // namespace tgraph
