// Relabelling arbitrary ids through a table that has one entry for every value between the least and the largest.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/memory.hpp"
#include "threads/parallel.hpp"

namespace tgraph {

// table[id - low] = 1 for every id. Threads may store the same 1 at the same time, hence the (free) atomics.
template <class Id, class Entry>
void mark(const Id* ids, int64_t count, int64_t low, Entry* table) {
    const int parts = part_count(count);
    for_each_part(parts, [=](int part) {
        const Range range = part_of(count, part, parts);
        for (int64_t i = range.begin; i < range.end; ++i)
            std::atomic_ref<Entry>(table[ids[i] - low]).store(1, std::memory_order_relaxed);
    });
}

// out[i] = table[ids[i] - low].
template <class Id, class Entry>
void look_up(const Id* ids, int64_t count, int64_t low, const Entry* table, Entry* out) {
    advise_huge_pages(out, count * sizeof(Entry));
    const int parts = part_count(count);
    for_each_part(parts, [=](int part) {
        const Range range = part_of(count, part, parts);
        for (int64_t i = range.begin; i < range.end; ++i) out[i] = table[ids[i] - low];
    });
}

}  // namespace tgraph
