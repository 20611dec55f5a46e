// Rows of a binary matrix in CSR, their differences and Hamming distances by merging sorted rows.
#pragma once

#include <algorithm>
#include <cstdint>

#include "threads/parallel.hpp"

namespace tgraph {

// Row r has ones in the columns column[offset[r]] .. column[offset[r + 1] - 1], which ascend strictly.
struct BinaryRows {
    const int64_t* offset;
    const int32_t* column;
    int64_t size;

    int64_t ones(int64_t row) const { return offset[row + 1] - offset[row]; }
    const int32_t* begin(int64_t row) const { return column + offset[row]; }
    const int32_t* end(int64_t row) const { return column + offset[row + 1]; }
};

// The columns of x that y lacks are passed to `more`, those of y that x lacks to `less`, each in ascending order.
template <class More, class Less>
void each_difference(const BinaryRows& rows, int64_t x, int64_t y, More more, Less less) {
    const int32_t *a = rows.begin(x), *b = rows.begin(y), *const a_end = rows.end(x), *const b_end = rows.end(y);
    while (a != a_end && b != b_end) {
        if (*a < *b)
            more(*a++);
        else if (*b < *a)
            less(*b++);
        else
            ++a, ++b;
    }
    while (a != a_end) more(*a++);
    while (b != b_end) less(*b++);
}

// Size of the intersection of a short row and a much longer one, by binary searches.
inline int64_t count_common(const BinaryRows& rows, int64_t brief, int64_t extended) {
    int64_t common = 0;
    const int32_t *from = rows.begin(extended), *const end = rows.end(extended);
    for (const int32_t* column = rows.begin(brief); column != rows.end(brief) && from != end; ++column) {
        from = std::lower_bound(from, end, *column);
        common += from != end && *from == *column;
    }
    return common;
}

// The Hamming distance of two rows if it is below `bound`, else any number that is not.
inline int64_t hamming(const BinaryRows& rows, int64_t x, int64_t y, int64_t bound) {
    constexpr int64_t stride = 64;  // steps between two checks of the bound
    const int32_t *a = rows.begin(x), *b = rows.begin(y);
    int64_t left_a = rows.ones(x), left_b = rows.ones(y), common = 0;
    const int64_t ones = left_a + left_b;
    if (left_a > 16 * left_b) return ones - 2 * count_common(rows, y, x);
    if (left_b > 16 * left_a) return ones - 2 * count_common(rows, x, y);
    while (left_a > 0 && left_b > 0) {
        // At most min(left_a, left_b) further columns are common.
        if (ones - 2 * (common + std::min(left_a, left_b)) >= bound) return bound;
        for (int64_t steps = std::min({stride, left_a, left_b}); steps > 0; --steps) {
            const int32_t first = *a, second = *b;
            const bool takes_a = first <= second, takes_b = second <= first;
            common += takes_a & takes_b;
            a += takes_a, left_a -= takes_a;
            b += takes_b, left_b -= takes_b;
        }
    }
    return ones - 2 * common;
}

}  // namespace tgraph
