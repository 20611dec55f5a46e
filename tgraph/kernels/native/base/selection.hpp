// A subset of the rows of a CSR structure, read in place: kernels never gather the arcs of a frontier.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "base/bindings.hpp"
#include "base/ids.hpp"
#include "base/memory.hpp"
#include "base/rows.hpp"
#include "base/scan.hpp"

namespace tgraph {

// Rows 0..count-1 of a selection. Arc j of row r has number offset[r] + j in the selection, and is stored at
// begin(r) + j.
struct Selection {
    const int64_t* stored;  // offsets of all rows of the structure
    Ids neighbors;          // of the structure
    int64_t num_vertices;
    int64_t num_stored;     // arcs of the structure
    const int64_t* rows;    // selected rows; null for all in order
    const bool* active;     // mask of the neighbors that send; null for all
    const int64_t* offset;  // offsets of the selected rows
    int64_t count;

    int64_t row(int64_t r) const { return rows ? rows[r] : r; }
    int64_t begin(int64_t r) const { return stored[row(r)]; }
    int64_t degree(int64_t r) const { return offset[r + 1] - offset[r]; }
    int64_t num_arcs() const { return offset[count] - offset[0]; }
};

// A selection from the arguments that Python passes; computes the offsets if not all rows are selected.
class SelectionArgument {
public:
    // `rows` and `active` may be None; `width` limits the arcs per row, negative for no limit.
    SelectionArgument(In<void> neighbors, In<int64_t> offset, In<int64_t> rows, int64_t width, In<bool> active) {
        if (!offset.shape(0)) throw std::invalid_argument("offset: expected [n + 1]");
        const auto num_vertices = static_cast<int64_t>(offset.shape(0)) - 1;
        // Rows that were decoded are fewer than the vertices that they lead to.
        if (active.is_valid() && static_cast<int64_t>(active.shape(0)) < num_vertices)
            throw std::invalid_argument("active: expected [n]");
        selection_ = {offset.data(), ids_of(neighbors), num_vertices, static_cast<int64_t>(neighbors.shape(0)),
                      rows.data(), active.data(),
                      offset.data(), rows.is_valid() ? static_cast<int64_t>(rows.shape(0)) : num_vertices};
        if (rows.is_valid() || width >= 0) count_arcs(width);
    }

    const Selection& operator*() const { return selection_; }
    const Selection* operator->() const { return &selection_; }

private:
    void count_arcs(int64_t width) {
        offset_ = Scratch<int64_t>(selection_.count + 1);
        offset_.data()[0] = 0;
        scan(selection_.count, offset_.data() + 1, int64_t{0}, [this, width](int64_t r) {
            const int64_t row = selection_.row(r);
            if (row < 0 || row >= selection_.num_vertices) throw std::out_of_range("rows: no such vertex");
            const int64_t degree = selection_.stored[row + 1] - selection_.stored[row];
            return width < 0 ? degree : std::min(degree, width);
        });
        selection_.offset = offset_.data();
    }

    Selection selection_;
    Scratch<int64_t> offset_;
};

// Consecutive arcs of one row of a selection, relative to the first arc of the row.
struct Piece {
    int64_t row;
    Range arcs;
};

// The rows of more than `longest` arcs, cut into pieces of that length. `longest` is at least the grain of the chunks,
// so that each such row spans the beginning of a chunk, and only these rows need to be checked.
inline std::vector<Piece> cut_long_rows(const Selection& selection, const RowChunks& chunks, int64_t longest) {
    std::vector<Piece> pieces;
    for (int64_t chunk = 1; chunk < chunks.size(); ++chunk) {
        const int64_t row = chunks[chunk].begin - 1;
        if (row < 0 || (!pieces.empty() && pieces.back().row == row) || selection.degree(row) <= longest) continue;
        for (int64_t begin = 0; begin < selection.degree(row); begin += longest)
            pieces.push_back({row, {begin, std::min(begin + longest, selection.degree(row))}});
    }
    return pieces;
}

}  // namespace tgraph
