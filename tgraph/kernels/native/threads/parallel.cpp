// The loops of parallel.hpp, over bodies whose types are erased.
#include "threads/parallel.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace tgraph {
namespace {

template <class Body>
void run_chunk(const Body& body) {
    poll_interruption();
    body();
    if (census_is_taken.load(std::memory_order_relaxed)) [[unlikely]]
        count_chunk();
}

}  // namespace

void Chunks::each(ChunkFunction call, const void* body, int rank) {
    try {
        for (int64_t chunk; (chunk = next_.fetch_add(1, std::memory_order_relaxed)) < count_;)
            run_chunk([=] { call(body, chunk, rank); });
    } catch (...) {
        next_.store(count_, std::memory_order_relaxed);
        throw;
    }
}

void run_chunks(int64_t chunks, int threads, ChunkFunction call, const void* body, Place place) {
    if (chunks <= 1 || threads <= 1) {
        for (int64_t chunk = 0; chunk < chunks; ++chunk) run_chunk([=] { call(body, chunk, 0); });
        return;
    }
    Chunks left(chunks);
    run_team(static_cast<int>(std::min<int64_t>(chunks, threads)), [&](int rank) { left.each(call, body, rank); },
             place);
}

void run_ranges(int64_t count, int parts, RangeFunction call, const void* body, Place place) {
    if (parts <= 1) return run_chunk([=] { call(body, {0, count}, 0); });
    for_each_part(parts, [=](int part) { call(body, part_of(count, part, parts), part); }, place);
}

// Copies the items that are filled onto those after them: at first all, and then a block that stays in the cache.
void fill_bytes(void* out, int64_t count, const void* value, int64_t width, Place place) {
    constexpr int64_t block = 1 << 12;
    for_each_part_of(count, part_count(count), [=](Range range, int) {
        std::byte* const begin = static_cast<std::byte*>(out) + range.begin * width;
        const int64_t size = (range.end - range.begin) * width;
        if (size) std::memcpy(begin, value, width);
        for (int64_t filled = width; filled < size;) {
            const int64_t next = std::min({filled, block / width * width, size - filled});
            std::memcpy(begin + filled, begin, next);
            filled += next;
        }
    }, place);
}

void copy_bytes(const void* from, int64_t count, void* to, int64_t width, Place place) {
    for_each_part_of(count, part_count(count), [=](Range range, int) {
        const int64_t begin = range.begin * width, size = range.end * width - begin;
        if (size) std::memcpy(static_cast<std::byte*>(to) + begin, static_cast<const std::byte*>(from) + begin, size);
    }, place);
}

}  // namespace tgraph
