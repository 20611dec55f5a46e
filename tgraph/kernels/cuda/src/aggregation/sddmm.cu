// SDDMM: for each arc the dot product of the data at its two ends, which is the gradient of its weight. Edge-balanced:
// a team of lanes per arc and head.

#include "base/teams.cuh"
#include "relaxation/frontier.cuh"

namespace tgraph {

constexpr int products_per_team = 16;  // amortises the search for the rows of a block

// The dot product of two rows of `span` numbers by the lanes of a team, each of which reads `count` adjacent numbers at
// a time. Called by all lanes of the warp; lanes without a product pass a span of 0.
template <int count, class Number, class T>
__device__ __forceinline__ Number dot(const T* a, const T* b, int64_t span, const Lane& lane) {
    Number sum = 0;
    for (int64_t f = lane.column * count; f < span; f += lane.lanes * count) {
        const Pack<T, count> left = load<T, count>(a + f), right = load<T, count>(b + f);
#pragma unroll
        for (int i = 0; i < count; ++i)
            sum += static_cast<Number>(widened(left.at[i])) * static_cast<Number>(widened(right.at[i]));
    }
    for (int apart = 1; apart < lane.lanes; apart *= 2) sum += __shfl_xor_sync(all_lanes, sum, apart);
    return sum;
}

// result[arc, head] = dot product of row_data[row] and data[neighbor] over the columns of the head; 0 for an inactive
// neighbor.
//
// row_data [num_rows, columns], data [n, columns]. before : exclusive prefix sums of the degrees of the rows. active :
// [n] or null.
template <class T, class I, int count>
__global__ void __launch_bounds__(block_size) multiply_ends(
    const int64_t* offset, const I* neighbors, const int64_t* rows, const int64_t* before, int64_t num_rows,
    int64_t num_arcs, const uint8_t* active, const T* row_data, const T* data, int64_t columns, int64_t heads,
    int64_t lanes, T* result) {
    using Number = typename Arithmetic<T>::Value;
    const Lane lane(static_cast<int>(lanes), 1);
    const int64_t teams = block_size / lanes, size = num_arcs * heads, span = columns / heads;
    const int64_t begin = blockIdx.x * teams * products_per_team;
    const int64_t end = begin + teams * products_per_team < size ? begin + teams * products_per_team : size;
    const RowRange range = rows_of_arcs(before, num_rows, begin / heads, (end - 1) / heads);
    for (int64_t first = begin; first < end; first += teams) {
        const int64_t item = first + threadIdx.x / lanes;
        const T *left = row_data, *right = data;
        bool counts = item < end;
        if (counts) {
            const int64_t arc = heads == 1 ? item : item / heads, column = (item - arc * heads) * span;
            const int64_t i = row_of_arc(before, range.first, range.end, arc);
            const int64_t neighbor = neighbors[offset[rows ? rows[i] : i] + (arc - before[i])];
            left += i * columns + column, right += neighbor * columns + column;
            counts = active == nullptr || active[neighbor] != 0;
        }
        const Number sum = dot<count, Number>(left, right, counts ? span : 0, lane);
        if (item < end && lane.column == 0) result[item] = Narrowed<T>::from(sum);
    }
}

}  // namespace tgraph
