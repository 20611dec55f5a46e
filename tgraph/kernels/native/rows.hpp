// Walking the rows of a CSR structure by arcs, so that parts of equal work can be cut anywhere.
#pragma once

#include <algorithm>
#include <cstdint>

#include "parallel.hpp"

namespace tgraph {

// Calls visit(row, arcs) for every row with arcs in `range`, `arcs` being those of the row that are in the range.
// Offsets that do not ascend give wrong rows, but no access outside of the range or the rows.
template <class Visit>
void each_row(const int64_t* offset, int64_t num_rows, Range range, Visit visit) {
    const int64_t rows_begun = std::upper_bound(offset, offset + num_rows + 1, range.begin) - offset;
    int64_t i = range.begin;
    for (int64_t row = std::max<int64_t>(rows_begun - 1, 0); i < range.end && row < num_rows; ++row) {
        const int64_t end = std::min(offset[row + 1], range.end);
        if (end <= i) continue;
        visit(row, Range{i, end});
        i = end;
    }
}

}  // namespace tgraph
