// A concurrent hash table that counts pairs of symbols. Slots are claimed by compare-and-swap and counts added
// atomically, both relaxed: the end of the parallel region orders them before they are read.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/hash.hpp"
#include "base/memory.hpp"
#include "threads/parallel.hpp"

namespace tgraph {

// A pair of adjacent symbols, the left one in the high half.
using Pair = uint64_t;

// Open addressing with linear probing. Results do not depend on the capacity: if the pairs do not fit, they are counted
// again in a larger table.
class PairTable {
public:
    static constexpr uint32_t no_slot = ~uint32_t{0};

    struct Slot {
        Pair pair;
        uint32_t count;  // of all occurrences
        uint32_t taken;  // occurrences to replace; later the symbol that replaces them, or 0
    };

    // `most_probes` : after so many the table counts as full.
    PairTable(uint64_t capacity, uint64_t most_probes)
        : capacity_(capacity), most_probes_(most_probes), slots_(capacity) {
        fill(slots_.data(), size(), Slot{empty, 0, 0});
    }

    int64_t size() const { return static_cast<int64_t>(capacity_); }
    Slot& operator[](uint64_t slot) const { return slots_.data()[slot]; }

    // The first slot of the probe sequence: the high bits of the hash, scaled to any capacity.
    uint64_t home(Pair pair) const {
        return static_cast<uint64_t>((static_cast<uint128>(mix(pair)) * capacity_) >> 64);
    }

    // Counts an occurrence of a pair, whose `home` is `slot`. Returns its slot, or no_slot if the table is full.
    uint32_t count(Pair pair, uint64_t slot) const {
        for (uint64_t probes = 0; probes < most_probes_; ++probes) {
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
    static constexpr Pair empty = ~Pair{0};  // larger than any symbol

    uint64_t capacity_, most_probes_;
    Scratch<Slot> slots_;
};

}  // namespace tgraph
