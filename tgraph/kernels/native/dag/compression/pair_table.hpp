// Counting pairs of symbols: a hash table that all threads fill at once.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "base/memory.hpp"
#include "threads/parallel.hpp"

namespace tgraph {

// A pair of adjacent symbols, the left one in the high half.
using Pair = uint64_t;

// Open addressing with linear probing. The number of slots bounds nothing but the pairs that fit, and no result depends
// on it: where they do not fit, a larger table has to be filled anew.
class PairTable {
public:
    static constexpr uint32_t no_slot = ~uint32_t{0};

    struct Slot {
        Pair pair;
        uint32_t count;  // of all occurrences
        uint32_t taken;  // those that are to be replaced; then the symbol that does, or 0
    };

    // `patience` : after so many probes the table is too full.
    PairTable(uint64_t capacity, uint64_t patience) : capacity_(capacity), patience_(patience), slots_(capacity) {
        const int parts = part_count(size());
        for_each_part(parts, [&](int part) {
            const Range range = part_of(size(), part, parts);
            std::fill(slots_.data() + range.begin, slots_.data() + range.end, Slot{empty, 0, 0});
        });
    }

    int64_t size() const { return static_cast<int64_t>(capacity_); }
    Slot& operator[](uint64_t slot) const { return slots_.data()[slot]; }

    // Where the search for a pair begins. The mixing is the finalizer of splitmix64 (Steele, Lea and Flood, "Fast
    // splittable pseudorandom number generators", 2014), and its high bits are spread over any number of slots.
    uint64_t home(Pair pair) const {
        return static_cast<uint64_t>((static_cast<uint128>(mixed(pair)) * capacity_) >> 64);
    }

    static uint64_t mixed(Pair pair) {
        uint64_t bits = pair;
        bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
        bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
        return bits ^ bits >> 31;
    }

    // Counts an occurrence of a pair whose home is known. Returns its slot, or no_slot where the table is too full.
    uint32_t count(Pair pair, uint64_t slot) const {
        for (uint64_t probes = 0; probes < patience_; ++probes) {
            const std::atomic_ref<Pair> held(slots_.data()[slot].pair);
            Pair found = held.load(std::memory_order_relaxed);
            if (found == empty && held.compare_exchange_strong(found, pair, std::memory_order_relaxed)) found = pair;
            if (found == pair) {
                std::atomic_ref<uint32_t>(slots_.data()[slot].count).fetch_add(1, std::memory_order_relaxed);
                return static_cast<uint32_t>(slot);
            }
            if (++slot == capacity_) slot = 0;
        }
        return no_slot;
    }

private:
    __extension__ typedef unsigned __int128 uint128;
    static constexpr Pair empty = ~Pair{0};  // no symbol is so large

    uint64_t capacity_, patience_;
    Scratch<Slot> slots_;
};

}  // namespace tgraph
