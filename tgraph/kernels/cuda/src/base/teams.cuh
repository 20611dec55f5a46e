// The partition of a row among the lanes of a warp and the warps of a block.
//
// `lanes` adjacent lanes are assigned to columns, for coalesced reads, and `parts` such groups to arcs: part p
// processes every parts-th arc, from the p-th. Both are powers of two. Partial results of parts are combined by
// shuffles, those of warps in shared memory, always in the same order.
#pragma once

#include "base/semiring.cuh"

namespace tgraph {

struct Lane {
    int lanes, parts;
    int column;  // index among `lanes`
    int part;    // index among `parts`
    int team;    // index of the team of lanes * parts in the warp

    __device__ __forceinline__ Lane(int lanes, int parts) : lanes(lanes), parts(parts) {
        const int lane = static_cast<int>(threadIdx.x % 32);
        column = lane % lanes;
        part = lane / lanes % parts;
        team = lane / (lanes * parts);
    }
};

// Called by all lanes of the warp, including those without a row.
template <class Reduction, class Number, int count>
__device__ __forceinline__ void join_parts(Partial<Reduction, Number, count>& partial, const Lane& of) {
    for (int apart = of.lanes; apart < of.lanes * of.parts; apart *= 2) {
#pragma unroll
        for (int i = 0; i < count; ++i) {
            const Number other = __shfl_xor_sync(all_lanes, partial.value[i], apart);
            int64_t other_arc = -1;
            if constexpr (Reduction::tracks) other_arc = __shfl_xor_sync(all_lanes, partial.arc[i], apart);
            partial.join(i, other, other_arc);
        }
    }
}

// Combines the partial results of all warps in warp 0, for the lanes of part 0. Called by all threads of a block of
// `warps` warps.
template <int warps, class Reduction, class Number, int count>
__device__ __forceinline__ void join_warps(Partial<Reduction, Number, count>& partial, const Lane& of) {
    __shared__ Number values[warps][count][32];
    __shared__ int64_t arcs[Reduction::tracks ? warps : 1][count][32];
    const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
    if (of.part == 0) {
#pragma unroll
        for (int i = 0; i < count; ++i) {
            values[warp][i][lane] = partial.value[i];
            if constexpr (Reduction::tracks) arcs[warp][i][lane] = partial.arc[i];
        }
    }
    __syncthreads();
    if (warp > 0 || of.part != 0) return;
    for (int other = 1; other < warps; ++other) {
#pragma unroll
        for (int i = 0; i < count; ++i) {
            int64_t other_arc = -1;
            if constexpr (Reduction::tracks) other_arc = arcs[other][i][lane];
            partial.join(i, values[other][i][lane], other_arc);
        }
    }
}

}  // namespace tgraph
