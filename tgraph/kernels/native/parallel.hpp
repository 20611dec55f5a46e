// Parallel loops over a few equal parts of the work. All OpenMP of the integer kernels is in this file.
#pragma once

#include <algorithm>
#include <cstdint>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace tgraph {

// Below this many items a part costs more to hand to another thread than it saves.
inline constexpr int64_t items_per_part = 1 << 15;

inline int thread_count() {
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

// How many parts to cut `items` into: one per thread, fewer when there is little to do.
inline int part_count(int64_t items) {
    return static_cast<int>(std::clamp<int64_t>(items / items_per_part, 1, thread_count()));
}

struct Range {
    int64_t begin, end;
};

// Part number `part` of `parts` contiguous, nearly equal parts of [0, items).
inline Range part_of(int64_t items, int part, int parts) {
    const int64_t size = items / parts, rest = items % parts;
    const int64_t begin = size * part + std::min<int64_t>(part, rest);
    return {begin, begin + size + (part < rest)};
}

// Calls body(part) for every part. Parts are numbered, not tied to threads, so that two loops over the same
// parts see the same ranges whatever team the runtime grants. The body must not throw.
template <class Body>
void for_each_part(int parts, Body&& body) {
#pragma omp parallel for schedule(static, 1) num_threads(parts) if (parts > 1)
    for (int part = 0; part < parts; ++part) body(part);
}

}  // namespace tgraph
