// Walking the rows of a CSR structure by arcs, so that parts of equal work can be cut anywhere.
#pragma once

#include <algorithm>
#include <cstdint>

#include "threads/parallel.hpp"

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

// Cuts the rows of a CSR structure into chunks of about equal work, which is an arc or a row.
struct RowChunks {
    const int64_t* offset;
    int64_t num_rows, grain = 1 << 13;

    int64_t work_before(int64_t row) const { return offset[row] - offset[0] + row; }
    int64_t size() const { return (work_before(num_rows) + grain - 1) / grain; }

    // The rows of chunk number `chunk`; none where one row is as long as several chunks.
    Range operator[](int64_t chunk) const { return {first_row(chunk * grain), first_row((chunk + 1) * grain)}; }

private:
    // The first row before which there is at least so much work.
    int64_t first_row(int64_t work) const {
        int64_t low = 0, high = num_rows;
        while (low < high) {
            const int64_t middle = low + (high - low) / 2;
            if (work_before(middle) < work)
                low = middle + 1;
            else
                high = middle;
        }
        return low;
    }
};

}  // namespace tgraph
