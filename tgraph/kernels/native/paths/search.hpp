// What searches from vertex to vertex share: rows with weights, a queue by distance, and labels in memory that costs
// only what is touched.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "base/bindings.hpp"
#include "base/neighbors.hpp"
#include "base/zeroed.hpp"

namespace tgraph {

// Sums of integer weights are int64, of floating ones double.
template <class Weight>
using Distance = std::conditional_t<std::is_floating_point_v<Weight>, double, int64_t>;

// The rows of a graph, without weights.
struct NeighborRows {
    NeighborRows(const In<int64_t>& offset, const In<void>& neighbors)
        : offset(offset.data()), neighbors(neighbors), num_vertices(static_cast<int64_t>(offset.shape(0)) - 1) {}

    const int64_t* const offset;
    const Neighbors neighbors;
    const int64_t num_vertices;

    int64_t degree(int64_t v) const { return offset[v + 1] - offset[v]; }
};

// Rows with their weights, which are read as Value; every arc weighs 1 where there are none.
template <class Value>
class PathRows : public NeighborRows {
public:
    template <class Weight>
    PathRows(const In<int64_t>& offset, const In<void>& neighbors, const In<Weight>& weights)
        : NeighborRows(offset, neighbors), weights_(weights.data()), is_narrow_(sizeof(Weight) == sizeof(Narrow)) {
        static_assert(std::is_same_v<Weight, Narrow> || std::is_same_v<Weight, Value>);
    }

    TGRAPH_INLINE Value weight(int64_t arc) const {
        if (!weights_) return 1;
        return is_narrow_ ? static_cast<Value>(static_cast<const Narrow*>(weights_)[arc])
                          : static_cast<const Value*>(weights_)[arc];
    }

private:
    using Narrow = std::conditional_t<std::is_floating_point_v<Value>, float, int32_t>;

    const void* const weights_;
    const bool is_narrow_;
};

// A heap with four children per item, the least key on top. A vertex may be in it several times.
template <class Key>
class MinHeap {
public:
    struct Item {
        Key key;
        int64_t vertex;

        // Equal keys by vertex: the order does not depend on that of insertion.
        bool operator<(const Item& other) const {
            return key < other.key || (key == other.key && vertex < other.vertex);
        }
    };

    bool empty() const { return items_.empty(); }
    std::size_t size() const { return items_.size(); }
    const Item& top() const { return items_.front(); }
    void clear() { items_.clear(); }

    void push(Key key, int64_t vertex) {
        items_.push_back({key, vertex});
        const Item item{key, vertex};
        std::size_t place = items_.size() - 1;
        for (std::size_t above; place > 0 && item < items_[above = (place - 1) / 4]; place = above)
            items_[place] = items_[above];
        items_[place] = item;
    }

    Item pop() {
        const Item least = items_.front(), last = items_.back();
        items_.pop_back();
        if (!items_.empty()) sink(last);
        return least;
    }

private:
    std::vector<Item> items_;

    void sink(const Item& item) {
        const std::size_t size = items_.size();
        std::size_t place = 0;
        for (std::size_t child = 1; child < size; child = 4 * place + 1) {
            const std::size_t end = std::min(child + 4, size);
            std::size_t least = child;
            for (std::size_t other = child + 1; other < end; ++other)
                if (items_[other] < items_[least]) least = other;
            if (!(items_[least] < item)) break;
            items_[place] = items_[least];
            place = least;
        }
        items_[place] = item;
    }
};

// The vertices from a root of the tree to `last`, in this order. `parent_of(v)` is the parent, negative at a root.
template <class ParentOf>
std::vector<int64_t> walk_back(int64_t last, const ParentOf& parent_of) {
    std::vector<int64_t> path;
    for (int64_t v = last; v >= 0; v = parent_of(v)) path.push_back(v);
    std::reverse(path.begin(), path.end());
    return path;
}

// Calls bind<Weight>() for every kind of weights.
template <class Bind>
void for_each_weight(const Bind& bind) {
    bind.template operator()<int32_t>();
    bind.template operator()<int64_t>();
    bind.template operator()<float>();
    bind.template operator()<double>();
}

}  // namespace tgraph
