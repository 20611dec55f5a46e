// Relabelling of dense ids by a direct table with one entry per value from the least to the largest id.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/memory.hpp"
#include "threads/parallel.hpp"

namespace tgraph {

// table[id - low] = 1 for every id. Threads may store the same 1 concurrently, hence the relaxed atomics, which are
// free.
template <class Id, class Entry>
void mark(const Id* ids, int64_t count, int64_t low, Entry* table) {
    for_each_entry(count, [=](int64_t i) {
        std::atomic_ref<Entry>(table[ids[i] - low]).store(1, std::memory_order_relaxed);
    });
}

// out[i] = table[ids[i] - low].
template <class Id, class Entry>
void look_up(const Id* ids, int64_t count, int64_t low, const Entry* table, Entry* out) {
    advise_huge_pages(out, count * sizeof(Entry));
    for_each_entry(count, [=](int64_t i) { out[i] = table[ids[i] - low]; });
}

}  // namespace tgraph
