// Compiler attributes: function multiversioning (target_clones), resolved when the module is loaded, and forced
// inlining.
#pragma once

#include <type_traits>

// Clones affect only the function itself and what is inlined into it: use on leaf functions that call always-inline
// functions and have no lambdas. Not with sanitizers, whose runtime starts before the loader resolves the clones.
#if defined(__GNUC__) && defined(__x86_64__) && defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
// AVX2 with fused multiply-add. "arch=haswell" would not match later processors.
#if !defined(__clang__) && __GNUC__ >= 12
#define TGRAPH_AVX2 "arch=x86-64-v3"
#else
#define TGRAPH_AVX2 "avx2"
#endif
// A build may leave out instruction sets that this machine has, to test and time it as one without (`make isa`).
#if defined(TGRAPH_NO_AVX2)
#define TGRAPH_MULTIVERSION
#define TGRAPH_MULTIVERSION_NARROW
#elif defined(TGRAPH_NO_AVX512)
#define TGRAPH_MULTIVERSION __attribute__((target_clones(TGRAPH_AVX2, "default")))
#else
#define TGRAPH_MULTIVERSION __attribute__((target_clones("avx512f", TGRAPH_AVX2, "default")))
// For vector popcount, for which GCC has no target_clones.
#define TGRAPH_COUNTS_VECTORS __attribute__((target("avx512vpopcntdq")))
#endif
#ifndef TGRAPH_MULTIVERSION_NARROW
// For vectors of at most 32 bytes, which AVX-512 does not speed up.
#define TGRAPH_MULTIVERSION_NARROW __attribute__((target_clones(TGRAPH_AVX2, "default")))
#endif
#else
// One version of each.
#define TGRAPH_MULTIVERSION
#define TGRAPH_MULTIVERSION_NARROW
#endif

// Needed for functions that only prefetch: GCC drops calls of them as free of side effects.
#ifdef __GNUC__
#define TGRAPH_INLINE [[gnu::always_inline]] inline
#else
#define TGRAPH_INLINE inline
#endif

namespace tgraph {

// Bytes of the vectors of what is compiled by TGRAPH_MULTIVERSION_NARROW.
#if defined(__x86_64__) && !defined(TGRAPH_NO_AVX2)
inline constexpr int narrow_bytes = 32;
#else
inline constexpr int narrow_bytes = 16;
#endif

// Bytes of the widest vectors that the kernels use on this machine. Of wider ones GCC compiles comparisons and choices
// number by number.
inline int vector_bytes() {
#if defined(__GNUC__) && defined(__x86_64__)
#if !defined(TGRAPH_NO_AVX512)
    if (__builtin_cpu_supports("avx512f")) return 64;
#endif
#if !defined(TGRAPH_NO_AVX2)
    if (__builtin_cpu_supports("avx2")) return 32;
#endif
#endif
    return 16;
}

// visit(std::integral_constant<int, bytes>{}), for code that is compiled for vectors of each width.
template <class Visit>
auto with_vectors([[maybe_unused]] int bytes, const Visit& visit) {
#if defined(__x86_64__)
    if (bytes == 64) return visit(std::integral_constant<int, 64>{});
    if (bytes == 32) return visit(std::integral_constant<int, 32>{});
#endif
    return visit(std::integral_constant<int, 16>{});
}

// The instruction set of those vectors.
inline const char* instruction_set() {
#if defined(__GNUC__) && defined(__x86_64__)
    return vector_bytes() == 64 ? "AVX-512" : vector_bytes() == 32 ? "AVX2" : "SSE2";
#elif defined(__aarch64__)
    return "NEON";
#else
    return "";
#endif
}

}  // namespace tgraph
