// What is asked of the compiler: a function for several instruction sets, the best of which is picked when the module
// is loaded, and functions that must be inlined.
#pragma once

// It reaches into what is inlined into the function, and into nothing else: mark leaf functions that call only
// always-inline ones, and have no lambdas. Sanitizers run before the loader could resolve the clones.
#if defined(__GNUC__) && defined(__x86_64__) && defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
// AVX2 with what came with it: fused multiply-add above all. "arch=haswell" would be that one processor and no later.
#if !defined(__clang__) && __GNUC__ >= 12
#define TGRAPH_AVX2 "arch=x86-64-v3"
#else
#define TGRAPH_AVX2 "avx2"
#endif
#define TGRAPH_MULTIVERSION __attribute__((target_clones("avx512f", TGRAPH_AVX2, "default")))
// For what computes in vectors of at most 32 bytes, which AVX-512 would compute no faster.
#define TGRAPH_MULTIVERSION_NARROW __attribute__((target_clones(TGRAPH_AVX2, "default")))
// For what counts the bits of eight words at once, where the processor can; GCC makes no clones for it.
#define TGRAPH_COUNTS_VECTORS __attribute__((target("avx512vpopcntdq")))
#else
// One version of each.
#define TGRAPH_MULTIVERSION
#define TGRAPH_MULTIVERSION_NARROW
#endif

// A function that does nothing but prefetch has no effect that GCC sees: it drops the call, unless it has to inline it.
#ifdef __GNUC__
#define TGRAPH_INLINE [[gnu::always_inline]] inline
#else
#define TGRAPH_INLINE inline
#endif
