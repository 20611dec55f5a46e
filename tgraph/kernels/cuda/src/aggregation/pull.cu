// Pull (SpMM over a semiring): gather, edge operation and reduction in one pass over the stored arcs.
//
// Rows are binned by degree. A short row is reduced by some or all lanes of a warp (pull_rows); a long row is cut into
// tiles, each reduced by a block (pull_tiles), and the partial results of a row are combined by another block
// (join_tiles). There are no atomics: the result does not depend on the order in which blocks run.

#include "aggregation/messages.cuh"
#include "base/teams.cuh"

namespace tgraph {

constexpr int row_threads = 128;
constexpr int tile_threads = 256;

// The neighbors of a row, to be indexed by arc number. shift[row] : the position of an arc in storage minus its number,
// null if arcs are numbered as they are stored.
template <class I>
__device__ __forceinline__ const I* of_row(const I* neighbors, const int64_t* shift, int64_t row) {
    return shift == nullptr ? neighbors : neighbors + shift[row];
}

// A team of lanes * parts lanes reduces one of the rows rows[first_row], .. rows[end_row - 1] (null: first_row, ..).
//
// greatest : whether Best is the max. identity : the result of an empty row. mean : whether to divide by the degree.
// best_arcs [n, columns] : written by a reduction that tracks, else may be null. Grid: x over rows, y over columns from
// first_column on.
template <class T, class I, class Reduction, int count>
__global__ void __launch_bounds__(row_threads, resident(count) / row_threads) pull_rows(
    const I* rows, int64_t first_row, int64_t end_row, const int64_t* offset, const int64_t* shift, const I* neighbors,
    const uint8_t* active, const T* data, int64_t columns, const T* weights, int64_t heads, int64_t edge,
    int64_t first_column, int64_t lanes, int64_t parts, int64_t greatest, typename Arithmetic<T>::Argument identity,
    int64_t mean, typename Reduction::template Result<T>* result, int64_t* best_arcs) {
    using Number = typename Reduction::template Number<T>;
    const Lane lane(static_cast<int>(lanes), static_cast<int>(parts));
    const int64_t warp = (int64_t{blockIdx.x} * row_threads + threadIdx.x) / 32;
    const int64_t number = first_row + warp * (32 / (lane.lanes * lane.parts)) + lane.team;
    const int64_t column = first_column + (blockIdx.y * lanes + lane.column) * count;
    const bool works = number < end_row && column < columns;
    const int64_t row = !works ? 0 : rows == nullptr ? number : int64_t{rows[number]};
    const int64_t begin = works ? offset[row] : 0, end = works ? offset[row + 1] : 0;
    const I* own = works ? of_row(neighbors, shift, row) : neighbors;
    const Messages<T, I> messages{own, active, data, columns, weights, heads, edge};
    Partial<Reduction, Number, count> partial(Reduction(greatest), static_cast<Number>(identity));
    reduce_all(partial, messages, begin + lane.part, end, lane.parts, column);
    join_parts(partial, lane);
    if (works && lane.part == 0) finish(partial, end - begin, mean, result, best_arcs, row * columns + column);
}

// A block reduces a tile (row, first arc, end, slot) of a long row. The tile of a row with a single tile has slot -1
// and is written to the result; other tiles are written to their slot of partial_values [slots, columns] and
// partial_arcs.
template <class T, class I, class Reduction, int count>
__global__ void __launch_bounds__(tile_threads, resident(count) / tile_threads) pull_tiles(
    const int64_t* tiles, const int64_t* shift, const I* neighbors, const uint8_t* active, const T* data,
    int64_t columns, const T* weights, int64_t heads, int64_t edge, int64_t first_column, int64_t lanes,
    int64_t greatest, typename Arithmetic<T>::Argument identity, int64_t mean,
    typename Reduction::template Result<T>* result, int64_t* best_arcs,
    typename Reduction::template Number<T>* partial_values, int64_t* partial_arcs) {
    using Number = typename Reduction::template Number<T>;
    constexpr int warps = tile_threads / 32;
    const Lane lane(static_cast<int>(lanes), 32 / static_cast<int>(lanes));
    const int64_t* tile = tiles + int64_t{blockIdx.x} * 4;
    const int64_t row = tile[0], begin = tile[1], end = tile[2], slot = tile[3];
    const Messages<T, I> messages{of_row(neighbors, shift, row), active, data, columns, weights, heads, edge};
    const int64_t column = first_column + (blockIdx.y * lanes + lane.column) * count;
    Partial<Reduction, Number, count> partial(Reduction(greatest), static_cast<Number>(identity));
    if (column < columns) {
        const int64_t first = begin + threadIdx.x / 32 * lane.parts + lane.part;
        reduce_all(partial, messages, first, end, warps * lane.parts, column);
    }
    join_parts(partial, lane);
    join_warps<warps>(partial, lane);
    if (threadIdx.x >= lanes || column >= columns) return;
    if (slot < 0) {
        finish(partial, end - begin, mean, result, best_arcs, row * columns + column);
    } else {
        finish(partial, 0, 0, partial_values, partial_arcs, slot * columns + column);
    }
}

// A block combines the tiles of a row (row, first slot, end slot, number of arcs).
template <class T, class Reduction>
__global__ void __launch_bounds__(tile_threads) join_tiles(
    const int64_t* hubs, const typename Reduction::template Number<T>* partial_values, const int64_t* partial_arcs,
    int64_t columns, int64_t first_column, int64_t lanes, int64_t greatest, typename Arithmetic<T>::Argument identity,
    int64_t mean, typename Reduction::template Result<T>* result, int64_t* best_arcs) {
    using Number = typename Reduction::template Number<T>;
    constexpr int warps = tile_threads / 32;
    const Lane lane(static_cast<int>(lanes), 32 / static_cast<int>(lanes));
    const int64_t* hub = hubs + int64_t{blockIdx.x} * 4;
    const int64_t row = hub[0], begin = hub[1], end = hub[2], degree = hub[3];
    const int64_t column = first_column + blockIdx.y * lanes + lane.column;
    Partial<Reduction, Number, 1> partial(Reduction(greatest), static_cast<Number>(identity));
    int64_t slot = begin + threadIdx.x / 32 * lane.parts + lane.part;
    for (; slot < end && column < columns; slot += warps * lane.parts) {
        const int64_t place = slot * columns + column;
        partial.join(0, partial_values[place], Reduction::tracks ? partial_arcs[place] : -1);
    }
    join_parts(partial, lane);
    join_warps<warps>(partial, lane);
    if (threadIdx.x < lanes && column < columns)
        finish(partial, degree, mean, result, best_arcs, row * columns + column);
}

}  // namespace tgraph
