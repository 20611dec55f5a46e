// Comparing, and improving by atomics, the values of a min or max.
#pragma once

#include "base/common.cuh"

namespace tgraph {

// Another thread may write there at any time: each look is a look into memory, and what is seen may be out of date.
template <class T>
__device__ T look(const T* address) {
    return *static_cast<const volatile T*>(address);
}

// Another thread may look there, or put the same value there, at any time.
template <class T>
__device__ void put(T* address, T value) {
    *static_cast<volatile T*>(address) = value;
}

template <class V>
__device__ bool better(V left, V right, bool lowest) {
    return lowest ? left < right : left > right;
}

// What a vertex that nothing has reached holds.
__device__ void set_identity(int32_t& value, bool lowest) { value = lowest ? 0x7fffffff : -0x7fffffff - 1; }
__device__ void set_identity(int64_t& value, bool lowest) {
    value = lowest ? 0x7fffffffffffffffLL : -0x7fffffffffffffffLL - 1;
}
__device__ void set_identity(float& value, bool lowest) { value = __int_as_float(lowest ? 0x7f800000 : 0xff800000); }
__device__ void set_identity(double& value, bool lowest) {
    value = __longlong_as_double(lowest ? 0x7ff0000000000000LL : 0xfff0000000000000LL);
}

template <class V>
__device__ V identity(bool lowest) {
    V value;
    set_identity(value, lowest);
    return value;
}

// improve(address, message, lowest) leaves the better of the two there and returns what was there before.
//
// The bits of floating numbers without a sign ascend as signed integers do, and those of numbers with one descend as
// unsigned integers do. So one atomic of integers does for each message, whatever number it meets. No message is NaN.
__device__ int32_t improve(int32_t* address, int32_t message, bool lowest) {
    return lowest ? atomicMin(address, message) : atomicMax(address, message);
}

__device__ int64_t improve(int64_t* address, int64_t message, bool lowest) {
    long long* place = reinterpret_cast<long long*>(address);
    return lowest ? atomicMin(place, message) : atomicMax(place, message);
}

__device__ float improve(float* address, float message, bool lowest) {
    if (message >= 0)
        return __int_as_float(improve(reinterpret_cast<int32_t*>(address), __float_as_int(message), lowest));
    unsigned* place = reinterpret_cast<unsigned*>(address);
    const unsigned bits = __float_as_uint(message);
    return __uint_as_float(lowest ? atomicMax(place, bits) : atomicMin(place, bits));
}

__device__ double improve(double* address, double message, bool lowest) {
    const long long bits = __double_as_longlong(message);
    if (message >= 0) return __longlong_as_double(improve(reinterpret_cast<int64_t*>(address), bits, lowest));
    unsigned long long* place = reinterpret_cast<unsigned long long*>(address);
    const unsigned long long key = static_cast<unsigned long long>(bits);
    return __longlong_as_double(static_cast<long long>(lowest ? atomicMax(place, key) : atomicMin(place, key)));
}

__device__ int64_t add(int64_t* address, int64_t amount) {
    auto* place = reinterpret_cast<unsigned long long*>(address);
    return static_cast<int64_t>(atomicAdd(place, static_cast<unsigned long long>(amount)));
}

__device__ int32_t compare_and_swap(int32_t* address, int32_t expected, int32_t value) {
    return atomicCAS(reinterpret_cast<int*>(address), expected, value);
}

__device__ int64_t compare_and_swap(int64_t* address, int64_t expected, int64_t value) {
    auto* place = reinterpret_cast<unsigned long long*>(address);
    return static_cast<int64_t>(atomicCAS(
        place, static_cast<unsigned long long>(expected), static_cast<unsigned long long>(value)));
}

}  // namespace tgraph
