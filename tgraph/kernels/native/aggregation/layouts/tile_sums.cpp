// SpMM over tiles with bitmaps (tiles.hpp), parallel over windows: the rows of a window are summed one by one, with the
// neighbors decoded from the bitmaps; data of shared neighbors stays in the cache. Sums are in arc order.
#include <array>

#include "aggregation/layouts/tiles.hpp"
#include "aggregation/segments/row_reduction.hpp"

namespace tgraph {
namespace {

struct TileSums {
    TileBits tiles;
    const int32_t* columns;  // 8 per tile
    const int64_t* start;    // offset of the weights of each tile; null without weights
    int64_t num_rows;
    Operands with;
};

class WindowSums {
public:
    explicit WindowSums(const TileSums& sums) : sums_(sums), rows_(sums.with) {}

    // Prefetches the data of the next window while this one is summed.
    void add(int64_t window) {
        fetch_window(window + 1);
        const int64_t last = std::min((window + 1) * height, sums_.num_rows);
        for (int64_t row = window * height; row < last; ++row) {
            void* const sums = sums_.with.result_of(row);
            sums_.with.start(sums);
            add_row(window, row % height, sums);
        }
    }

private:
    static constexpr int64_t most_fetched = 64;

    void fetch_window(int64_t window) const {
        if (window >= sums_.tiles.num_windows) return;
        const int64_t begin = sums_.tiles.offset[window] * width, end = sums_.tiles.offset[window + 1] * width;
        for (int64_t i = begin; i < std::min(begin + most_fetched, end); ++i)
            fetch_row(sums_.with.row(sums_.columns[i]), sums_.with.row_bytes());
    }

    void add_row(int64_t window, int64_t row, void* sums) {
        int64_t size = 0;
        const auto flush = [&] {
            rows_.add(sums, at_.data(), by_.data(), size);
            size = 0;
        };
        for (int64_t tile = sums_.tiles.offset[window]; tile < sums_.tiles.offset[window + 1]; ++tile) {
            uint32_t bits = sums_.tiles.row(tile, row);
            if (bits == 0) continue;
            int64_t by = sums_.start ? sums_.start[tile] + sums_.tiles.count_before(tile, row) : 0;
            for (; bits != 0; bits &= bits - 1, ++size) {
                at_[size] = sums_.columns[tile * width + std::countr_zero(bits)] * sums_.with.columns;
                by_[size] = by++;
            }
            if (size > RowReduction::most_arcs - width) flush();
        }
        flush();
    }

    const TileSums& sums_;
    RowReduction rows_;
    std::array<int64_t, RowReduction::most_arcs> at_, by_;
};

// out[row] = sum over its neighbors of data [n, columns], weighted if there are weights.
template <class T>
void sum_tiles(In<int64_t> offset, In<int32_t> columns_of, In<int64_t> bitmap, In<int64_t> start, In<void> weights,
               In<void> data, int64_t columns, Out<void> out) {
    const Operands with =
        operands_of<T>(data, columns, weights, 1, "sum", weights.is_valid() ? "mul" : "copy", T{0}, out);
    const auto num_rows = static_cast<int64_t>(out.shape(0)) / columns;
    const TileBits tiles = checked_tiles(offset, bitmap, 0, num_rows);
    if (columns_of.shape(0) != bitmap.shape(0) * 4) throw std::invalid_argument("columns: expected 8 for each tile");
    if (out.shape(0) != data.shape(0) || num_rows * columns != static_cast<int64_t>(out.shape(0)))
        throw std::invalid_argument("data and out: expected [n, columns]");
    const auto num_tiles = static_cast<int64_t>(bitmap.shape(0)) / 2;
    if (weights.is_valid() &&
        (!start.is_valid() || static_cast<int64_t>(start.shape(0)) != num_tiles + 1 ||
         start.data()[num_tiles] != static_cast<int64_t>(weights.shape(0))))
        throw std::invalid_argument("start: expected where the weights of each tile begin");
    const TileSums sums{tiles, columns_of.data(), weights.is_valid() ? start.data() : nullptr, num_rows, with};
    each_window(0, tiles.num_windows, num_tiles * height * columns, [&] { return WindowSums(sums); },
                [](WindowSums& window_sums, int64_t window) { window_sums.add(window); });
}

template <class T>
void bind_sum_tiles(Module& module, const char* name) {
    module.def(name, &sum_tiles<T>, "offset, columns_of, bitmap, start?, weights?, data, columns, out");
}

}  // namespace

void bind_tile_sums(Module& module) {
    bind_sum_tiles<float>(module, "sum_tiles_float32");
    bind_sum_tiles<double>(module, "sum_tiles_float64");
}

}  // namespace tgraph
