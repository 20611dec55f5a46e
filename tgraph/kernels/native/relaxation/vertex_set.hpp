// Vertex sets of a search: a bitmap with optional atomic insertion (relaxed), and lists of vertices per thread.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/memory.hpp"
#include "threads/parallel.hpp"

namespace tgraph {

class Bitmap {
public:
    explicit Bitmap(int64_t size) : size_(size), words_((size + 63) / 64) { clear(); }

    int64_t num_words() const { return (size_ + 63) / 64; }
    uint64_t* words() { return words_.data(); }
    void clear() { std::memset(words_.data(), 0, num_words() * sizeof(uint64_t)); }
    bool has(int64_t v) const { return words_.data()[v >> 6] >> (v & 63) & 1; }

    // Adds v; returns whether it is new. `shared` : other threads may add to the same word.
    bool add(int64_t v, bool shared) {
        std::atomic_ref<uint64_t> held(words_.data()[v >> 6]);
        const uint64_t bit = uint64_t{1} << (v & 63), before = held.load(std::memory_order_relaxed);
        if (shared) return !(before & bit) && !(held.fetch_or(bit, std::memory_order_relaxed) & bit);
        held.store(before | bit, std::memory_order_relaxed);
        return !(before & bit);
    }

    // Clears the word of v: clears the set if called for all members.
    void clear_word(int64_t v) {
        std::atomic_ref<uint64_t>(words_.data()[v >> 6]).store(0, std::memory_order_relaxed);
    }

private:
    int64_t size_;
    Scratch<uint64_t> words_;
};

// Vertices found by one thread, and the number of their arcs. Aligned to avoid false sharing.
struct alignas(64) Found {
    std::vector<int32_t> ids;
    int64_t size = 0, arcs = 0;
};

// Lists the members of a bitmap in ascending order.
inline void list_members(Bitmap& set, int32_t* list) {
    const int64_t words = set.num_words();
    const int parts = part_count(words * 8);
    std::vector<std::size_t> start(parts + 1);
    for_each_part(parts, [&](int part) {
        const Range range = part_of(words, part, parts);
        for (int64_t i = range.begin; i < range.end; ++i) start[part + 1] += std::popcount(set.words()[i]);
    });
    for (int part = 0; part < parts; ++part) start[part + 1] += start[part];
    for_each_part(parts, [&](int part) {
        const Range range = part_of(words, part, parts);
        int32_t* out = list + start[part];
        for (int64_t i = range.begin; i < range.end; ++i)
            for (uint64_t word = set.words()[i]; word; word &= word - 1)
                *out++ = static_cast<int32_t>(i * 64 + std::countr_zero(word));
    });
}

}  // namespace tgraph
