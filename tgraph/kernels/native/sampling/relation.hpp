// What neighbours are sampled from, and what is sampled.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bindings.hpp"
#include "base/buffer.hpp"

namespace tgraph {

// The arcs between two types of vertices: row v has those along which vertex v of type `target` receives.
struct Relation {
    In<int64_t> offset;
    In<void> neighbors;
    int64_t source, target, key;
    std::vector<int64_t> fanout;  // of each hop; negative for all arcs
    In<void> weights;             // or None
    In<double> sums;
    In<int8_t> bounds;
    In<int64_t> time;  // of the arcs, or of the vertices that they come from, ascending within a row; or None
    bool time_of_arcs;

    bool wide() const { return neighbors.dtype() == dtype_of<int64_t>; }
    int64_t neighbor(int64_t arc) const {
        return wide() ? static_cast<const int64_t*>(neighbors.data())[arc]
                      : static_cast<const int32_t*>(neighbors.data())[arc];
    }
    int64_t time_of(int64_t arc) const { return time.data()[time_of_arcs ? arc : neighbor(arc)]; }
};

struct Choice {
    bool replace, disjoint, latest;  // the latest arcs, not any of those that are not too late
    In<int64_t> latest_time;         // of each tree, or None
};

// The sampled arcs of one relation.
struct SampledArcs {
    Buffer<int64_t> row, col, arc;
    std::vector<int64_t> count;  // by hop

    int64_t size() const { return arc.size(); }
    void reserve_more(int64_t more) {
        for (Buffer<int64_t>* buffer : {&row, &col, &arc}) buffer->reserve_more(more);
    }
    void resize(int64_t size) {
        for (Buffer<int64_t>* buffer : {&row, &col, &arc}) buffer->resize(size);
    }
};

}  // namespace tgraph
