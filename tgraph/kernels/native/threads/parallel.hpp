// Parallel loops on the team of threads (team.hpp): dynamic scheduling of numbered chunks from a shared counter.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <type_traits>

#include "threads/census.hpp"
#include "threads/cpus.hpp"
#include "threads/team.hpp"

namespace tgraph {

// The smallest work, in items, that pays for a thread; almost any under ThreadSanitizer, so that tests run in parallel.
constexpr int64_t worth_a_thread(int64_t items) {
#if defined(__SANITIZE_THREAD__)
    return items >> 12;
#else
    return items;
#endif
}

// Fewer items cost more to hand to another thread than they save.
inline constexpr int64_t items_per_part = worth_a_thread(1 << 15);

// Number of parts for `items`: one per thread, fewer for little work.
inline int part_count(int64_t items) {
    if (items < 2 * items_per_part) return 1;
    return static_cast<int>(std::clamp<int64_t>(items / items_per_part, 1, thread_count()));
}

struct Range {
    int64_t begin, end;
};

// Part number `part` of `parts` contiguous, nearly equal parts of [0, items).
inline Range part_of(int64_t items, int64_t part, int64_t parts) {
    const int64_t size = items / parts, rest = items % parts;
    const int64_t begin = size * part + std::min<int64_t>(part, rest);
    return {begin, begin + size + (part < rest)};
}

// Dynamic scheduling: each thread takes the next chunk from a shared counter (relaxed: the end of the region orders the
// results). The first exception ends the loop for all threads.
class Chunks {
public:
    explicit Chunks(int64_t count) : count_(count) {}

    template <class Body>
    void each(const Body& body) {
        try {
            for (int64_t chunk; (chunk = next_.fetch_add(1, std::memory_order_relaxed)) < count_;) {
                poll_interruption();
                body(chunk);
                if (census_is_taken.load(std::memory_order_relaxed)) [[unlikely]]
                    count_chunk();
            }
        } catch (...) {
            next_.store(count_, std::memory_order_relaxed);
            throw;
        }
    }

private:
    std::atomic<int64_t> next_{0};
    const int64_t count_;
};

// Calls body(chunk) or body(chunk, rank) for every chunk; ranks are distinct per thread and below `threads`. Chunks do
// not depend on the number of threads, so that results do not either.
template <class Body>
void for_each_chunk(int64_t chunks, int threads, const Body& body, Place place = {}) {
    Chunks left(chunks);
    run_team(static_cast<int>(std::clamp<int64_t>(chunks, 1, threads)), [&](int rank) {
        left.each([&](int64_t chunk) {
            if constexpr (std::is_invocable_v<const Body&, int64_t, int>)
                body(chunk, rank);
            else
                body(chunk);
        });
    }, place);
}

template <class Body>
void for_each_part(int parts, const Body& body, Place place = {}) {
    for_each_chunk(parts, parts, [&](int64_t part) { body(static_cast<int>(part)); }, place);
}

// Calls visit(i) for every i below `count`.
template <class Visit>
void for_each_entry(int64_t count, const Visit& visit, Place place = {}) {
    const int parts = part_count(count);
    for_each_part(parts, [&](int part) {
        const Range range = part_of(count, part, parts);
        for (int64_t i = range.begin; i < range.end; ++i) visit(i);
    }, place);
}

template <class T>
void fill(T* out, int64_t count, T value, Place place = {}) {
    const int parts = part_count(count);
    for_each_part(parts, [=](int part) {
        const Range range = part_of(count, part, parts);
        std::fill(out + range.begin, out + range.end, value);
    }, place);
}

template <class From, class To>
void copy(const From* from, int64_t count, To* to, Place place = {}) {
    const int parts = part_count(count);
    for_each_part(parts, [=](int part) {
        const Range range = part_of(count, part, parts);
        std::copy(from + range.begin, from + range.end, to + range.begin);
    }, place);
}

}  // namespace tgraph
