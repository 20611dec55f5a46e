// Numbers of edges from those at their ends, sums of them at the vertices, and their softmax by destination.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "attention/attention_lanes.hpp"
#include "threads/parallel.hpp"
#include "base/rows.hpp"
#include "base/semiring.hpp"

namespace tgraph {

inline constexpr int64_t arcs_ahead = 16;  // whose data is asked for before it is read

// Arcs by one of their ends: rows with neighbours, and the number of the edge behind each arc, null where that is the
// arc's own. All have been checked.
template <class Neighbor>
struct EdgeRows {
    const int64_t* offset;
    int64_t num_rows, num_arcs;
    const Neighbor* neighbors;
    const int64_t* number;

    int64_t edge(int64_t arc) const { return number ? number[arc] : arc; }
    int64_t later(int64_t arc) const { return std::min(arc + arcs_ahead, num_arcs - 1); }

    // Calls visit(row, arcs) for every row, also where no arcs are.
    template <class Visit>
    void each(Visit visit) const {
        const RowChunks chunks{offset, num_rows, 1 << 11};
        for_each_chunk(chunks.size(), part_count(num_arcs + num_rows), [&](int64_t chunk) {
            const Range rows = chunks[chunk];
            for (int64_t row = rows.begin; row < rows.end; ++row) visit(row, Range{offset[row], offset[row + 1]});
        });
    }
};

// ---- both ends ------------------------------------------------------------------------------------------------------

struct Minus {
    template <class T>
    TGRAPH_INLINE static T apply(T a, T b) {
        return a - b;
    }
};
struct Over {
    template <class T>
    TGRAPH_INLINE static T apply(T a, T b) {
        return a / b;
    }
};

// out[edge] = Operation(source[neighbour], target) for the arcs of one row, [columns] each.
template <class Operation, class A, class Neighbor>
TGRAPH_MULTIVERSION void combine_row(const Neighbor* neighbors, const int64_t* number, int64_t begin, int64_t end,
                                     int64_t last, const A* source, const A* target, int64_t columns, A* out) {
    for (int64_t arc = begin; arc < end; ++arc) {
        const int64_t later = arc + arcs_ahead < last ? arc + arcs_ahead : last;
        fetch(source + neighbors[later] * columns);
        const A* from = source + neighbors[arc] * columns;
        A* to = out + (number ? number[arc] : arc) * columns;
        int64_t f = 0;
        for (; f + 4 <= columns; f += 4)
            store<A, 4>(to + f, Operation::apply(load<A, 4>(from + f), load<A, 4>(target + f)));
        for (; f < columns; ++f) to[f] = Operation::apply(from[f], target[f]);
    }
}

template <class Operation, class A, class Neighbor>
void combine_ends(const EdgeRows<Neighbor>& rows, const A* source, const A* target, int64_t columns, A* out) {
    rows.each([&](int64_t row, Range arcs) {
        combine_row<Operation>(rows.neighbors, rows.number, arcs.begin, arcs.end, rows.num_arcs - 1, source,
                               target + row * columns, columns, out);
    });
}

// out[edge, head] = the product of what is at both ends, summed over the columns of the head.
template <class A, class Neighbor>
void multiply_ends(const EdgeRows<Neighbor>& rows, const A* source, const A* target, int64_t columns, int64_t heads,
                   A* out) {
    constexpr int64_t line = 64 / sizeof(A);
    rows.each([&](int64_t row, Range arcs) {
        for (int64_t arc = arcs.begin; arc < arcs.end; ++arc) {
            const A* next = source + rows.neighbors[rows.later(arc)] * columns;
            for (int64_t f = 0; f < columns; f += line) fetch(next + f);
            dot_heads<8>(source + rows.neighbors[arc] * columns, target + row * columns, heads, columns / heads,
                         out + rows.edge(arc) * heads);
        }
    });
}

template <class A, class Neighbor>
void apply_at_ends(std::string_view operation, const EdgeRows<Neighbor>& rows, const A* source, const A* target,
                   int64_t columns, int64_t heads, A* out) {
    if (operation == "add") return combine_ends<Plus>(rows, source, target, columns, out);
    if (operation == "sub") return combine_ends<Minus>(rows, source, target, columns, out);
    if (operation == "mul") return combine_ends<Times>(rows, source, target, columns, out);
    if (operation == "div") return combine_ends<Over>(rows, source, target, columns, out);
    if (operation == "dot") return multiply_ends(rows, source, target, columns, heads, out);
    throw std::invalid_argument("operation: expected 'add', 'sub', 'mul', 'div' or 'dot'");
}

// ---- sums at one end ------------------------------------------------------------------------------------------------

template <class A>
TGRAPH_MULTIVERSION void add_to(const A* numbers, int64_t columns, A* sum) {
    for (int64_t f = 0; f < columns; ++f) sum[f] += numbers[f];
}

// sum[head, f] += weight[head] * data[head, f]
template <class A>
TGRAPH_MULTIVERSION void add_weighted(const A* weight, const A* data, int64_t heads, int64_t span, A* sum) {
    if (span == 1) {
        for (int64_t head = 0; head < heads; ++head) sum[head] += weight[head] * data[head];
        return;
    }
    for (int64_t head = 0; head < heads; ++head, data += span, sum += span) {
        const A by = weight[head];
        for (int64_t f = 0; f < span; ++f) sum[f] += by * data[f];
    }
}

// out[row] = the sum over its arcs of weight[edge, head] * data[neighbour, head, f], or of the weights where data is
// null; 0 where there are none.
template <class A, class Neighbor>
void sum_edges(const EdgeRows<Neighbor>& rows, const A* weight, const A* data, int64_t columns, int64_t heads,
               A* out) {
    constexpr int64_t line = 64 / sizeof(A);
    rows.each([&](int64_t row, Range arcs) {
        A* sum = out + row * columns;
        std::fill_n(sum, columns, A{0});
        for (int64_t arc = arcs.begin; arc < arcs.end; ++arc) {
            const int64_t later = rows.later(arc);
            fetch(weight + rows.edge(later) * heads);
            const A* by = weight + rows.edge(arc) * heads;
            if (!data) {
                add_to(by, heads, sum);
                continue;
            }
            const A* next = data + rows.neighbors[later] * columns;
            for (int64_t f = 0; f < columns; f += line) fetch(next + f);
            add_weighted(by, data + rows.neighbors[arc] * columns, heads, columns / heads, sum);
        }
    });
}

}  // namespace tgraph
