// Neighbors of a vertex in the underlying undirected graph: its row and, if arcs are not symmetric, its row of the
// transpose.
#pragma once

#include <cstdint>

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

    Sides(const In<int64_t>& offset, const In<Neighbor>& neighbors, const In<int64_t>& in_offset,
          const In<Neighbor>& in_neighbors)
        : num_vertices(static_cast<int64_t>(offset.shape(0)) - 1),
          count(in_offset.is_valid() && in_neighbors.is_valid() ? 2 : 1), offset_{offset.data(), in_offset.data()},
          neighbors_{neighbors.data(), in_neighbors.data()} {}

    Row<Neighbor> row(int side, int64_t v) const {
        return {neighbors_[side] + offset_[side][v], neighbors_[side] + offset_[side][v + 1]};
    }

    // Parallel arcs count.
    int64_t degree(int64_t v) const {
        int64_t sum = 0;
        for (int side = 0; side < count; ++side) sum += offset_[side][v + 1] - offset_[side][v];
        return sum;
    }

    // Offsets of the rows, for edge-balanced chunks.
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
