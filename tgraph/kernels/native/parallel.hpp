// Parallel loops. All threads of the kernels start in this file: OpenMP's, or std::thread's in the build for
// ThreadSanitizer, which does not see the synchronisation inside an OpenMP runtime that it did not compile.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>

#if defined(TGRAPH_STD_THREADS)
#include <barrier>
#include <cstdlib>
#include <thread>
#include <vector>
#elif defined(_OPENMP)
#include <omp.h>
#endif

namespace tgraph {

// Work of so many items is worth a thread of its own. Where threads are checked for races, nearly all work is.
constexpr int64_t worth_a_thread(int64_t items) {
#if defined(TGRAPH_STD_THREADS)
    return items >> 12;
#else
    return items;
#endif
}

// Below this many items a part costs more to hand to another thread than it saves.
inline constexpr int64_t items_per_part = worth_a_thread(1 << 15);

// The most threads that kernels called from this thread may use: 1 where several are called at once.
inline thread_local int thread_limit = std::numeric_limits<int>::max();

inline int thread_count() {
#if defined(TGRAPH_STD_THREADS)
    const char* wanted = std::getenv("OMP_NUM_THREADS");
    const int found = wanted ? std::max(1, std::atoi(wanted)) : static_cast<int>(std::thread::hardware_concurrency());
#elif defined(_OPENMP)
    const int found = omp_get_max_threads();
#else
    const int found = 1;
#endif
    return std::min(found, thread_limit);
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

// A member of a team of threads that runs the same function.
class Team {
public:
    int rank, size;

#if defined(TGRAPH_STD_THREADS)
    std::barrier<>* meeting;
    void barrier() const { meeting->arrive_and_wait(); }
#else
    void barrier() const {
        if (size == 1) return;
#pragma omp barrier
    }
#endif
};

// Calls body(team) once in each of at most `threads` threads, on the calling one alone where that is 1. The body must
// not throw, and ask team.size how many threads there are: the runtime may grant fewer than it is asked for.
template <class Body>
void run_team(int threads, Body&& body) {
#if defined(TGRAPH_STD_THREADS)
    std::barrier<> meeting(threads);
    std::vector<std::thread> others;
    for (int rank = 1; rank < threads; ++rank) others.emplace_back([&, rank] { body(Team{rank, threads, &meeting}); });
    body(Team{0, threads, &meeting});
    for (std::thread& other : others) other.join();
#elif defined(_OPENMP)
    if (threads == 1) return body(Team{0, 1});
#pragma omp parallel num_threads(threads)
    body(Team{omp_get_thread_num(), omp_get_num_threads()});
#else
    (void)threads;
    body(Team{0, 1});
#endif
}

// Calls body(part) for every part. Parts are numbered, not tied to threads, so that two loops over the same
// parts see the same ranges whatever team the runtime grants. The body must not throw.
template <class Body>
void for_each_part(int parts, Body&& body) {
    run_team(parts, [&](const Team& team) {
        for (int part = team.rank; part < parts; part += team.size) body(part);
    });
}

// Calls body(chunk) for every chunk, each on the thread that is free first: for work whose cost is not known.
template <class Body>
void for_each_chunk(int64_t chunks, int threads, Body&& body) {
    std::atomic<int64_t> next{0};
    run_team(static_cast<int>(std::clamp<int64_t>(chunks, 1, threads)), [&](const Team&) {
        for (int64_t chunk; (chunk = next.fetch_add(1, std::memory_order_relaxed)) < chunks;) body(chunk);
    });
}

}  // namespace tgraph
