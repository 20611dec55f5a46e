// Orientation of an undirected graph by degree: each edge becomes an arc to the end of larger degree, and vertices are
// renumbered by descending degree (Chiba and Nishizeki, "Arboricity and subgraph listing algorithms", 1985; Schank and
// Wagner, WEA 2005). By parallel radix sorts (radix.hpp).
//
// Vertex 0 of the result is the largest hub. A row has the neighbors of smaller rank, ascending; it is no longer than
// sqrt(2 m), and most of its entries are hubs, which have the smallest numbers.
#pragma once

#include <cstdint>

#include "base/memory.hpp"
#include "base/neighbor.hpp"
#include "base/rows.hpp"

namespace tgraph {

// CSR with ascending rows; parallel arcs and self-loops are allowed.
struct StoredRows {
    const int64_t* offset;
    const Neighbor* neighbors;
    int64_t num_vertices;

    int64_t num_arcs() const { return offset[num_vertices] - offset[0]; }
    int64_t degree(int64_t v) const { return offset[v + 1] - offset[v]; }
};

// Vertices by descending degree, then number (`order`), and the inverse permutation (`rank`).
struct Ranking {
    Scratch<Neighbor> order, rank;
    Scratch<int64_t> offset;  // offsets of the rows in that order

    explicit Ranking(const StoredRows& rows);
};

struct OrientedRows {
    Ranking ranking;
    Scratch<int64_t> offset, end;  // row u is neighbors[offset[u]:end[u]]
    Scratch<Neighbor> neighbors;
    Scratch<uint8_t> twice;  // whether an arc stands for parallel arcs; only with marks_parallel
    int64_t num_vertices, num_arcs = 0;

    OrientedRows(const StoredRows& rows, bool marks_parallel);

    const Neighbor* row(int64_t u) const { return neighbors.data() + offset.data()[u]; }
    int64_t degree(int64_t u) const { return end.data()[u] - offset.data()[u]; }

private:
    void sort(const StoredRows& rows, bool keeps_parallel);
    void merge_parallel();
};

// Whether relabelling by degree pays off, by a sample of degrees: the average is large and much larger than the median,
// as in the GAP benchmark suite (Beamer, Asanovic, Patterson, 2015).
bool is_skewed(const StoredRows& rows);

}  // namespace tgraph
