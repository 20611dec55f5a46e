// What is asked of the compiler: a function for several instruction sets, the best of which is picked when the module
// is loaded, and functions that must be inlined.
#pragma once

// It reaches into what is inlined into the function, and into nothing else: mark leaf functions that call only
// always-inline ones, and have no lambdas. Sanitizers run before the loader could resolve the clones.
#if defined(__GNUC__) && defined(__x86_64__) && defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define TGRAPH_MULTIVERSION __attribute__((target_clones("avx512f", "avx2", "default")))
// For what computes in vectors of at most 32 bytes, which AVX-512 would compute no faster, or counts bits: processors
// have an instruction for that from before AVX2 on, which not every one that we are compiled for has.
#define TGRAPH_MULTIVERSION_NARROW __attribute__((target_clones("avx2", "default")))
#else
#define TGRAPH_MULTIVERSION
#define TGRAPH_MULTIVERSION_NARROW
#endif

// A function that does nothing but prefetch has no effect that GCC sees: it drops the call, unless it has to inline it.
#ifdef __GNUC__
#define TGRAPH_INLINE [[gnu::always_inline]] inline
#else
#define TGRAPH_INLINE inline
#endif
