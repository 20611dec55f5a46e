// The inner loops of aggregation, selected by the dtypes and by the names of reduction and edge operation, and called
// through pointers without types, so that the code that iterates over rows and arcs is compiled once. A loop does one
// of three things: it reads stored numbers as accumulators, applies the edge operation to a batch of rows, or reduces a
// batch. Only products that are added are multiplied in the loop that adds them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/memory.hpp"
#include "aggregation/segments/number.hpp"
#include "threads/parallel.hpp"

namespace tgraph {

enum class Reduction { sum, prod, min, max };
enum class Edge { copy, mul, add };

// Throw std::invalid_argument for other names.
Reduction reduction_of(std::string_view name);
Edge edge_of(std::string_view name);

// ---- several columns ------------------------------------------------------------------------------------------------

// Reduces into `sums` [columns] the rows data + at[i], with `weights` multiplied by weights[i].
using ReduceRows = void (*)(void* sums, const void* data, int64_t columns, const int64_t* at, const void* weights,
                            int64_t count);

// out[i] = the row data + at[i], converted, [count, columns].
using ReadRows = void (*)(const void* data, const int64_t* at, int64_t columns, int64_t count, void* out);

// out[i] = the row data + at[i] and its weights by the edge operation, [count, heads, span]. The weights of row i are
// weights + by[i], one per head. `out` may be the data.
using CombineRows = void (*)(const void* data, const int64_t* at, const void* weights, const int64_t* by,
                             int64_t heads, int64_t span, int64_t count, void* out);

// Reduces the row data + at[i] into the row out + place[i], in this order.
using ScatterRows = void (*)(void* out, const int64_t* place, const void* data, int64_t columns, const int64_t* at,
                             int64_t count);

// Reduces one row [columns] into the rows out + neighbors[i] * columns, in this order.
using SendRow = void (*)(void* out, const int32_t* neighbors, int64_t count, const void* row, int64_t columns);

struct PushKernels {
    ScatterRows scatter;
    SendRow send;
};

// Throw std::invalid_argument for pairs that are not compiled: sums and products of integers exist in 64 bits only.
ReduceRows reduce_rows_kernel(Number number, Reduction reduction);
ReduceRows add_products_kernel(Number number);
ReadRows read_rows_kernel(Number stored, Number number);
CombineRows combine_rows_kernel(Number number, Edge edge);
PushKernels push_kernels(Number number, Reduction reduction);

// Divides rows [rows, columns] by the length of each, at least 1; numbers are floating.
void divide_rows(Number number, void* sums, int64_t columns, const int64_t* offset, int64_t rows);

// Rounds accumulators to what is stored; `out` may be the numbers.
void store_numbers(Number number, const void* numbers, int64_t count, Number stored, void* out);

// count times the number at `value`.
void fill_numbers(Number number, void* out, int64_t count, const void* value);

// ---- one column -----------------------------------------------------------------------------------------------------

// messages[i] = edge(data[neighbors[i]], weights[i])
using WriteMessages = void (*)(const void* data, const int32_t* neighbors, const void* weights, int64_t count,
                               void* messages);

// results[i] = the reduction of row rows.begin + i, for rows whose messages lie one after the other. Reads, and
// ignores, `message_padding` bytes behind the last.
using ReduceMessages = void (*)(const void* messages, const int64_t* offset, Range rows, const void* identity,
                                void* results);

inline constexpr int64_t message_padding = 64;

struct ColumnKernels {
    WriteMessages write;
    ReduceMessages reduce;
    void (*fold)(void* sum, const void* messages, int64_t count);  // in order
};

// Null where no kernel writes messages of these.
ColumnKernels column_kernels(Number stored, Number weights, Number number, Reduction reduction, Edge edge);

// ---- prefetch -------------------------------------------------------------------------------------------------------

// Prefetches a row, at most its first KiB: the hardware prefetcher follows.
TGRAPH_INLINE void fetch_row(const char* row, int64_t bytes) {
    for (int64_t line = 0; line < std::min<int64_t>(bytes, 1024); line += 64) fetch_ahead(row + line);
}

}  // namespace tgraph
