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
#include "base/buffer.hpp"

namespace tgraph {

// The vertices of one type in a batch: a list, and a hash table (linear probing) from a vertex to its place in it. A
// slot holds half of the vertex and one more than its place, 0 for none: most look-ups read one line of the cache. If
// `disjoint`, a vertex in the trees of two seeds is two; otherwise all trees are 0.
class Numbering {
public:
    explicit Numbering(bool disjoint) : disjoint_(disjoint) {}
    Numbering(Numbering&&) = delete;
    ~Numbering() { give_back(std::move(block_), capacity_); }

    int64_t size() const { return vertex_.size(); }
    int64_t vertex(int64_t place) const { return vertex_[place]; }
    int64_t tree(int64_t place) const { return disjoint_ ? tree_[place] : 0; }
    Buffer<int64_t>& vertices() { return vertex_; }
    Buffer<int64_t>& trees() { return tree_; }

    // Room for so many more, and one: what may be new is written behind the last.
    void reserve_more(int64_t count) {
        vertex_.reserve_more(count + 1);
        if (disjoint_) tree_.reserve_more(count + 1);
        // At most three quarters of the slots are taken, where all of them turn out to be new.
        if (const int64_t most = size() + count; 4 * most > 3 * capacity_) grow(2 * most);
    }

    // Room for so many more, of which many may turn out not to be new: slots for all of them only where these stay in
    // the cache. `reserve_more` comes before each part of them.
    void expect_more(int64_t count) {
        vertex_.reserve_more(count + 1);
        if (disjoint_) tree_.reserve_more(count + 1);
        const int64_t slots = (size() + count) * 4 / 3 + 1;
        if (const int64_t least = disjoint_ ? slots : std::min(slots, slots_in_cache); least > capacity_) grow(least);
    }

    TGRAPH_INLINE void fetch_slot(int64_t vertex, int64_t tree) const { fetch(slots() + home(key(vertex, tree))); }

    // The places of vertices in the tree 0, or of vertex i in tree(i); those that are new are appended. `reserve_more`
    // came before. Places may be written where the vertices are.
    TGRAPH_INLINE void find_all(const int64_t* vertices, int64_t count, int64_t* places) {
        find_all(vertices, count, [](int64_t) { return int64_t{0}; }, places);
    }

    template <class Tree>
    TGRAPH_INLINE void find_all(const int64_t* vertices, int64_t count, const Tree& tree, int64_t* places) {
        uint64_t bits = 0;
        for (int64_t i = 0; i < count; ++i) bits |= static_cast<uint64_t>(vertices[i]);
        is_wide_ |= bits >> 32 != 0;
        if (disjoint_) find_all<true, true>(vertices, count, tree, places);
        else if (is_wide_) find_all<true, false>(vertices, count, tree, places);
        else find_all<false, false>(vertices, count, tree, places);
    }

    int64_t place_of(int64_t vertex, int64_t tree) {
        int64_t place;
        find_all(&vertex, 1, [=](int64_t) { return tree; }, &place);
        return place;
    }

    // Appends a vertex even where it is in the list; it is found at its first place.
    void append_seed(int64_t vertex, int64_t tree) {
        const int64_t before = size();
        place_of(vertex, tree);
        if (size() == before) append(vertex, tree);
    }

private:
    using Slot = uint64_t;
    using Block = CachedBlocks::Block;

    static constexpr int64_t slots_in_cache = 1 << 17;
    static constexpr int64_t ahead = 16;  // vertices whose slots are fetched before they are looked at

    bool disjoint_, is_wide_ = false;  // is_wide_ : half of a vertex may be that of another
    Buffer<int64_t> vertex_, tree_;
    Block block_{0};
    int64_t capacity_ = 0;

    Slot* slots() const { return reinterpret_cast<Slot*>(block_.data()); }

    static uint64_t key(int64_t vertex, int64_t tree) {
        return static_cast<uint64_t>(vertex) + static_cast<uint64_t>(tree) * 0xd6e8feb86659fd93;
    }

    uint64_t home(uint64_t key) const {
        return (key * 0x9e3779b97f4a7c15) >> (64 - std::countr_zero(static_cast<uint64_t>(capacity_)));
    }

    // Whether a vertex is new cannot be foreseen: the list, its length and the slot are written in either case.
    template <bool compares, bool disjoint, class Tree>
    TGRAPH_INLINE void find_all(const int64_t* vertices, int64_t count, const Tree& tree, int64_t* places) {
        Slot* const slot = slots();
        const uint64_t mask = static_cast<uint64_t>(capacity_) - 1;
        int64_t *const list = vertex_.data(), *const trees = tree_.data(), size = vertex_.size();
        for (int64_t i = 0; i < count; ++i) {
            if (const int64_t k = i + ahead; k < count) fetch_slot(vertices[k], disjoint ? tree(k) : 0);
            const int64_t vertex = vertices[i], own_tree = disjoint ? tree(i) : 0;
            const uint64_t own = key(vertex, own_tree), half = own << 32;
            uint64_t at = home(own);
            Slot found = slot[at];
            const auto is_another = [&] {
                if constexpr (disjoint) {  // most are new
                    const int64_t place = static_cast<uint32_t>(found) - int64_t{1};
                    return found != 0 && ((found ^ half) >> 32 || list[place] != vertex || trees[place] != own_tree);
                }
                const uint64_t is_taken = opaque(found != 0);
                uint64_t differs = opaque((found ^ half) >> 32 != 0);
                if constexpr (compares) differs |= opaque(list[(found & 0xffffffff) - is_taken] != vertex);
                return (is_taken & differs) != 0;
            };
            while (is_another()) found = slot[at = (at + 1) & mask];
            list[size] = vertex;
            if (disjoint) trees[size] = own_tree;
            const uint64_t is_new = opaque(found == 0);
            const uint64_t place = (found & 0xffffffff) + is_new * static_cast<uint64_t>(size + 1);
            slot[at] = half | place;
            places[i] = static_cast<int64_t>(place) - 1;
            size += static_cast<int64_t>(is_new);
        }
        vertex_.resize(size);
        if (disjoint) tree_.resize(size);
    }

    // Keeps the compiler from making a branch of it.
    TGRAPH_INLINE static uint64_t opaque(uint64_t value) {
        asm("" : "+r"(value));
        return value;
    }

    void append(int64_t vertex, int64_t tree) {
        vertex_.push(vertex);
        if (disjoint_) tree_.push(tree);
    }

    void grow(int64_t capacity) {
        if (capacity >= int64_t{1} << 33) throw std::length_error("a batch has more than 2^31 vertices");
        Block before = std::exchange(block_, Block{0});
        const int64_t count = std::exchange(
            capacity_, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(capacity, 64)))));
        block_ = CachedBlocks::of_thread().take(capacity_ * sizeof(Slot));
        // In the order of the old slots, which is nearly that of the new ones.
        for (int64_t i = 0; i < count; ++i)
            if (const Slot held = reinterpret_cast<const Slot*>(before.data())[i]) insert(held);
        give_back(std::move(before), count);
    }

    void insert(Slot held) {
        const int64_t place = static_cast<uint32_t>(held) - int64_t{1};
        uint64_t at = home(disjoint_ || is_wide_ ? key(vertex_[place], tree(place)) : held >> 32);
        while (slots()[at] != 0) at = (at + 1) & (static_cast<uint64_t>(capacity_) - 1);
        slots()[at] = held;
    }

    // The threads keep zeros.
    static void give_back(Block&& block, int64_t capacity) {
        if (!capacity) return;
        std::memset(block.data(), 0, capacity * sizeof(Slot));
        CachedBlocks::of_thread().keep(std::move(block));
    }
};

}  // namespace tgraph
