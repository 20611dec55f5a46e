// Volatile accesses and atomics for values that other threads change concurrently. All are relaxed: algorithms rely on
// monotone values, not on the order between locations.
#pragma once

#include "base/common.cuh"

namespace tgraph {

// Reads a location that other threads may write: never from a register, but possibly outdated.
template <class T>
__device__ T look(const T* address) {
    return *static_cast<const volatile T*>(address);
}

// Writes a location that other threads may read, or write with the same value.
template <class T>
__device__ void put(T* address, T value) {
    *static_cast<volatile T*>(address) = value;
}

template <class V>
__device__ bool better(V left, V right, bool lowest) {
    return lowest ? left < right : left > right;
}

// The identity of min or max: the value of unreached vertices.
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

// improve(address, message, lowest): atomic min or max; returns the old value.
//
// Bits of non-negative floating point numbers are ordered as signed integers, those of negative numbers in reverse as
// unsigned integers. So one integer atomic, chosen by the sign of the message, is correct for any old value. Messages
// are never NaN.
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
