// Edge-balanced partitions of the rows of a CSR structure: iteration over a range of arcs, and chunks of equal work.
#pragma once

#include <algorithm>
#include <cstdint>

#include "threads/parallel.hpp"

namespace tgraph {

// The last row whose arcs begin at `arc` or before it, 0 if there is none.
int64_t row_of_arc(const int64_t* offset, int64_t num_rows, int64_t arc);

// Calls visit(row, arcs) for every row with arcs in `range`; `arcs` is the intersection of both. Offsets that do not
// ascend give wrong rows, but no access out of bounds.
template <class Visit>
void each_row(const int64_t* offset, int64_t num_rows, Range range, Visit visit) {
    int64_t i = range.begin;
    for (int64_t row = row_of_arc(offset, num_rows, i); i < range.end && row < num_rows; ++row) {
        const int64_t end = std::min(offset[row + 1], range.end);
        if (end <= i) continue;
        visit(row, Range{i, end});
        i = end;
    }
}

// Cuts the rows of a CSR structure into chunks of about equal work: one unit per arc and per row.
struct RowChunks {
    const int64_t* offset;
    int64_t num_rows, grain = 1 << 13;

    int64_t work_before(int64_t row) const { return offset[row] - offset[0] + row; }
    int64_t size() const { return (work_before(num_rows) + grain - 1) / grain; }

    // The rows of chunk number `chunk`; empty if the row before it spans several chunks.
    Range operator[](int64_t chunk) const { return {first_row(chunk * grain), first_row((chunk + 1) * grain)}; }

private:
    int64_t first_row(int64_t work) const;  // the first row with at least `work` before it
};

}  // namespace tgraph
