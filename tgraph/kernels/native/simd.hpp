// Wider vectors than every x86-64 has, where the processor at hand has them.
#pragma once

// Before a function: compiles it for several instruction sets and picks one when the module is loaded. It reaches into
// what is inlined there, and into nothing else: mark leaf functions that call only always-inline ones, no lambdas.
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__) && !defined(TGRAPH_STD_THREADS)
#define TGRAPH_MULTIVERSION __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define TGRAPH_MULTIVERSION
#endif

#define TGRAPH_INLINE [[gnu::always_inline]] inline
