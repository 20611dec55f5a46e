// Pairs of vertices without an arc, drawn exactly: how is told in kernels/operators/sampling/negatives.py.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/bindings.hpp"
#include "base/random.hpp"
#include "threads/parallel.hpp"

namespace tgraph {
namespace {

// The pairs without an arc, free ones, row by row.
template <class Neighbor>
struct FreePairs {
    const int64_t* offset;
    const Neighbor* neighbors;
    int64_t rows, columns;
    const int64_t* loops;  // null where pairs (v, v) are free, too

    int64_t arcs() const { return offset[rows]; }

    // How many the rows before have.
    int64_t before(int64_t row) const { return row * columns - offset[row] - (loops ? row - loops[row] : 0); }

    // Few rows are in question: those before v have at most v * columns, and all arcs are missing from that, and loops.
    int64_t row_of_number(int64_t number) const {
        int64_t low = number / columns, high = rows;
        if (columns > 1) high = std::min(high, (number + arcs()) / (columns - 1) + 1);
        while (high - low > 1) {
            const int64_t middle = low + (high - low) / 2;
            (before(middle) <= number ? low : high) = middle;
        }
        return low;
    }

    int64_t row_of_arc(int64_t arc) const { return std::upper_bound(offset, offset + rows + 1, arc) - offset - 1; }

    // The column of the free pair of that number in a row.
    int64_t column(int64_t row, int64_t number) const {
        const int64_t found = without_arc(row, number);
        const bool passes_row = loops && loops[row + 1] == loops[row] && found >= row;
        return passes_row ? without_arc(row, number + 1) : found;
    }

    bool is_free(int64_t row, int64_t column) const {
        if (loops && row == column) return false;
        return !std::binary_search(neighbors + offset[row], neighbors + offset[row + 1], static_cast<Neighbor>(column));
    }

private:
    int64_t without_arc(int64_t row, int64_t number) const {
        const Neighbor* const begin = neighbors + offset[row];
        int64_t low = 0;  // neighbors that come before
        for (int64_t high = offset[row + 1] - offset[row]; low < high;) {
            const int64_t middle = low + (high - low) / 2;
            if (begin[middle] - middle <= number) low = middle + 1;
            else high = middle;
        }
        return number + low;
    }
};

constexpr int64_t trials = 64;

template <class Neighbor>
void sample_negatives(In<int64_t> offset, In<Neighbor> neighbors, int64_t columns, In<int64_t> loops,
                      In<int64_t> sources, bool by_degree, int64_t key, Out<int64_t> rows_out,
                      Out<int64_t> columns_out) {
    const FreePairs<Neighbor> free{offset.data(), neighbors.data(), static_cast<int64_t>(offset.shape(0)) - 1, columns,
                                   loops.data()};
    const int64_t arcs = free.arcs(), all = free.before(free.rows);
    const int64_t* const given = sources.data();
    const auto draw = [&](int64_t i, int64_t own) {
        int64_t row = given ? given[i] : 0;
        for (int64_t trial = 0; by_degree && arcs && trial < trials; ++trial) {
            if (!given) row = free.row_of_arc(random_below(own, 2 * trial, arcs));
            const int64_t column = neighbors.data()[random_below(own, 2 * trial + 1, arcs)];
            if (free.is_free(row, column)) return std::pair{row, column};
        }
        if (given) {
            const int64_t count = free.before(row + 1) - free.before(row);
            return std::pair{row, free.column(row, random_below(own, 2 * trials, count))};
        }
        const int64_t number = random_below(own, 2 * trials, all);
        row = free.row_of_number(number);
        return std::pair{row, free.column(row, number - free.before(row))};
    };
    constexpr int64_t together = 256;
    const auto count = static_cast<int64_t>(rows_out.shape(0));
    for_each_chunk((count + together - 1) / together, part_count(32 * count), [&](int64_t chunk) {
        for (int64_t i = chunk * together; i < std::min(count, (chunk + 1) * together); ++i) {
            const auto [row, column] = draw(i, static_cast<int64_t>(random_word(key, i)));
            rows_out.data()[i] = row;
            columns_out.data()[i] = column;
        }
    });
}

template <class Neighbor>
void bind(Module& module) {
    module.def("sample_negatives", &sample_negatives<Neighbor>,
               "offset, neighbors, columns, loops?, sources?, by_degree, key, rows, out");
}

}  // namespace

void bind_sample_negatives(Module& module) {
    bind<int32_t>(module);
    bind<int64_t>(module);
}

}  // namespace tgraph
