// The weight of the arcs of one row, or of several, by the community that they lead to: a hash table as large as the
// number of different communities asks for, so that most rows stay in the first cache; cleared by what was touched.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "base/memory.hpp"

namespace tgraph {

template <class Id>
class NeighborWeights {
public:
    struct Entry {
        double weight;
        Id community;
    };

    NeighborWeights() { reserve(smallest); }

    void clear() {
        for (int64_t i = 0; i < count_; ++i) slots_[used_[i]].community = -1;
        count_ = 0;
        use(smallest);
    }

    // Branches on collisions only: whether a community is met for the first time cannot be foreseen.
    TGRAPH_INLINE void add(Id community, double weight) {
        const uint64_t slot = find(community);
        Entry& entry = slots_[slot];
        const bool is_new = entry.community < 0;
        entry.weight = (is_new ? 0.0 : entry.weight) + weight;
        entry.community = community;
        used_[count_] = static_cast<uint32_t>(slot);
        count_ += is_new;
        if (2 * count_ >= size_) [[unlikely]] grow();
    }

    int64_t size() const { return count_; }
    // Entry number i, in the order in which communities were met.
    const Entry& operator[](int64_t i) const { return slots_[used_[i]]; }

private:
    static constexpr int64_t smallest = 128;

    std::vector<Entry> slots_;    // community -1 where empty; the first `size_` are in use
    std::vector<uint32_t> used_;  // slots, in the order in which they were taken
    int64_t size_ = 0, count_ = 0;
    int shift_ = 0;

    void reserve(int64_t size) {
        slots_.resize(size, Entry{0, -1});
        used_.resize(size / 2 + 1);
        use(size);
    }

    void use(int64_t size) {
        size_ = size;
        shift_ = 64 - std::countr_zero(static_cast<uint64_t>(size));
    }

    uint64_t find(Id community) const {
        uint64_t slot = static_cast<uint64_t>(community) * 0x9e3779b97f4a7c15 >> shift_;  // Fibonacci hashing
        while (slots_[slot].community != community && slots_[slot].community >= 0) slot = (slot + 1) & (size_ - 1);
        return slot;
    }

    // Four times the slots, and every entry anew.
    void grow() {
        std::vector<Entry> held(count_);
        for (int64_t i = 0; i < count_; ++i) {
            held[i] = (*this)[i];
            slots_[used_[i]].community = -1;
        }
        if (4 * size_ > static_cast<int64_t>(slots_.size()))
            reserve(4 * size_);
        else
            use(4 * size_);
        for (int64_t i = 0; i < count_; ++i) {
            const uint64_t slot = find(held[i].community);
            slots_[slot] = held[i];
            used_[i] = static_cast<uint32_t>(slot);
        }
    }
};

}  // namespace tgraph
