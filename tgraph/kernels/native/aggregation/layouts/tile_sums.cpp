// SpMM over tiles with bitmaps (tiles.hpp), parallel over windows: the rows of a window are summed one by one, with the
// neighbors decoded from the bitmaps; data of shared neighbors stays in the cache. Sums are in arc order.
#include <array>

#include "aggregation/segments/pull.hpp"
#include "aggregation/layouts/tiles.hpp"

namespace tgraph {
namespace {

template <class T>
struct TileSums {
    TileBits tiles;
    const int32_t* columns;  // 8 per tile
    const int64_t* start;    // offset of the weights of each tile
    const T *weights, *data;
    int64_t width_of_data, num_rows;
    T* out;
    ColumnKernels<T, T> kernels;
};

template <class Edge, class T>
class WindowSums {
public:
    // Prefetches the data of the next window while this one is summed.
    void add(const TileSums<T>& with, int64_t window) {
        fetch_window(with, window + 1);
        const int64_t last = std::min((window + 1) * height, with.num_rows);
        for (int64_t row = window * height; row < last; ++row) {
            T* const sums = with.out + row * with.width_of_data;
            std::fill_n(sums, with.width_of_data, T{});
            add_row(with, window, row % height, sums);
        }
    }

private:
    static constexpr int64_t batch = 128, most_fetched = 64;

    TGRAPH_INLINE static void fetch_window(const TileSums<T>& with, int64_t window) {
        if (window >= with.tiles.num_windows) return;
        const int64_t begin = with.tiles.offset[window] * width, end = with.tiles.offset[window + 1] * width;
        for (int64_t i = begin; i < std::min(begin + most_fetched, end); ++i)
            fetch_columns(with.data + with.columns[i] * with.width_of_data, with.width_of_data);
    }

    void add_row(const TileSums<T>& with, int64_t window, int64_t row, T* sums) {
        int64_t size = 0;
        const auto flush = [&] {
            with.kernels.reduce(sums, with.data, with.width_of_data, at_.data(), weight_.data(), size);
            size = 0;
        };
        for (int64_t tile = with.tiles.offset[window]; tile < with.tiles.offset[window + 1]; ++tile) {
            uint32_t bits = with.tiles.row(tile, row);
            if (bits == 0) continue;
            [[maybe_unused]] const T* weight = nullptr;
            if constexpr (Edge::weighted) weight = with.weights + with.start[tile] + with.tiles.count_before(tile, row);
            for (; bits != 0; bits &= bits - 1, ++size) {
                at_[size] = with.columns[tile * width + std::countr_zero(bits)] * with.width_of_data;
                if constexpr (Edge::weighted) weight_[size] = *weight++;
            }
            if (size > batch - width) flush();
        }
        flush();
    }

    std::array<int64_t, batch> at_;
    std::array<T, batch> weight_;
};

// out[row] = sum over its neighbors of data [n, columns], weighted if there are weights.
template <class T>
void sum_tiles(In<int64_t> offset, In<int32_t> columns_of, In<int64_t> bitmap, In<int64_t> start, In<T> weights,
               In<T> data, int64_t columns, Out<T> out) {
    check_columns(columns, 1);
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
    const TileSums<T> with{tiles, columns_of.data(), start.data(), weights.data(), data.data(), columns, num_rows,
                           out.data(), column_kernels<T, T>("sum", weights.is_valid() ? "mul" : "copy")};
    const auto add = [&]<class Edge>(Edge) {
        each_window<WindowSums<Edge, T>>(0, tiles.num_windows, num_tiles * height * columns,
                                         [&](WindowSums<Edge, T>& sums, int64_t window) { sums.add(with, window); });
    };
    weights.is_valid() ? add(Times{}) : add(Copy{});
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
