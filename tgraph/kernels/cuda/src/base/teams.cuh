// How the lanes of a warp, and the warps of a block, share the columns and the arcs of a row.
//
// `lanes` adjacent lanes lie along the columns, so that they read adjacent memory, and `parts` such groups along the
// arcs: part p takes every parts-th arc, from the p-th. Both are powers of two. What the parts found is joined by
// shuffles, and what the warps found in shared memory, always in the same order.
#pragma once

#include "base/semiring.cuh"

namespace tgraph {

struct Lane {
    int lanes, parts;
    int column;  // which of the `lanes` along the columns
    int part;    // which of the `parts` along the arcs
    int team;    // which of the teams of lanes * parts in the warp

    __device__ __forceinline__ Lane(int lanes, int parts) : lanes(lanes), parts(parts) {
        const int lane = static_cast<int>(threadIdx.x % 32);
        column = lane % lanes;
        part = lane / lanes % parts;
        team = lane / (lanes * parts);
    }
};

// Every lane of the warp takes part, those without a row too.
template <class Reduction, class Number, int count>
__device__ __forceinline__ void join_parts(Partial<Reduction, Number, count>& partial, const Lane& of) {
    for (int apart = of.lanes; apart < of.lanes * of.parts; apart *= 2) {
#pragma unroll
        for (int i = 0; i < count; ++i) {
            const Number other = __shfl_xor_sync(all_lanes, partial.value[i], apart);
            int64_t other_winner = -1;
            if constexpr (Reduction::tracks) other_winner = __shfl_xor_sync(all_lanes, partial.winner[i], apart);
            partial.join(i, other, other_winner);
        }
    }
}

// Joins to the partials of warp 0 those of the other warps, for the lanes of part 0. All threads of a block of
// `warps` warps take part.
template <int warps, class Reduction, class Number, int count>
__device__ __forceinline__ void join_warps(Partial<Reduction, Number, count>& partial, const Lane& of) {
    __shared__ Number values[warps][count][32];
    __shared__ int64_t winners[Reduction::tracks ? warps : 1][count][32];
    const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
    if (of.part == 0) {
#pragma unroll
        for (int i = 0; i < count; ++i) {
            values[warp][i][lane] = partial.value[i];
            if constexpr (Reduction::tracks) winners[warp][i][lane] = partial.winner[i];
        }
    }
    __syncthreads();
    if (warp > 0 || of.part != 0) return;
    for (int other = 1; other < warps; ++other) {
#pragma unroll
        for (int i = 0; i < count; ++i) {
            int64_t other_winner = -1;
            if constexpr (Reduction::tracks) other_winner = winners[other][i][lane];
            partial.join(i, values[other][i][lane], other_winner);
        }
    }
}

}  // namespace tgraph
