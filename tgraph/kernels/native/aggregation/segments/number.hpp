// Number types that are known at run time only.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "base/classes.hpp"
#include "base/numbers.hpp"

namespace tgraph {

enum class Number { float32, float64, int32, int64, uint8, float16, bfloat16 };

template <class T>
inline constexpr Number number_of = std::is_same_v<T, float>      ? Number::float32
                                    : std::is_same_v<T, double>   ? Number::float64
                                    : std::is_same_v<T, int32_t>  ? Number::int32
                                    : std::is_same_v<T, int64_t>  ? Number::int64
                                    : std::is_same_v<T, uint8_t>  ? Number::uint8
                                    : std::is_same_v<T, Float16>  ? Number::float16
                                                                  : Number::bfloat16;

inline int64_t size_of(Number number) {
    switch (number) {
        case Number::float64:
        case Number::int64: return 8;
        case Number::float32:
        case Number::int32: return 4;
        case Number::float16:
        case Number::bfloat16: return 2;
        default: return 1;
    }
}

// The type that numbers of another are reduced in.
template <class T>
using Accumulator =
    std::conditional_t<is_narrow<T>, float, std::conditional_t<std::is_same_v<T, uint8_t>, int32_t, T>>;

// Any other dtype is a TypeError.
template <class T, class Given>
void check_dtype(const Given& array, const char* name) {
    if (array.is_valid() && array.dtype() != dtype_of<Passed<T>>)
        throw TypeError(std::string(name) + ": no kernel is compiled for its dtype");
}

}  // namespace tgraph
