// Vertex sets as bitmaps, sums and scans over a block, and edge-balanced assignment of the arcs of rows to blocks.
#pragma once

#include "base/atomics.cuh"

namespace tgraph {

constexpr int block_size = 256;  // of every kernel that includes this file
constexpr int warps = block_size / 32;

__device__ int64_t global_thread() { return static_cast<int64_t>(blockIdx.x) * block_size + threadIdx.x; }
__device__ int lane() { return threadIdx.x % 32; }

// ---- bitmaps: vertex v is bit v % 32 of word v / 32

__device__ bool contains(const uint32_t* words, int64_t v) { return words[v / 32] >> (v % 32) & 1; }

// Returns whether this thread has set the bit; true for exactly one of several concurrent threads.
__device__ bool insert(uint32_t* words, int64_t v) {
    const uint32_t bit = uint32_t{1} << (v % 32);
    if (look(words + v / 32) & bit) return false;
    return !(atomicOr(words + v / 32, bit) & bit);
}

// ---- sums; called by all threads of the warp or block

template <class T>
__device__ T warp_sum(T value) {
    for (int step = 16; step; step /= 2) value += __shfl_xor_sync(all_lanes, value, step);
    return value;
}

// The sum over a block, for its thread 0.
template <int threads = block_size>
__device__ int64_t block_sum(int64_t value) {
    __shared__ int64_t of_warp[threads / 32];
    value = warp_sum(value);
    if (lane() == 0) of_warp[threadIdx.x / 32] = value;
    __syncthreads();
    int64_t sum = 0;
    if (threadIdx.x == 0)
        for (int warp = 0; warp < threads / 32; ++warp) sum += of_warp[warp];
    __syncthreads();
    return sum;
}

// Exclusive scan over the threads of a block.
template <int threads = block_size>
__device__ int sum_before(int value) {
    __shared__ int of_warp[threads / 32];
    int sum = value;
    for (int step = 1; step < 32; step *= 2) {
        const int other = __shfl_up_sync(all_lanes, sum, step);
        if (lane() >= step) sum += other;
    }
    if (lane() == 31) of_warp[threadIdx.x / 32] = sum;
    __syncthreads();
    int before = sum - value;
    for (int warp = 0; warp < static_cast<int>(threadIdx.x) / 32; ++warp) before += of_warp[warp];
    __syncthreads();
    return before;
}

// ---- edge-balanced assignment of arcs

// The row in low .. high - 1 of arc number `arc`, where `before` are exclusive prefix sums of the degrees.
template <class Count>
__device__ int64_t row_of_arc(const Count* before, int64_t low, int64_t high, int64_t arc) {
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (before[middle] <= arc)
            low = middle;
        else
            high = middle;
    }
    return low;
}

// Arcs per block, of any rows: a hub is shared by several blocks.
constexpr int arcs_per_block = 1024;

struct RowRange {
    int64_t first, end;
};

// The rows of arcs first .. last. Called by all threads of the block.
__device__ RowRange rows_of_arcs(const int64_t* before, int64_t num_rows, int64_t first, int64_t last) {
    __shared__ int64_t ends[2];
    if (threadIdx.x < 2) ends[threadIdx.x] = row_of_arc(before, 0, num_rows, threadIdx.x == 0 ? first : last);
    __syncthreads();
    return {ends[0], ends[1] + 1};
}

// The rows of the arcs of this block.
__device__ RowRange rows_of_block(const int64_t* before, int64_t num_rows, int64_t num_arcs) {
    const int64_t first = static_cast<int64_t>(blockIdx.x) * arcs_per_block;
    const int64_t last = (first + arcs_per_block < num_arcs ? first + arcs_per_block : num_arcs) - 1;
    return rows_of_arcs(before, num_rows, first, last);
}

}  // namespace tgraph
