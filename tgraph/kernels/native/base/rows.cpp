// The binary searches of rows.hpp.
#include "base/rows.hpp"

namespace tgraph {

int64_t row_of_arc(const int64_t* offset, int64_t num_rows, int64_t arc) {
    const int64_t rows_begun = std::upper_bound(offset, offset + num_rows + 1, arc) - offset;
    return std::max<int64_t>(rows_begun - 1, 0);
}

int64_t RowChunks::first_row(int64_t work) const {
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

}  // namespace tgraph
