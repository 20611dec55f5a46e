// The weight of the arcs of one row, or of several, by the community that they lead to. Short rows are summed in a
// small hash table, which stays in the first cache; longer ones in an array by community, where nothing collides. Both
// are cleared by what was touched.
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

    // For communities below `count`.
    explicit NeighborWeights(int64_t count) : num_communities_(count), slots_(num_slots, Entry{0, -1}) {
        used_.resize(num_slots);
    }

    // Begins with a row that leads to at most so many communities.
    void begin(int64_t communities) {
        for (int64_t i = 0; i < count_; ++i)
            if (is_long_)
                weight_[used_[i]] = -1;
            else
                slots_[used_[i]].community = -1;
        count_ = 0;
        is_long_ = 2 * communities > num_slots;
        if (!is_long_) return;
        if (weight_.empty()) weight_.assign(num_communities_, -1.0);
        const int64_t most = std::min(communities, num_communities_) + 1;
        if (most > static_cast<int64_t>(used_.size())) used_.resize(most);
    }

    // Branches on collisions only: whether a community is met for the first time cannot be foreseen.
    TGRAPH_INLINE void add(Id community, double weight) {
        const bool is_new = is_long_ ? add_long(community, weight) : add_short(community, weight);
        count_ += is_new;
    }

    int64_t size() const { return count_; }
    // Entry number i, in the order in which communities were met.
    TGRAPH_INLINE Entry operator[](int64_t i) const {
        return is_long_ ? Entry{weight_[used_[i]], used_[i]} : slots_[used_[i]];
    }

private:
    static constexpr int64_t num_slots = 256;
    static constexpr int shift = 64 - std::countr_zero(static_cast<uint64_t>(num_slots));

    int64_t num_communities_, count_ = 0;
    bool is_long_ = false;
    std::vector<Entry> slots_;    // of short rows; community -1 where empty
    std::vector<double> weight_;  // of long rows by community; -1 where none is
    std::vector<Id> used_;        // slots or communities, in the order in which they were met

    TGRAPH_INLINE bool add_long(Id community, double weight) {
        const double held = weight_[community];
        const bool is_new = held < 0;
        weight_[community] = (is_new ? 0.0 : held) + weight;
        used_[count_] = community;
        return is_new;
    }

    TGRAPH_INLINE bool add_short(Id community, double weight) {
        uint64_t slot = static_cast<uint64_t>(community) * 0x9e3779b97f4a7c15 >> shift;  // Fibonacci hashing
        while (slots_[slot].community != community && slots_[slot].community >= 0) slot = (slot + 1) % num_slots;
        Entry& entry = slots_[slot];
        const bool is_new = entry.community < 0;
        entry = {(is_new ? 0.0 : entry.weight) + weight, community};
        used_[count_] = static_cast<Id>(slot);
        return is_new;
    }
};

}  // namespace tgraph
