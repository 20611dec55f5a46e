// Number types of vertex data: bfloat16 and float16 conversions, and GCC vectors of lanes with loads that widen.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "base/simd.hpp"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"  // vectors are passed between inlined functions only
#endif

namespace tgraph {

// 16-bit floating point numbers as bits: not all compilers support arithmetic on them, so kernels compute in float.
struct BFloat16 {
    uint16_t bits;
};
struct Float16 {
    uint16_t bits;
};

template <class T>
inline constexpr bool is_narrow = std::is_same_v<T, BFloat16> || std::is_same_v<T, Float16>;

// A vector of `lanes` numbers with the alignment of one number.
template <class A, int lanes>
struct VectorOf {
    typedef A type __attribute__((vector_size(lanes * sizeof(A)), aligned(alignof(A)), may_alias));
};
template <class A, int lanes>
using Vector = typename VectorOf<A, lanes>::type;

// float16 to float: exponent and fraction are shifted, and the exponent is rebiased by 112. Subnormal numbers,
// m * 2^-24, are given the exponent of 2^-14, which is then subtracted as a float: no intermediate value is subnormal,
// so flush-to-zero mode does not matter. Infinity and NaN keep an exponent of ones.
inline constexpr uint32_t half_bias = 112u << 23, half_normal = 1u << 23, half_infinity = 0x7c00u << 13;
inline constexpr float least_half = 0x1p-14f;  // the smallest normal float16

TGRAPH_INLINE float widen(BFloat16 narrow) { return std::bit_cast<float>(uint32_t{narrow.bits} << 16); }

TGRAPH_INLINE float widen(Float16 narrow) {
    const uint32_t sign = (narrow.bits & 0x8000u) << 16, rest = (narrow.bits & 0x7fffu) << 13;
    const auto small = std::bit_cast<uint32_t>(std::bit_cast<float>(rest + half_bias + half_normal) - least_half);
    const uint32_t bits = rest < half_normal ? small : rest + half_bias;
    return std::bit_cast<float>(sign | bits | (rest >= half_infinity ? 0x7f800000u : 0u));
}

template <class T>
TGRAPH_INLINE T widen(T number) {
    return number;
}

// Round to nearest, ties to even.
TGRAPH_INLINE BFloat16 to_bfloat16(float number) {
    const auto bits = std::bit_cast<uint32_t>(number);
    const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1)) >> 16;
    return {static_cast<uint16_t>(number != number ? (bits >> 16) | 0x40u : rounded)};
}

TGRAPH_INLINE Float16 to_float16(float number) {
    const auto bits = std::bit_cast<uint32_t>(number);
    const uint32_t sign = (bits >> 16) & 0x8000u, rest = bits & 0x7fffffffu;
    uint32_t half;
    if (rest > 0x7f800000u) {
        half = 0x7e00u;  // NaN
    } else if (rest >= 0x477ff000u) {
        half = 0x7c00u;  // rounds to infinity
    } else if (rest < 0x38800000u) {
        // Subnormal: adding 0.5 rounds to a multiple of 2^-24 and leaves it in the low bits.
        half = std::bit_cast<uint32_t>(std::bit_cast<float>(rest) + 0.5f) - std::bit_cast<uint32_t>(0.5f);
    } else {
        half = (rest - (112u << 23) + 0xfffu + ((rest >> 13) & 1)) >> 13;
    }
    return {static_cast<uint16_t>(sign | half)};
}

// Converts a number from the type of the computation to that of storage.
template <class Stored, class A>
TGRAPH_INLINE Stored stored_as(A number) {
    if constexpr (std::is_same_v<Stored, BFloat16>)
        return to_bfloat16(number);
    else if constexpr (std::is_same_v<Stored, Float16>)
        return to_float16(number);
    else
        return static_cast<Stored>(number);
}

// Loads `lanes` stored numbers as a vector of the type of the computation.
template <class A, int lanes, class T>
TGRAPH_INLINE Vector<A, lanes> load(const T* from) {
    if constexpr (is_narrow<T>) {
        using Bits = Vector<uint32_t, lanes>;
        const Bits wide = __builtin_convertvector(*reinterpret_cast<const Vector<uint16_t, lanes>*>(from), Bits);
        if constexpr (std::is_same_v<T, BFloat16>) {
            return reinterpret_cast<Vector<float, lanes>>(wide << 16);
        } else {
            const Bits sign = (wide & 0x8000u) << 16, rest = (wide & 0x7fffu) << 13;
            const Bits moved = rest + half_bias;
            const Bits small =
                reinterpret_cast<Bits>(reinterpret_cast<Vector<float, lanes>>(moved + half_normal) - least_half);
            const Bits bits = rest < half_normal ? small : moved;
            const Bits infinite = reinterpret_cast<Bits>(rest >= half_infinity) & 0x7f800000u;
            return reinterpret_cast<Vector<float, lanes>>(sign | bits | infinite);
        }
    } else if constexpr (std::is_same_v<T, A>) {
        return *reinterpret_cast<const Vector<A, lanes>*>(from);
    } else {
        return __builtin_convertvector(*reinterpret_cast<const Vector<T, lanes>*>(from), Vector<A, lanes>);
    }
}

}  // namespace tgraph
