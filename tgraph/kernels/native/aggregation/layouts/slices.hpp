// Kernels on the lanes of SELL-C-sigma slices: see sell.cpp.
#pragma once

#include <cstdint>

#include "aggregation/segments/kernels.hpp"

namespace tgraph {

inline constexpr int lanes_of_vector = 16, most_lanes = 2 * lanes_of_vector;

// Reduces into the sum of each lane, of one or two vectors, arcs begin .. begin + count of its row, masked by the
// length of the row. Gathered data lies without gaps, the weights have stride `height`.
using ReduceLanes = void (*)(void* sums, const void* sent, const void* weights, int64_t height, const int32_t* length,
                             int64_t begin, int64_t count, int vectors);

// For what is sent as accumulators, and for float32 that is added in float64; `multiplied` adds products of floating
// numbers. Throws std::invalid_argument where none is compiled.
ReduceLanes reduce_lanes_kernel(Number stored, Number number, Reduction reduction, bool multiplied);

// out[i] = data[at[i]]; `out` is aligned to vector registers and padded by one.
void gather_values(Number number, const void* data, const int32_t* at, int64_t count, void* out);

}  // namespace tgraph
