// Tile products on tensor cores: a warp adds the product of a 16 x 8 and an 8 x 8 matrix to a 16 x 8 matrix of float.
//
// Fragment layout of PTX mma.m16n8k8, for lane 4 g + t. Accumulator: rows g and g + 8 of columns 2 t and 2 t + 1. TF32:
// rows g and g + 8 of columns t and t + 4 of the left operand, rows t and t + 4 of column g of the right one; 16-bit
// types: columns, and rows, 2 t and 2 t + 1 instead. So each lane has two columns of the left operand, first(t) and
// second(t), and the same two rows of the right one.
#pragma once

#include "base/numbers.cuh"

namespace tgraph {

// Rounds to TF32 (10 bits of fraction), ties away from 0; close to FLT_MAX to infinity.
__device__ __forceinline__ uint32_t as_tf32(float number) {
#if defined(TGRAPH_HOST_SHIM)
    return number != number ? 0x7fffffffu : (__float_as_uint(number) + 0x1000u) & ~0x1fffu;
#else
    uint32_t bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(number));
    return bits;
#endif
}

// Operand layout per type; `registers` : of a pair of numbers.
template <class T>
struct Operand {  // of 16 bits
    static constexpr int registers = 1;
    static __device__ __forceinline__ int first(int t) { return 2 * t; }
    static __device__ __forceinline__ int second(int t) { return 2 * t + 1; }
    static __device__ __forceinline__ void pack(uint32_t (&to)[1], T first, T second) {
        to[0] = first.bits | static_cast<uint32_t>(second.bits) << 16;
    }
    static __device__ __forceinline__ float unpacked(const uint32_t (&from)[1], int which) {
        return widened(T{static_cast<uint16_t>(from[0] >> 16 * which)});
    }
};
template <>
struct Operand<float> {
    static constexpr int registers = 2;
    static __device__ __forceinline__ int first(int t) { return t; }
    static __device__ __forceinline__ int second(int t) { return t + 4; }
    static __device__ __forceinline__ void pack(uint32_t (&to)[2], float first, float second) {
        to[0] = as_tf32(first), to[1] = as_tf32(second);
    }
    static __device__ __forceinline__ float unpacked(const uint32_t (&from)[2], int which) {
        return __uint_as_float(from[which]);
    }
};

// Two numbers of an operand that a lane holds.
template <class T>
struct Pair {
    uint32_t bits[Operand<T>::registers];

    __device__ __forceinline__ void set(T first, T second) { Operand<T>::pack(bits, first, second); }

    // Whether both are finite after rounding.
    __device__ __forceinline__ bool is_finite() const {
        const float first = Operand<T>::unpacked(bits, 0), second = Operand<T>::unpacked(bits, 1);
        return (first - first == 0.0f) & (second - second == 0.0f);
    }
};

#if defined(TGRAPH_HOST_SHIM)

// On the host shim, lanes are fibers of one thread: operands are read from the memory of the other lanes.
template <class T>
struct Operands {
    Pair<T> upper, lower, right;
};

template <class T>
inline void multiply_add(
    float& sum0, float& sum1, float& sum2, float& sum3, const Pair<T>& upper, const Pair<T>& lower,
    const Pair<T>& right) {
    float* const sum[4] = {&sum0, &sum1, &sum2, &sum3};
    const Operands<T> own{upper, lower, right};
    const auto lane = static_cast<int>(shim::lane());
    shim::exchange({"mma"}, all_lanes, reinterpret_cast<uint64_t>(&own), [&] {
        const auto of = [](int from) { return reinterpret_cast<const Operands<T>*>(shim::deposited(from)); };
        for (int i = 0; i < 4; ++i)
            for (int t = 0; t < 4; ++t)
                for (int which = 0; which < 2; ++which) {
                    const Operands<T>& left = *of(lane / 4 * 4 + t);
                    const Operands<T>& right = *of((lane % 4 * 2 + i % 2) * 4 + t);
                    *sum[i] += Operand<T>::unpacked((i < 2 ? left.upper : left.lower).bits, which) *
                              Operand<T>::unpacked(right.right.bits, which);
                }
        return 0;
    });
}

#else

__device__ __forceinline__ void multiply_add(
    float& sum0, float& sum1, float& sum2, float& sum3, const Pair<float>& upper, const Pair<float>& lower,
    const Pair<float>& right) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(sum0), "+f"(sum1), "+f"(sum2), "+f"(sum3)
        : "r"(upper.bits[0]), "r"(lower.bits[0]), "r"(upper.bits[1]), "r"(lower.bits[1]), "r"(right.bits[0]),
          "r"(right.bits[1]));
}

__device__ __forceinline__ void multiply_add(
    float& sum0, float& sum1, float& sum2, float& sum3, const Pair<float16>& upper, const Pair<float16>& lower,
    const Pair<float16>& right) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
        : "+f"(sum0), "+f"(sum1), "+f"(sum2), "+f"(sum3)
        : "r"(upper.bits[0]), "r"(lower.bits[0]), "r"(right.bits[0]));
}

__device__ __forceinline__ void multiply_add(
    float& sum0, float& sum1, float& sum2, float& sum3, const Pair<bfloat16>& upper, const Pair<bfloat16>& lower,
    const Pair<bfloat16>& right) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
        : "+f"(sum0), "+f"(sum1), "+f"(sum2), "+f"(sum3)
        : "r"(upper.bits[0]), "r"(lower.bits[0]), "r"(right.bits[0]));
}

#endif

}  // namespace tgraph
