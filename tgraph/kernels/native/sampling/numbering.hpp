// Vertices numbered in the order of their first occurrence.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "base/memory.hpp"
#include "base/zeroed.hpp"
#include "sampling/buffer.hpp"

namespace tgraph {

// The vertices of one type in a batch: a list, and a hash table (linear probing) from a vertex to its place in it.
// Slots hold the place alone, one more than it, 0 for none: vertices are compared in the list, so that a slot takes
// four bytes. If `disjoint`, a vertex in the trees of two seeds is two; otherwise all trees are 0.
class Numbering {
public:
    explicit Numbering(bool disjoint) : disjoint_(disjoint) {}
    Numbering(Numbering&&) = delete;
    ~Numbering() { give_back(); }

    int64_t size() const { return vertex_.size(); }
    int64_t vertex(int64_t place) const { return vertex_[place]; }
    int64_t tree(int64_t place) const { return disjoint_ ? tree_[place] : 0; }
    Buffer<int64_t>& vertices() { return vertex_; }
    Buffer<int64_t>& trees() { return tree_; }

    // Room for so many more.
    void reserve_more(int64_t count) {
        vertex_.reserve_more(count);
        if (disjoint_) tree_.reserve_more(count);
        // At most 3/4 of the slots are taken, where all of them turn out to be new.
        if (const int64_t most = size() + count; 4 * most > 3 * capacity_) grow(most);
    }

    TGRAPH_INLINE void fetch_slot(int64_t vertex, int64_t tree) const { fetch(slots() + home(vertex, tree)); }

    // The place of a vertex, which is appended where it is new. `reserve_more` came before.
    TGRAPH_INLINE int64_t place_of(int64_t vertex, int64_t tree) {
        Slot& slot = find(vertex, tree);
        if (slot == 0) {
            append(vertex, tree);
            slot = static_cast<Slot>(size());
        }
        return slot - 1;
    }

    // Appends a vertex even where it is in the list; it is found at its first place.
    void append_seed(int64_t vertex, int64_t tree) {
        const int64_t before = size();
        place_of(vertex, tree);
        if (size() == before) append(vertex, tree);
    }

private:
    using Slot = uint32_t;
    using Block = KeptBlocks::Block;

    bool disjoint_;
    Buffer<int64_t> vertex_, tree_;
    Block block_{0};
    int64_t capacity_ = 0;

    Slot* slots() const { return reinterpret_cast<Slot*>(block_.data()); }

    uint64_t home(int64_t vertex, int64_t tree) const {
        const uint64_t key = static_cast<uint64_t>(vertex) + static_cast<uint64_t>(tree) * 0xd6e8feb86659fd93;
        return (key * 0x9e3779b97f4a7c15) >> (64 - std::countr_zero(static_cast<uint64_t>(capacity_)));
    }

    TGRAPH_INLINE Slot& find(int64_t vertex, int64_t tree) {
        const uint64_t mask = static_cast<uint64_t>(capacity_) - 1;
        for (uint64_t at = home(vertex, tree);; at = (at + 1) & mask) {
            Slot& slot = slots()[at];
            if (slot == 0) return slot;
            const int64_t place = slot - 1;
            if (vertex_[place] == vertex && (!disjoint_ || tree_[place] == tree)) return slot;
        }
    }

    void append(int64_t vertex, int64_t tree) {
        vertex_.push(vertex);
        if (disjoint_) tree_.push(tree);
    }

    void grow(int64_t most) {
        if (most >= int64_t{1} << 31) throw std::length_error("a batch has more than 2^31 vertices");
        give_back();
        capacity_ = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(most * 4 / 3, 64))));
        block_ = KeptBlocks::of_thread().take(capacity_ * sizeof(Slot));
        for (int64_t place = 0; place < size(); ++place) {
            if (place + 16 < size()) fetch_slot(vertex_[place + 16], tree(place + 16));
            Slot& slot = find(vertex_[place], tree(place));
            if (slot == 0) slot = static_cast<Slot>(place + 1);
        }
    }

    // The threads keep zeros.
    void give_back() {
        if (!capacity_) return;
        std::memset(slots(), 0, capacity_ * sizeof(Slot));
        KeptBlocks::of_thread().keep(std::move(block_));
        capacity_ = 0;
    }
};

}  // namespace tgraph
