// The semirings of relaxations: a min or max reduction (`better`), and an edge operation (`send`).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/semiring.hpp"

namespace tgraph {

enum class Edge { copy, add, mul, min, max };

template <class V>
constexpr V highest() {
    if constexpr (std::is_floating_point_v<V>) return std::numeric_limits<V>::infinity();
    return std::numeric_limits<V>::max();
}

template <class V>
constexpr V lowest() {
    if constexpr (std::is_floating_point_v<V>) return -std::numeric_limits<V>::infinity();
    return std::numeric_limits<V>::min();
}

// Shortest paths and, with a constant weight, breadth-first search.
template <class V>
struct MinPlus {
    V identity() const { return highest<V>(); }
    bool better(V a, V b) const { return a < b; }
    V send(V value, V weight) const { return plus(value, weight); }
};

// Components: the least, or greatest, label.
template <class V, bool is_min>
struct BestCopy {
    V identity() const { return is_min ? highest<V>() : lowest<V>(); }
    bool better(V a, V b) const { return is_min ? a < b : a > b; }
    V send(V value, V) const { return value; }
};

// Widest paths.
template <class V>
struct MaxMin {
    V identity() const { return lowest<V>(); }
    bool better(V a, V b) const { return a > b; }
    V send(V value, V weight) const { return std::min(value, weight); }
};

// All other semirings, dispatched at run time: the branches are the same for every arc, hence predictable.
template <class V>
struct AnySemiring {
    bool is_min;
    Edge edge;

    V identity() const { return is_min ? highest<V>() : lowest<V>(); }
    bool better(V a, V b) const { return is_min ? a < b : a > b; }
    V send(V value, V weight) const {
        switch (edge) {
            case Edge::add: return plus(value, weight);
            case Edge::mul: return times(value, weight);
            case Edge::min: return std::min(value, weight);
            case Edge::max: return std::max(value, weight);
            default: return value;
        }
    }
};

// Lowers (or raises) `slot` to `message` if that is better; returns whether it was. `shared` : other threads may write
// concurrently, so by compare-and-swap (relaxed: no other data is published by it).
template <bool shared, class V, class Semiring>
TGRAPH_INLINE bool improve(V& slot, V message, const Semiring& semiring) {
    if constexpr (shared) {
        std::atomic_ref<V> value(slot);
        V old = value.load(std::memory_order_relaxed);
        while (semiring.better(message, old))
            if (value.compare_exchange_weak(old, message, std::memory_order_relaxed)) return true;
        return false;
    } else {
        if (!semiring.better(message, slot)) return false;
        slot = message;
        return true;
    }
}

}  // namespace tgraph
