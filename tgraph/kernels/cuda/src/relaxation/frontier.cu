// Conversions of vertex sets between masks, ids and bitmaps, and the split of a frontier by a threshold.
//
// Compactions are stable: count per block, scan (by torch, between the two kernels), write.
#include "relaxation/frontier.cuh"

namespace tgraph {

// words[ceil(n / 32)] of mask[n].
__global__ void pack_mask(const uint8_t* mask, int64_t n, uint32_t* words) {
    const int64_t v = global_thread();
    const uint32_t word = __ballot_sync(all_lanes, v < n && mask[v]);
    if (lane() == 0 && v < n) words[v / 32] = word;
}

__global__ void insert_ids(const int64_t* ids, int64_t count, uint32_t* words) {
    const int64_t i = global_thread();
    if (i < count) insert(words, ids[i]);
}

// Clears a bitmap whose members are `ids`.
__global__ void clear_ids(const int64_t* ids, int64_t count, uint32_t* words) {
    const int64_t i = global_thread();
    if (i < count) put(words + ids[i] / 32, 0u);
}

// kept[1 + b] = number of members in the words of block b, kept[0] = 0.
__global__ void count_members(const uint32_t* words, int64_t num_words, int64_t* kept) {
    const int64_t i = global_thread();
    const int64_t sum = block_sum(i < num_words ? __popc(words[i]) : 0);
    if (threadIdx.x == 0) kept[blockIdx.x + int64_t{1}] = sum;
    if (global_thread() == 0) kept[0] = 0;
}

// Lists the members; kept[b] : number of members before block b.
__global__ void list_members(const uint32_t* words, int64_t num_words, const int64_t* kept, int64_t* ids) {
    const int64_t i = global_thread();
    uint32_t word = i < num_words ? words[i] : 0;
    const int before = sum_before(__popc(word));
    for (int64_t* place = ids + kept[blockIdx.x] + before; word; word &= word - 1)
        *place++ = i * 32 + __ffs(static_cast<int>(word)) - 1;
}

// near[1 + b] = number of vertices of block b with a value below the threshold; adds their number and that of their
// arcs to sums[0] and sums[1].
template <class V>
__global__ void count_near(
    const int64_t* ids, int64_t count, const V* values, const V* threshold, const int64_t* offset, int64_t* near,
    int64_t* sums) {
    const int64_t i = global_thread();
    const bool is_near = i < count && values[ids[i]] < *threshold;
    const int64_t number = block_sum(is_near);
    const int64_t arcs = block_sum(is_near ? offset[ids[i] + 1] - offset[ids[i]] : 0);
    if (global_thread() == 0) near[0] = 0;
    if (threadIdx.x != 0) return;
    near[blockIdx.x + int64_t{1}] = number;
    add(sums, number);
    add(sums + 1, arcs);
}

// Stable partition: near vertices first. near[b] : number of near vertices before block b, near[num_blocks] : of all.
template <class V>
__global__ void list_near(
    const int64_t* ids, int64_t count, const V* values, const V* threshold, const int64_t* near, int64_t* parted) {
    const int64_t i = global_thread();
    const bool is_near = i < count && values[ids[i]] < *threshold;
    const int64_t before = near[blockIdx.x] + sum_before(is_near);
    if (i < count) parted[is_near ? before : near[gridDim.x] + i - before] = ids[i];
}

// degrees[1 + i] = degree of row i, limited to `width` unless that is negative; degrees[0] = 0.
__global__ void list_degrees(
    const int64_t* offset, const int64_t* rows, int64_t num_rows, int64_t width, int64_t* degrees) {
    const int64_t i = global_thread();
    if (i == 0) degrees[0] = 0;
    if (i >= num_rows) return;
    const int64_t row = rows ? rows[i] : i;
    const int64_t degree = offset[row + 1] - offset[row];
    degrees[i + 1] = width >= 0 && width < degree ? width : degree;
}

}  // namespace tgraph
