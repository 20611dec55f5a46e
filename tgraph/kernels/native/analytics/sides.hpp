// The neighbours of a vertex whichever way arcs lead: its row where every arc is stored both ways, otherwise its row
// and that of the transpose.
#pragma once

#include <nanobind/stl/optional.h>

#include <cstdint>
#include <optional>

#include "base/bindings.hpp"
#include "base/simd.hpp"

namespace tgraph {

template <class Neighbor>
struct Row {
    const Neighbor *begin, *end;
};

template <class Neighbor>
class Sides {
public:
    const int64_t num_vertices;
    const int count;

    Sides(const In<int64_t>& offset, const In<Neighbor>& neighbors, const std::optional<In<int64_t>>& in_offset,
          const std::optional<In<Neighbor>>& in_neighbors)
        : num_vertices(static_cast<int64_t>(offset.shape(0)) - 1), count(in_offset && in_neighbors ? 2 : 1),
          offset_{offset.data(), in_offset ? in_offset->data() : nullptr},
          neighbors_{neighbors.data(), in_neighbors ? in_neighbors->data() : nullptr} {}

    Row<Neighbor> row(int side, int64_t v) const {
        return {neighbors_[side] + offset_[side][v], neighbors_[side] + offset_[side][v + 1]};
    }

    // The arcs at v; a parallel arc counts like any other.
    int64_t degree(int64_t v) const {
        int64_t sum = 0;
        for (int side = 0; side < count; ++side) sum += offset_[side][v + 1] - offset_[side][v];
        return sum;
    }

    // Of the rows as stored: what chunks of equal work are cut by.
    const int64_t* offset() const { return offset_[0]; }

    int64_t num_arcs() const {
        int64_t sum = 0;
        for (int side = 0; side < count; ++side) sum += offset_[side][num_vertices];
        return sum;
    }

    TGRAPH_INLINE void prefetch_offset(int64_t v) const { __builtin_prefetch(offset_[0] + v); }
    TGRAPH_INLINE void prefetch_row(int64_t v) const { __builtin_prefetch(neighbors_[0] + offset_[0][v]); }

private:
    const int64_t* offset_[2];
    const Neighbor* neighbors_[2];
};

}  // namespace tgraph
