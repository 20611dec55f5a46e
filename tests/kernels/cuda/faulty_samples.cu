// Kernels with one fault each, of which the shim has to stop every one, and some without.
#include "relaxation/frontier.cuh"
#include "base/numbers.cuh"

namespace tgraph {

__global__ void reads_lane_outside_mask(int64_t* x) {
    if (threadIdx.x < 16) x[threadIdx.x] = __shfl_sync(0xffffu, threadIdx.x, (threadIdx.x + 8) % 32);
}

__global__ void reads_lane_that_block_lacks(int64_t* x) { x[threadIdx.x] = __shfl_sync(all_lanes, threadIdx.x, 31); }

__global__ void pairs_different_operations(int64_t* x) {
    if (threadIdx.x % 2)
        x[threadIdx.x] = __shfl_sync(all_lanes, threadIdx.x, 0);
    else
        x[threadIdx.x] = __ballot_sync(all_lanes, 1);
}

__global__ void pairs_different_masks(int64_t* x) {
    if (threadIdx.x % 32 < 31) x[threadIdx.x] = __ballot_sync(threadIdx.x % 32 == 1 ? all_lanes : 0x7fffffffu, 1);
}

__global__ void leaves_lanes_behind(int64_t* x) {
    if (threadIdx.x == 3) return;
    x[threadIdx.x] = __ballot_sync(all_lanes, 1);
}

__global__ void reads_unwritten_number(int64_t* x) {
    __shared__ int64_t kept;
    if (threadIdx.x == 0 && blockIdx.x == 0) kept = 5;  // which the next block finds there, and a GPU might not
    __syncthreads();
    x[threadIdx.x] = kept;
}

__global__ void reads_unwritten_place(int64_t* x) {
    __shared__ int64_t kept[64];
    if (threadIdx.x != 7) kept[threadIdx.x] = 5;
    __syncthreads();
    x[threadIdx.x] = kept[threadIdx.x ^ 1];
}

__global__ void adds_to_unwritten_number(int64_t* x) {
    __shared__ int count;
    atomicAdd(&count, 1);
    __syncthreads();
    x[threadIdx.x] = threadIdx.x == 0 ? 1 : 0;
}

__global__ void loads_misaligned_vector(int64_t* x) {
    const Pack<int32_t, 4> some = load<int32_t, 4>(reinterpret_cast<const int32_t*>(x) + threadIdx.x);
    if (threadIdx.x == 0) x[0] = some.at[0];
}

__global__ void stores_misaligned_vector(int64_t* x) {
    store(reinterpret_cast<int32_t*>(x) + threadIdx.x, Pack<int32_t, 4>{});
}

__global__ void diverges_at_barrier(int64_t* x) {
    if (threadIdx.x < 32) {
        x[threadIdx.x] = 1;
        __syncthreads();
    } else {
        __syncthreads();
    }
}

__global__ void ends_before_barrier(int64_t* x) {
    if (threadIdx.x >= 32) return;
    __syncthreads();
    x[threadIdx.x] = 1;
}

// ---- between blocks, which ThreadSanitizer watches

__global__ void races_between_blocks(int64_t* x) {
    if (threadIdx.x == 0) x[0] = blockIdx.x;
}

__global__ void reads_what_others_change(int64_t* x) {
    if (threadIdx.x == 0 && x[0] < 100) add(x, 1);
}

__global__ void adds_between_blocks(int64_t* x) {
    if (static_cast<const volatile int64_t*>(x)[0] < 100) add(x, 1);
}

// ---- without a fault

__global__ void takes_numbers(const float* x, int64_t count, double by, const void* any) {}

__global__ void has_no_fault(int64_t* x) {
    __shared__ int64_t kept[64];
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    kept[threadIdx.x] = threadIdx.x;
    __syncthreads();
    atomicAdd(&count, 1);
    const int64_t sum = block_sum<64>(kept[threadIdx.x ^ 1]);
    __syncthreads();
    if (threadIdx.x % 32 < 16) kept[threadIdx.x] = __shfl_xor_sync(0xffffu, kept[threadIdx.x], 1);
    if (threadIdx.x == 0) add(x, sum + count);
}

}  // namespace tgraph
