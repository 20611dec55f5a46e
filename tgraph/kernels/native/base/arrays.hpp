// Array arguments of kernels: contiguous numbers on the CPU, of torch tensors or of what supports the buffer protocol
// or DLPack. No header of Python is needed to declare them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tgraph {

enum class DType : uint8_t { boolean, uint8, int8, int16, int32, int64, float32, float64, other };

template <class T>
constexpr DType find_dtype() {
    using Number = std::remove_const_t<T>;
    if (std::is_same_v<Number, bool>) return DType::boolean;
    if (std::is_same_v<Number, float>) return DType::float32;
    if (std::is_same_v<Number, double>) return DType::float64;
    if (!std::is_integral_v<Number>) return DType::other;
    constexpr std::size_t size = sizeof(std::conditional_t<std::is_void_v<Number>, char, Number>);
    if (std::is_unsigned_v<Number>) return size == 1 ? DType::uint8 : DType::other;
    return size == 1 ? DType::int8 : size == 2 ? DType::int16 : size == 4 ? DType::int32 : DType::int64;
}

template <class T>
inline constexpr DType dtype_of = find_dtype<T>();

constexpr int64_t bytes_of(DType type) {
    switch (type) {
        case DType::int16: return 2;
        case DType::int32: case DType::float32: return 4;
        case DType::int64: case DType::float64: return 8;
        default: return 1;
    }
}

// A non-owning view of contiguous numbers; with T = void their type is known at run time only (`dtype`). For None,
// which some parameters accept, it is not valid and its data is null.
template <class T>
class Array {
public:
    Array() = default;
    Array(T* data, std::size_t size, DType type) : data_(data), size_(size), type_(type), valid_(true) {}

    T* data() const { return data_; }
    std::size_t shape(int) const { return size_; }
    DType dtype() const { return type_; }
    bool is_valid() const { return valid_; }  // false for None

private:
    T* data_ = nullptr;
    std::size_t size_ = 0;
    DType type_ = DType::other;
    bool valid_ = false;
};

// Inputs and outputs. There is no conversion: another dtype or device is a TypeError.
template <class T>
using In = Array<const T>;
template <class T>
using Out = Array<T>;

}  // namespace tgraph
