// Stable parallel compaction of the arcs of a CSR structure by a predicate: count per part, scan, write.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "threads/parallel.hpp"
#include "base/rows.hpp"
#include "base/scan.hpp"

namespace tgraph {

// The predicates, on arc i of a row that begins at `begin`.
struct Distinct {  // the first of every run of parallel arcs; rows ascend
    template <class Neighbor>
    bool operator()(const Neighbor* neighbors, int64_t, int64_t begin, int64_t i) const {
        return i == begin || neighbors[i] != neighbors[i - 1];
    }
};

struct Repeated {  // the arcs that Distinct leaves out
    template <class Neighbor>
    bool operator()(const Neighbor* neighbors, int64_t, int64_t begin, int64_t i) const {
        return i != begin && neighbors[i] == neighbors[i - 1];
    }
};

struct NoLoop {  // all but the self-loops
    template <class Neighbor>
    bool operator()(const Neighbor* neighbors, int64_t row, int64_t, int64_t i) const {
        return neighbors[i] != row;
    }
};

template <class Neighbor>
struct Arcs {
    const int64_t* offset;
    const Neighbor* neighbors;
    int64_t num_rows, size;
};

// Number of selected arcs of each part.
template <class Selection, class Neighbor>
std::vector<int64_t> count_selected(const Arcs<Neighbor>& arcs, int parts) {
    std::vector<int64_t> counts(parts);
    for_each_part(parts, [&](int part) {
        int64_t count = 0;
        each_row(arcs.offset, arcs.num_rows, part_of(arcs.size, part, parts), [&](int64_t row, Range range) {
            for (int64_t i = range.begin; i < range.end; ++i)
                count += Selection{}(arcs.neighbors, row, arcs.offset[row], i);
        });
        counts[part] = count;
    });
    return counts;
}

// Writes the positions of the selected arcs, and the offsets of their rows (zeros on entry).
template <class Selection, class Neighbor>
void list_selected(const Arcs<Neighbor>& arcs, int64_t* positions, int64_t* new_offset) {
    const int parts = part_count(arcs.size);
    std::vector<int64_t> first = count_selected<Selection>(arcs, parts);
    std::exclusive_scan(first.begin(), first.end(), first.begin(), int64_t{0});
    for_each_part(parts, [&](int part) {
        int64_t next = first[part];
        each_row(arcs.offset, arcs.num_rows, part_of(arcs.size, part, parts), [&](int64_t row, Range range) {
            for (int64_t i = range.begin; i < range.end; ++i)
                if (Selection{}(arcs.neighbors, row, arcs.offset[row], i)) positions[next++] = i;
            if (range.end == arcs.offset[row + 1]) new_offset[row + 1] = next;  // only in the part that ends the row
        });
    });
    // Empty rows end where the row before them does.
    scan(arcs.num_rows + 1, new_offset, int64_t{0}, [=](int64_t row) { return new_offset[row]; }, larger);
}

}  // namespace tgraph
