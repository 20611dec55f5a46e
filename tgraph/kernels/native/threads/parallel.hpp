// Parallel loops on the team of threads (team.hpp): dynamic scheduling of numbered chunks from a shared counter.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
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

// The body of a loop as the one compiled loop takes it: a function, and the object it is called with. A chunk is work
// enough for a call.
using ChunkFunction = void (*)(const void* body, int64_t chunk, int rank);
using RangeFunction = void (*)(const void* body, Range range, int part);

// Calls body(chunk, rank) or body(chunk).
template <class Body>
void call_chunk(const void* object, int64_t chunk, [[maybe_unused]] int rank) {
    const Body& body = *static_cast<const Body*>(object);
    if constexpr (std::is_invocable_v<const Body&, int64_t, int>)
        body(chunk, rank);
    else
        body(chunk);
}

// Dynamic scheduling: each thread takes the next chunk from a shared counter (relaxed: the end of the region orders the
// results). The first exception ends the loop for all threads.
class Chunks {
public:
    explicit Chunks(int64_t count) : count_(count) {}

    template <class Body>
    void each(const Body& body) {
        each(call_chunk<Body>, std::addressof(body), 0);
    }
    void each(ChunkFunction call, const void* body, int rank);

private:
    std::atomic<int64_t> next_{0};
    const int64_t count_;
};

// The loops below, compiled once (parallel.cpp).
void run_chunks(int64_t chunks, int threads, ChunkFunction call, const void* body, Place place);
void run_ranges(int64_t count, int parts, RangeFunction call, const void* body, Place place);
void fill_bytes(void* out, int64_t count, const void* value, int64_t width, Place place);
void copy_bytes(const void* from, int64_t count, void* to, int64_t width, Place place);

// Calls body(chunk) or body(chunk, rank) for every chunk; ranks are distinct per thread and below `threads`. Chunks do
// not depend on the number of threads, so that results do not either.
template <class Body>
void for_each_chunk(int64_t chunks, int threads, const Body& body, Place place = {}) {
    run_chunks(chunks, threads, call_chunk<Body>, std::addressof(body), place);
}

template <class Body>
void for_each_part(int parts, const Body& body, Place place = {}) {
    for_each_chunk(parts, parts, [&](int64_t part) { body(static_cast<int>(part)); }, place);
}

// Calls body(range, part) for each of `parts` contiguous, nearly equal parts of [0, count).
template <class Body>
void for_each_part_of(int64_t count, int parts, const Body& body, Place place = {}) {
    run_ranges(
        count, parts,
        [](const void* object, Range range, int part) { (*static_cast<const Body*>(object))(range, part); },
        std::addressof(body), place);
}

// Calls visit(i) for every i below `count`.
template <class Visit>
void for_each_entry(int64_t count, const Visit& visit, Place place = {}) {
    for_each_part_of(
        count, part_count(count),
        [&visit](Range range, int) {
            for (int64_t i = range.begin; i < range.end; ++i) visit(i);
        },
        place);
}

template <class T>
void fill(T* out, int64_t count, std::type_identity_t<T> value, Place place = {}) {
    static_assert(std::is_trivially_copyable_v<T>);
    fill_bytes(out, count, &value, sizeof(T), place);
}

template <class From, class To>
void copy(const From* from, int64_t count, To* to, Place place = {}) {
    if constexpr (std::is_same_v<From, To>)
        copy_bytes(from, count, to, sizeof(To), place);
    else
        for_each_entry(count, [=](int64_t i) { to[i] = static_cast<To>(from[i]); }, place);
}

}  // namespace tgraph
