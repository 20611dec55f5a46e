// Pull over SELL-C-sigma slices (see tgraph/formats/sell.py).
//
// A thread reduces the row of one place, in some adjacent columns. Accesses are coalesced: adjacent threads have
// adjacent places for a single column, and adjacent columns otherwise. Padding is not read.

#include "aggregation/messages.cuh"

namespace tgraph {

constexpr int slice_threads = 128;

// Arc j of row order[p] (null: row p) in place p is entry offset[p / height] + p % height + j * height, for j <
// length[p]. `lanes` adjacent threads share the columns of a row. Grid: x over places, y over columns from first_column
// on.
template <class T, class I, class Reduction, int count>
__global__ void __launch_bounds__(slice_threads, resident(count) / slice_threads) pull_slices(
    const int64_t* offset, const I* neighbors, const int32_t* length, const I* order, int64_t num_places,
    int64_t height, const T* data, int64_t columns, const T* weights, int64_t edge, int64_t first_column, int64_t lanes,
    int64_t greatest, typename Arithmetic<T>::Argument identity, typename Reduction::template Result<T>* result) {
    using Number = typename Reduction::template Number<T>;
    const int64_t place = (int64_t{blockIdx.x} * slice_threads + threadIdx.x) / lanes;
    const int64_t column = first_column + (blockIdx.y * lanes + threadIdx.x % lanes) * count;
    if (place >= num_places || column >= columns) return;
    const Messages<T, I> messages{neighbors, nullptr, data, columns, weights, 1, edge};
    const int64_t begin = offset[place / height] + place % height;
    Partial<Reduction, Number, count> partial(Reduction(greatest), static_cast<Number>(identity));
    reduce_all(partial, messages, begin, begin + length[place] * height, height, column);
    const int64_t row = order == nullptr ? place : int64_t{order[place]};
    finish(partial, 0, 0, result, nullptr, row * columns + column);
}

}  // namespace tgraph
