// Pull over tiles of 16 x 8 with bitmaps (WSB, see tgraph/formats/wsb.py).
//
// Sums are tile products on tensor cores (multiply_tiles), one warp per window and block of columns. Other reductions,
// and dtypes that tensor cores would round, are reduced by one thread per window and column (pull_tiles), which reads
// the data of a neighbor once for all 16 rows of the window.

#include "aggregation/messages.cuh"
#include "aggregation/mma.cuh"

namespace tgraph {

constexpr int tile_threads = 128;
constexpr int height = 16, width = 8;

// The tiles of window w are offset[w] to offset[w + 1]; see `Tiles` in tgraph/kernels/operators/aggregation/tiles.py.
template <class T>
struct Tiles {
    const int64_t* offset;
    const int32_t* columns;
    const uint64_t* bitmap;
    const int64_t* start;
    const T* weights;  // null for 1

    // The bitmap of row r.
    __device__ __forceinline__ uint32_t row(int64_t tile, int r) const {
        return static_cast<uint32_t>(bitmap[tile * 2 + r / 8] >> r % 8 * 8) & 0xffu;
    }

    // The offset of the weights of row r.
    __device__ __forceinline__ int64_t first(int64_t tile, int r) const {
        const uint64_t below = (uint64_t{1} << r % 8 * 8) - 1;
        const int64_t before = r < 8 ? 0 : __popcll(bitmap[tile * 2]);
        return start[tile] + before + __popcll(bitmap[tile * 2 + r / 8] & below);
    }
};

// ---- on tensor cores ------------------------------------------------------------------------------------------------

// The entry of an arc without a weight.
template <class T>
__device__ __forceinline__ T one() {
    return Narrowed<T>::from(1.0f);
}

// The fragment of a lane of row r of a tile: columns `first` and `second`, 0 if there is no arc.
template <class T>
__device__ __forceinline__ Pair<T> left_of(const Tiles<T>& tiles, int64_t tile, int r, int first, int second) {
    const uint32_t row = tiles.row(tile, r);
    const bool has_first = row >> first & 1, has_second = row >> second & 1;
    const T nothing = Narrowed<T>::from(0.0f);
    T numbers[2] = {has_first ? one<T>() : nothing, has_second ? one<T>() : nothing};
    if (tiles.weights != nullptr) {
        const int64_t begin = tiles.first(tile, r);
        if (has_first) numbers[0] = tiles.weights[begin + __popc(row & ((1u << first) - 1))];
        if (has_second) numbers[1] = tiles.weights[begin + __popc(row & ((1u << second) - 1))];
    }
    Pair<T> pair;
    pair.set(numbers[0], numbers[1]);
    return pair;
}

// Adds a tile arc by arc, for tiles with infinity or NaN, also by rounding: in a product these would contaminate rows
// without an arc to them. A lane adds to its fragment of the sum: rows g and g + 8, 2 * count adjacent columns from
// `column` on.
template <class T, int count>
__device__ __forceinline__ void add_arcs(
    float (&sum)[count * 4], const Tiles<T>& tiles, int64_t tile, int g, const T* data, int64_t columns,
    int64_t column) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int r = g + half * 8;
        int64_t arc = tiles.weights == nullptr ? 0 : tiles.first(tile, r);
        for (uint32_t row = tiles.row(tile, r); row != 0; row &= row - 1) {
            const int c = __ffs(static_cast<int>(row)) - 1;
            const float weight = tiles.weights == nullptr ? 1.0f : widened(tiles.weights[arc++]);
            const T* from = data + int64_t{tiles.columns[tile * width + c]} * columns + column;
#pragma unroll
            for (int i = 0; i < 2 * count; ++i)
                if (column + i < columns) sum[i % count * 4 + half * 2 + i / count] += widened(from[i]) * weight;
        }
    }
}

// A lane reads `count` adjacent columns: column g of step s of a product is column g * count + s of the data.
template <class T, int count>
__global__ void __launch_bounds__(tile_threads, resident(height) / tile_threads) multiply_tiles(
    const int64_t* offset, const int32_t* columns_of, const uint64_t* bitmap, const int64_t* start, const T* weights,
    int64_t num_rows, int64_t num_windows, const T* data, int64_t columns, int64_t first_column, T* result) {
    const Tiles<T> tiles{offset, columns_of, bitmap, start, weights};
    const int64_t window = (int64_t{blockIdx.x} * tile_threads + threadIdx.x) / 32;
    const int lane = static_cast<int>(threadIdx.x % 32), g = lane / 4, t = lane % 4;
    if (window >= num_windows) return;
    const int64_t strip = first_column + int64_t{blockIdx.y} * (8 * count);
    const int64_t read = strip + g * count, written = strip + 2 * t * count;
    const int first = Operand<T>::first(t), second = Operand<T>::second(t);
    float sum[count * 4] = {};
    for (int64_t tile = offset[window]; tile < offset[window + 1]; ++tile) {
        Pack<T, count> gathered[2] = {};
        if (read < columns) {
            gathered[0] = load<T, count>(data + int64_t{columns_of[tile * width + first]} * columns + read);
            gathered[1] = load<T, count>(data + int64_t{columns_of[tile * width + second]} * columns + read);
        }
        const Pair<T> upper = left_of(tiles, tile, g, first, second);
        const Pair<T> lower = left_of(tiles, tile, g + 8, first, second);
        Pair<T> right[count];
        bool finite = upper.is_finite() & lower.is_finite();
#pragma unroll
        for (int s = 0; s < count; ++s) {
            right[s].set(gathered[0].at[s], gathered[1].at[s]);
            finite &= right[s].is_finite();
        }
        if (!__all_sync(all_lanes, finite)) {
            add_arcs<T, count>(sum, tiles, tile, g, data, columns, written);
            continue;
        }
#pragma unroll
        for (int s = 0; s < count; ++s)
            multiply_add(sum[s * 4], sum[s * 4 + 1], sum[s * 4 + 2], sum[s * 4 + 3], upper, lower, right[s]);
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int64_t row = window * height + g + half * 8;
#pragma unroll
        for (int next = 0; next < 2; ++next) {
            const int64_t column = written + next * count;
            Pack<T, count> received;
#pragma unroll
            for (int s = 0; s < count; ++s) received.at[s] = Narrowed<T>::from(sum[s * 4 + half * 2 + next]);
            if (row < num_rows && column < columns) store(result + row * columns + column, received);
        }
    }
}

// ---- any dtype and reduction ----------------------------------------------------------------------------------------

// `lanes` adjacent threads have adjacent columns of a window.
template <class T, class Reduction>
__global__ void __launch_bounds__(tile_threads, resident(1) / tile_threads) pull_tiles(
    const int64_t* offset, const int32_t* columns_of, const uint64_t* bitmap, const int64_t* start, const T* weights,
    int64_t num_rows, int64_t num_windows, const T* data, int64_t columns, int64_t edge, int64_t first_column,
    int64_t lanes, int64_t greatest, typename Arithmetic<T>::Argument identity,
    typename Reduction::template Result<T>* result) {
    using Number = typename Reduction::template Number<T>;
    using Result = typename Reduction::template Result<T>;
    // Each thread accesses only its own column of both.
    __shared__ T gathered[width][tile_threads];
    __shared__ Number totals[height][tile_threads];
    const Tiles<T> tiles{offset, columns_of, bitmap, start, weights};
    const int64_t window = (int64_t{blockIdx.x} * tile_threads + threadIdx.x) / lanes;
    const int64_t column = first_column + blockIdx.y * lanes + threadIdx.x % lanes;
    if (window >= num_windows || column >= columns) return;
    Partial<Reduction, Number, 1> partial(Reduction(greatest), static_cast<Number>(identity));
    for (int r = 0; r < height; ++r) totals[r][threadIdx.x] = partial.value[0];
    int64_t arc = start == nullptr ? 0 : start[offset[window]];
    for (int64_t tile = offset[window]; tile < offset[window + 1]; ++tile) {
        T numbers[width];
#pragma unroll
        for (int c = 0; c < width; ++c) numbers[c] = data[int64_t{columns_of[tile * width + c]} * columns + column];
#pragma unroll
        for (int c = 0; c < width; ++c) gathered[c][threadIdx.x] = numbers[c];
#pragma unroll 1
        for (int r = 0; r < height; ++r) {
            partial.value[0] = totals[r][threadIdx.x];
            for (uint32_t row = tiles.row(tile, r); row != 0; row &= row - 1) {
                const int c = __ffs(static_cast<int>(row)) - 1;
                Number message[1] = {static_cast<Number>(widened(gathered[c][threadIdx.x]))};
                if (weights != nullptr) {
                    const Number weight[1] = {static_cast<Number>(widened(weights[arc++]))};
                    apply_edge(edge, message, weight);
                }
                partial.join(0, message[0], 0);
            }
            totals[r][threadIdx.x] = partial.value[0];
        }
    }
    for (int r = 0; r < height && window * height + r < num_rows; ++r)
        result[(window * height + r) * columns + column] = Narrowed<Result>::from(totals[r][threadIdx.x]);
}

}  // namespace tgraph
