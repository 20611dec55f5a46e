// The weight of the arcs of one row, or of several, by the community that they lead to: a hash table for rows that are
// not short, cleared by what was touched.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "base/memory.hpp"

namespace tgraph {

template <class Id>
class NeighborWeights {
public:
    struct Entry {
        double weight;
        Id community, slot;
    };

    // For at most `most` different communities at a time.
    explicit NeighborWeights(int64_t most)
        : slots_(slots_for(most)), entries_(std::max<int64_t>(most, 1)), capacity_(slots_for(most)) {
        std::fill_n(slots_.data(), capacity_, Id{-1});
    }

    // Empties the table, for so many different communities at most.
    void clear(int64_t most) {
        if (is_hashed_)
            for (int64_t i = 0; i < count_; ++i) slots_.data()[entries_.data()[i].slot] = -1;
        count_ = 0;
        is_hashed_ = most > few;
        if (is_hashed_) {
            const int64_t size = slots_for(most);
            shift_ = 64 - std::countr_zero(static_cast<uint64_t>(size));
            mask_ = static_cast<uint64_t>(size) - 1;
        }
    }

    void add(Id community, double weight) {
        Entry* const entries = entries_.data();
        if (!is_hashed_) {
            for (int64_t i = 0; i < count_; ++i)
                if (entries[i].community == community) return void(entries[i].weight += weight);
            entries[count_++] = {weight, community, 0};
            return;
        }
        uint64_t slot = first_slot(community);
        Id* const slots = slots_.data();
        for (; slots[slot] >= 0; slot = (slot + 1) & mask_)
            if (entries[slots[slot]].community == community) return void(entries[slots[slot]].weight += weight);
        slots[slot] = static_cast<Id>(count_);
        entries[count_++] = {weight, community, static_cast<Id>(slot)};
    }

    // In the order in which they were met.
    const Entry* begin() const { return entries_.data(); }
    const Entry* end() const { return entries_.data() + count_; }
    int64_t size() const { return count_; }

private:
    static constexpr int64_t few = 8;  // are compared one by one

    Scratch<Id> slots_;  // numbers of entries, -1 where empty
    Scratch<Entry> entries_;
    int64_t capacity_, count_ = 0;
    bool is_hashed_ = false;
    int shift_ = 63;
    uint64_t mask_ = 0;

    static int64_t slots_for(int64_t most) {
        return static_cast<int64_t>(std::bit_ceil(2 * static_cast<uint64_t>(std::max<int64_t>(most, 1))));
    }

    // Fibonacci hashing (Knuth, TAOCP 3, section 6.4).
    uint64_t first_slot(Id community) const {
        return static_cast<uint64_t>(community) * 0x9e3779b97f4a7c15 >> shift_;
    }
};

}  // namespace tgraph
