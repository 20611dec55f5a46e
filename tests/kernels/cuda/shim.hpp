// CUDA's threads, warps and blocks on the host, for testing kernels on machines without a GPU. What runs them, and what
// is an error, is in `shim_block.hpp`.
#pragma once

#include <cfloat>
#include <climits>
#include <cmath>

#include "shim_block.hpp"

#define TGRAPH_HOST_SHIM 1
#define __global__
#define __device__ inline
#define __forceinline__
#define __host__
#define __constant__ static const
#define __shared__ static thread_local  // a thread of the host runs one block at a time
#define __restrict__ __restrict
#define __launch_bounds__(...)

inline constexpr int warpSize = 32;

// The place of a barrier or a warp operation in the source of a kernel.
using Place = std::source_location;

inline void __syncthreads(Place at = Place::current()) { shim::wait(shim::Waits::block, {"__syncthreads", at}); }
inline void __syncwarp(unsigned mask = 0xffffffffu) {  // which lanes may call at different places
    shim::exchange({"__syncwarp"}, mask, 0, [] { return 0; });
}
inline void __threadfence() {}
inline void __threadfence_block() {}

// A segment of `width` lanes exchanges within itself; a lane whose source lies outside keeps its own value.
template <class T>
T __shfl_sync(unsigned mask, T value, int from, int width = 32, Place at = Place::current()) {
    const unsigned first = shim::lane() / width * width;
    return shim::shuffle({"__shfl_sync", at}, mask, value, first + static_cast<unsigned>(from) % width);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32, Place at = Place::current()) {
    const unsigned from = shim::lane() ^ bits, end = shim::lane() / width * width + width;
    return shim::shuffle({"__shfl_xor_sync", at}, mask, value, from < end ? from : shim::lane());
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32, Place at = Place::current()) {
    const unsigned from = shim::lane() + by, end = shim::lane() / width * width + width;
    return shim::shuffle({"__shfl_down_sync", at}, mask, value, from < end ? from : shim::lane());
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32, Place at = Place::current()) {
    const unsigned lane = shim::lane(), first = lane / width * width;
    return shim::shuffle({"__shfl_up_sync", at}, mask, value, lane >= first + by ? lane - by : lane);
}

inline unsigned __ballot_sync(
    unsigned mask, int predicate, Place at = Place::current(), const char* name = "__ballot_sync") {
    return shim::exchange({name, at}, mask, predicate != 0, [&] {
        unsigned found = 0;
        for (unsigned lane = 0; lane < 32; ++lane)
            if (mask >> lane & 1 && shim::deposited(lane)) found |= 1u << lane;
        return found;
    });
}
inline int __any_sync(unsigned mask, int predicate, Place at = Place::current()) {
    return __ballot_sync(mask, predicate, at, "__any_sync") != 0;
}
inline int __all_sync(unsigned mask, int predicate, Place at = Place::current()) {
    return __ballot_sync(mask, !predicate, at, "__all_sync") == 0;
}

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline int __clz(int x) { return x ? __builtin_clz(x) : 32; }
template <class T>
T __ldg(const T* address) { return *address; }

template <class To, class From>
To shim_bits(From from) {
    To to;
    std::memcpy(&to, &from, sizeof(To));
    return to;
}
inline int __float_as_int(float x) { return shim_bits<int>(x); }
inline float __int_as_float(int x) { return shim_bits<float>(x); }
inline unsigned __float_as_uint(float x) { return shim_bits<unsigned>(x); }
inline float __uint_as_float(unsigned x) { return shim_bits<float>(x); }
inline long long __double_as_longlong(double x) { return shim_bits<long long>(x); }
inline double __longlong_as_double(long long x) { return shim_bits<double>(x); }

// Atomics, in no order with other accesses. They read what they change: shared memory must be initialised before.
template <class T, class Change>
TGRAPH_UNWATCHED T shim_modify(T* address, Change change) {
    shim::loaded(address, sizeof(T));
    T old, next;
    __atomic_load(address, &old, __ATOMIC_RELAXED);
    do next = change(old);
    while (!__atomic_compare_exchange(address, &old, &next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return old;
}
template <class T, class U>
T atomicAdd(T* address, U value) {
    return shim_modify(address, [&](T old) { return static_cast<T>(old + static_cast<T>(value)); });
}
template <class T, class U>
T atomicMin(T* address, U value) {
    return shim_modify(address, [&](T old) { return std::min(old, static_cast<T>(value)); });
}
template <class T, class U>
T atomicMax(T* address, U value) {
    return shim_modify(address, [&](T old) { return std::max(old, static_cast<T>(value)); });
}
template <class T, class U>
T atomicOr(T* address, U value) {
    return shim_modify(address, [&](T old) { return static_cast<T>(old | static_cast<T>(value)); });
}
template <class T, class U>
T atomicAnd(T* address, U value) {
    return shim_modify(address, [&](T old) { return static_cast<T>(old & static_cast<T>(value)); });
}
template <class T, class U>
T atomicExch(T* address, U value) {
    return shim_modify(address, [&](T) { return static_cast<T>(value); });
}
template <class T, class U, class V>
T atomicCAS(T* address, U compare, V value) {
    return shim_modify(address, [&](T old) { return old == static_cast<T>(compare) ? static_cast<T>(value) : old; });
}

using std::max;
using std::min;
