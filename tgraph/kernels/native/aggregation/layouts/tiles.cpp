// Conversion between CSR and tiles with bitmaps (tiles.hpp), parallel over windows. The columns of a window are the
// union of its sorted rows, by pairwise merging.
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "base/memory.hpp"
#include "aggregation/layouts/tiles.hpp"

namespace tgraph {
namespace {

// ---- CSR to tiles ---------------------------------------------------------------------------------------------------

template <class I>
struct Rows {
    const int64_t* offset;
    const I* neighbors;
    int64_t num_rows;

    int64_t num_windows() const { return (num_rows + height - 1) / height; }
    int64_t bound(int64_t window, int64_t row) const { return offset[std::min(window * height + row, num_rows)]; }
};

// The columns of a window, ascending; parallel arcs repeat a column as often as the row with most of them.
template <class I>
class Columns {
public:
    std::span<const I> of(const Rows<I>& rows, int64_t window) {
        std::array<int64_t, height + 1> bounds;
        const int64_t first = rows.bound(window, 0);
        for (int64_t row = 0; row <= height; ++row) bounds[row] = rows.bound(window, row) - first;
        from_.assign(rows.neighbors + first, rows.neighbors + first + bounds[height]);
        for (int64_t runs = height; runs > 1; runs /= 2) unite_pairs(bounds.data(), runs);
        return {from_.data(), static_cast<std::size_t>(bounds[1])};
    }

private:
    void unite_pairs(int64_t* bounds, int64_t runs) {
        to_.resize(from_.size());
        I* out = to_.data();
        for (int64_t run = 0; run < runs; run += 2) {
            const I *begin = from_.data() + bounds[run], *middle = from_.data() + bounds[run + 1];
            const I* end = from_.data() + bounds[run + 2];
            bounds[run / 2] = out - to_.data();
            out = std::set_union(begin, middle, middle, end, out);
        }
        bounds[runs / 2] = out - to_.data();
        std::swap(from_, to_);
    }

    std::vector<I> from_, to_;
};

template <class I>
Columns<I> make_columns() {
    return {};
}

int no_scratch() { return 0; }

template <class I>
Rows<I> checked(const In<int64_t>& offset, const In<I>& neighbors) {
    if (!offset.shape(0)) throw std::invalid_argument("offset: expected [n + 1]");
    const auto n = static_cast<int64_t>(offset.shape(0)) - 1;
    if (offset.data()[0] != 0 || offset.data()[n] != static_cast<int64_t>(neighbors.shape(0)) ||
        !std::is_sorted(offset.data(), offset.data() + n + 1))
        throw std::invalid_argument("offset: expected to rise from 0 to the number of neighbors");
    return {offset.data(), neighbors.data(), n};
}

// counts[window] = the number of its columns.
template <class I>
void count_tile_columns(In<int64_t> offset, In<I> neighbors, Out<int64_t> counts) {
    const Rows<I> rows = checked(offset, neighbors);
    if (static_cast<int64_t>(counts.shape(0)) != rows.num_windows())
        throw std::invalid_argument("counts: expected one for each window");
    int64_t* const to = counts.data();
    each_window(0, rows.num_windows(), neighbors.shape(0), make_columns<I>, [&](Columns<I>& columns, int64_t window) {
        to[window] = static_cast<int64_t>(columns.of(rows, window).size());
    });
}

// Outputs: columns and bitmap of each tile, and the entry (tile * 128 + bit) of each arc, or null.
template <class I>
struct TileOutput {
    I* columns;
    uint64_t* bitmap;
    int64_t* entries;
};

template <class I>
void write_window(const Rows<I>& rows, int64_t window, std::span<const I> columns, Range tiles, TileOutput<I> to) {
    const auto size = static_cast<int64_t>(columns.size());
    for (int64_t i = 0; i < (tiles.end - tiles.begin) * width; ++i)
        to.columns[tiles.begin * width + i] = columns[std::min(i, size - 1)];
    std::fill(to.bitmap + tiles.begin * 2, to.bitmap + tiles.end * 2, 0);
    for (int64_t row = 0; row < height; ++row) {
        int64_t place = -1;
        for (int64_t arc = rows.bound(window, row); arc < rows.bound(window, row + 1); ++arc) {
            ++place;  // a parallel arc takes the next place, with the same column
            while (place < size - 1 && columns[place] < rows.neighbors[arc]) ++place;
            const int64_t tile = tiles.begin + place / width, bit = row * width + place % width;
            to.bitmap[tile * 2 + bit / 64] |= uint64_t{1} << bit % 64;
            if (to.entries) to.entries[arc] = tile * height * width + bit;
        }
    }
}

template <class I>
void fill_tiles(In<int64_t> offset, In<I> neighbors, In<int64_t> tile_offset, Out<I> columns, Out<int64_t> bitmap,
                Out<int64_t> entries) {
    const Rows<I> rows = checked(offset, neighbors);
    const int64_t windows = rows.num_windows(), *bounds = tile_offset.data();
    if (static_cast<int64_t>(tile_offset.shape(0)) != windows + 1 || bounds[0] != 0 ||
        !std::is_sorted(bounds, bounds + windows + 1) || static_cast<int64_t>(bitmap.shape(0)) != 2 * bounds[windows] ||
        static_cast<int64_t>(columns.shape(0)) != width * bounds[windows])
        throw std::invalid_argument("tile_offset: expected where the tiles of each window begin");
    if (entries.is_valid() && entries.shape(0) != neighbors.shape(0))
        throw std::invalid_argument("entries: expected one for each arc");
    advise_huge_pages(columns.data(), columns.shape(0) * sizeof(I));
    advise_huge_pages(bitmap.data(), bitmap.shape(0) * sizeof(int64_t));
    const TileOutput<I> to{columns.data(), reinterpret_cast<uint64_t*>(bitmap.data()), entries.data()};
    each_window(0, windows, neighbors.shape(0), make_columns<I>, [&](Columns<I>& scratch, int64_t window) {
        const std::span<const I> found = scratch.of(rows, window);
        const Range tiles{bounds[window], bounds[window + 1]};
        const bool fits = (static_cast<int64_t>(found.size()) + width - 1) / width == tiles.end - tiles.begin;
        if (fits && !found.empty()) write_window(rows, window, found, tiles, to);
    });
}

// ---- tiles to CSR ---------------------------------------------------------------------------------------------------

// degree[i] = number of arcs of row i, counted from the first row of window `first`.
void count_tile_rows(In<int64_t> offset, In<int64_t> bitmap, int64_t first, Out<int64_t> degree) {
    const auto num_rows = static_cast<int64_t>(degree.shape(0));
    const TileBits tiles = checked_tiles(offset, bitmap, first, num_rows);
    const int64_t last = first + (num_rows + height - 1) / height;
    int64_t* const to = degree.data();
    const int64_t work = (tiles.offset[last] - tiles.offset[first]) * height;
    each_window(first, last, work, no_scratch, [&](int, int64_t window) {
        std::array<int64_t, height> counts{};
        for (int64_t tile = tiles.offset[window]; tile < tiles.offset[window + 1]; ++tile)
            tiles.count_rows(tile, counts.data());
        const int64_t row = (window - first) * height;
        std::copy_n(counts.data(), std::min(height, num_rows - row), to + row);
    });
}

// Lists the neighbors of the same rows and, optionally, the positions of their weights.
template <class I>
void list_tile_rows(In<int64_t> offset, In<I> columns, In<int64_t> bitmap, In<int64_t> start, int64_t first,
                    In<int64_t> row_offset, Out<I> neighbors, Out<int64_t> positions) {
    const auto num_rows = static_cast<int64_t>(row_offset.shape(0)) - 1;
    const TileBits tiles = checked_tiles(offset, bitmap, first, num_rows);
    const auto num_arcs = static_cast<int64_t>(neighbors.shape(0));
    if (columns.shape(0) != bitmap.shape(0) * 4) throw std::invalid_argument("columns: expected 8 for each tile");
    if (positions.is_valid() && (positions.shape(0) != neighbors.shape(0) || !start.is_valid() ||
                                 2 * start.shape(0) != bitmap.shape(0) + 2))
        throw std::invalid_argument("start: expected where the weights of each tile begin");
    const int64_t last = first + (num_rows + height - 1) / height;
    each_window(first, last, num_arcs, no_scratch, [&](int, int64_t window) {
        const int64_t begin = (window - first) * height;
        for (int64_t row = begin; row < std::min(begin + height, num_rows); ++row) {
            int64_t arc = std::max<int64_t>(row_offset.data()[row], 0);
            for (int64_t tile = tiles.offset[window]; tile < tiles.offset[window + 1]; ++tile) {
                uint32_t bits = tiles.row(tile, row - begin);
                if (bits == 0 || arc + count_bits(bits) > num_arcs) continue;
                int64_t at = positions.is_valid() ? start.data()[tile] + tiles.count_before(tile, row - begin) : 0;
                for (; bits != 0; bits &= bits - 1, ++arc) {
                    neighbors.data()[arc] = columns.data()[tile * width + std::countr_zero(bits)];
                    if (positions.is_valid()) positions.data()[arc] = at++;
                }
            }
        }
    });
}

template <class I>
void bind_tiles_of(Module& module) {
    module.def("count_tile_columns", &count_tile_columns<I>, "offset, neighbors, counts");
    module.def("fill_tiles", &fill_tiles<I>, "offset, neighbors, tile_offset, columns, bitmap, entries?");
    module.def("list_tile_rows", &list_tile_rows<I>,
               "offset, columns, bitmap, start?, first, row_offset, neighbors, positions?");
}

}  // namespace

void bind_tiles(Module& module) {
    bind_tiles_of<int32_t>(module);
    bind_tiles_of<int64_t>(module);
    bind_tile_sums(module);
    module.def("count_tile_rows", &count_tile_rows, "offset, bitmap, first, degree");
}

}  // namespace tgraph
