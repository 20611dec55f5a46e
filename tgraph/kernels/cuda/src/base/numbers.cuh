// Dtypes: storage, the type of arithmetic, conversions, and vector loads and stores of 16 bytes.
#pragma once

#include "base/common.cuh"

namespace tgraph {

// bfloat16 and float16 as bits: CUDA's types need headers that NVRTC does not have.
struct float16 {
    uint16_t bits;
};
struct bfloat16 {
    uint16_t bits;
};

// Value : type of the arithmetic on one number. Total : accumulator of sums and products, which need not fit the dtype.
// Argument : type of a kernel parameter.
template <class T>
struct Arithmetic {
    using Value = T;
    using Total = T;
    using Argument = double;
};
template <>
struct Arithmetic<float16> : Arithmetic<float> {};
template <>
struct Arithmetic<bfloat16> : Arithmetic<float> {};
template <>
struct Arithmetic<int32_t> {
    using Value = int32_t;
    using Total = int64_t;
    using Argument = int64_t;
};
template <>
struct Arithmetic<int64_t> {
    using Value = int64_t;
    using Total = int64_t;
    using Argument = int64_t;
};

// ---- from and to what is stored -----------------------------------------------------------------------------------

template <class T>
__device__ __forceinline__ T widened(T stored) {
    return stored;
}

__device__ __forceinline__ float widened(bfloat16 stored) {
    return __uint_as_float(static_cast<uint32_t>(stored.bits) << 16);
}

__device__ __forceinline__ float widened(float16 stored) {
#if defined(TGRAPH_HOST_SHIM)
    return static_cast<float>(shim_bits<_Float16>(stored.bits));
#else
    float number;
    asm("cvt.f32.f16 %0, %1;" : "=f"(number) : "h"(stored.bits));
    return number;
#endif
}

// The nearest number of the stored type, ties to even.
template <class T>
struct Narrowed {
    template <class Number>
    static __device__ __forceinline__ T from(Number number) {
        return static_cast<T>(number);
    }
};

template <>
struct Narrowed<bfloat16> {
    static __device__ __forceinline__ bfloat16 from(float number) {
        const uint32_t bits = __float_as_uint(number);
        if (number != number) return {static_cast<uint16_t>(bits >> 16 | 0x40u)};  // else rounding could give infinity
        return {static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16)};
    }
};

template <>
struct Narrowed<float16> {
    static __device__ __forceinline__ float16 from(float number) {
#if defined(TGRAPH_HOST_SHIM)
        return {shim_bits<uint16_t>(static_cast<_Float16>(number))};
#else
        uint16_t bits;
        asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(number));
        return {bits};
#endif
    }
};

// ---- arithmetic ---------------------------------------------------------------------------------------------------

// Integers wrap around, as in torch: computed unsigned, since signed overflow is undefined.
__device__ __forceinline__ int32_t plus(int32_t a, int32_t b) {
    return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}
__device__ __forceinline__ int64_t plus(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
__device__ __forceinline__ float plus(float a, float b) { return a + b; }
__device__ __forceinline__ double plus(double a, double b) { return a + b; }

__device__ __forceinline__ int32_t times(int32_t a, int32_t b) {
    return static_cast<int32_t>(static_cast<uint32_t>(a) * static_cast<uint32_t>(b));
}
__device__ __forceinline__ int64_t times(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
__device__ __forceinline__ float times(float a, float b) { return a * b; }
__device__ __forceinline__ double times(double a, double b) { return a * b; }

// ---- several numbers at a time ------------------------------------------------------------------------------------

// `count` adjacent numbers. 16 bytes are loaded as four words, which compiles to one instruction, unlike a struct of
// smaller numbers.
template <class T, int count>
struct Pack {
    T at[count];
};

struct alignas(16) Words {
    uint32_t word[4];
};

template <class T, int count>
__device__ __forceinline__ Pack<T, count> load(const T* address) {
    static_assert(count == 1 || count * sizeof(T) == sizeof(Words), "one number, or 16 bytes of them");
    if constexpr (count == 1) {
        return {*address};
    } else {
        const Words words = *reinterpret_cast<const Words*>(address);
        Pack<T, count> numbers;
        memcpy(&numbers, &words, sizeof(words));
        return numbers;
    }
}

// Stores 16 bytes at a time; `count` numbers are a multiple of that.
template <class T, int count>
__device__ __forceinline__ void store(T* address, const Pack<T, count>& numbers) {
    if constexpr (count == 1) {
        *address = numbers.at[0];
    } else {
        constexpr int steps = count * sizeof(T) / sizeof(Words);
        static_assert(steps * sizeof(Words) == count * sizeof(T), "a multiple of 16 bytes");
#pragma unroll
        for (int i = 0; i < steps; ++i) {
            Words words;
            memcpy(&words, &numbers.at[i * (count / steps)], sizeof(words));
            reinterpret_cast<Words*>(address)[i] = words;
        }
    }
}

}  // namespace tgraph
