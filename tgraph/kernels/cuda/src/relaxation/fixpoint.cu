// Many rounds of a relaxation in one launch of a single block, while frontiers are small: this saves the kernel
// launches and host synchronisation of each round. With near-far scheduling (Davidson, Baxter, Garland, Owens, IPDPS
// 2014): changed vertices beyond a threshold wait in a far pile.
#include "relaxation/frontier.cuh"
#include "relaxation/relax.cuh"

namespace tgraph {

// Limits of a block: vertices of a frontier (one per thread; more threads would have too few registers), their arcs,
// and vertices of the far pile.
constexpr int small_size = 768, small_arcs = 1 << 14, small_far = 1 << 14;

// Vertices with a value beyond `border`. An entry whose value has fallen to the border since is stale: the vertex has
// been relaxed. Values only fall and the border only rises, so a vertex enters the pile once, and `bits`, the set of
// vertices that have entered, is never cleared. `border` is null without near-far scheduling.
template <class V>
struct FarPile {
    int64_t* list;
    uint32_t* bits;
    V* border;
    V width;

    __device__ bool is_far(V value) const { return border && value > *border; }

    // The border of the bucket with this lowest value; inclusive, so that it admits the lowest value even if rounding
    // makes both equal.
    __device__ V border_from(V lowest) const {
        const V sum = plus(lowest, width);
        return sum < lowest ? identity<V>(true) : sum;
    }
};

// The minimum over the block, for all of its threads.
template <class V>
__device__ V block_least(V value) {
    __shared__ V of_warp[small_size / 32];
    for (int step = 16; step; step /= 2) {
        const V other = __shfl_xor_sync(all_lanes, value, step);
        value = other < value ? other : value;
    }
    if (lane() == 0) of_warp[threadIdx.x / 32] = value;
    __syncthreads();
    for (int warp = 0; warp < small_size / 32; ++warp) value = of_warp[warp] < value ? of_warp[warp] : value;
    __syncthreads();
    return value;
}

// Advances the border and lists the vertices that it now admits in `ids`; returns their number. `spare` is overwritten.
template <class V>
__device__ int64_t refill(const FarPile<V>& far, int64_t& far_size, const V* values, int64_t* ids, int64_t* spare) {
    __shared__ int near, kept;
    V lowest = identity<V>(true);
    for (int64_t j = threadIdx.x; j < far_size; j += small_size) {
        const V value = values[far.list[j]];
        if (far.is_far(value) && value < lowest) lowest = value;
    }
    if (threadIdx.x == 0) near = kept = 0;
    lowest = block_least(lowest);
    const V border = far.border_from(lowest);
    for (int64_t j = threadIdx.x; j < far_size; j += small_size) {
        const int64_t v = far.list[j];
        const V value = values[v];
        if (value > border)
            spare[atomicAdd(&kept, 1)] = v;
        else if (far.is_far(value))
            ids[atomicAdd(&near, 1)] = v;
    }
    __syncthreads();
    far_size = kept;
    for (int64_t j = threadIdx.x; j < far_size; j += small_size) far.list[j] = spare[j];
    if (threadIdx.x == 0) *far.border = border;
    const int64_t size = near;
    __syncthreads();
    return size;
}

// Rounds of push from `size` vertices in `ids`, at most `max_rounds`, while the frontier is within the limits; leaves
// the next frontier in `ids`. log[3 r ...] : vertices and arcs of the frontier of round r, and changed vertices. state
// : vertices of the next frontier, their arcs, rounds, vertices in the far pile.
template <class V, class Neighbor>
__global__ void __launch_bounds__(small_size, 1) push_small(
    const int64_t* offset, const Neighbor* neighbors, const void* weights, int64_t weight_type, int64_t weight_step,
    int64_t edge, int64_t lowest, V* values, uint32_t* reached, int64_t* ids, int64_t* changed, int64_t* far_list,
    uint32_t* far_bits, V* border, double width, int64_t size, int64_t far_size, int64_t max_rounds, int64_t* state,
    int64_t* log) {
    __shared__ int64_t first[small_size], sum, num_far;
    __shared__ V sent[small_size];
    __shared__ int before[small_size], num_changed, near;
    const Messages<V> messages{weights, weight_type, weight_step, edge, lowest != 0};
    const FarPile<V> far{far_list, far_bits, border, static_cast<V>(width)};
    int64_t arcs = 0, round = 0;
    for (;; ++round) {
        while (size == 0 && far_size > 0 && far_size <= small_far) size = refill(far, far_size, values, ids, changed);
        int64_t degree = 0, degrees = 0;
        for (int64_t i = threadIdx.x; i < size; i += small_size) {
            const int64_t v = ids[i], begin = offset[v];
            degree = offset[v + 1] - begin, degrees += degree;
            if (i < small_size) first[i] = begin, sent[i] = values[v];
        }
        degrees = block_sum<small_size>(degrees);
        if (threadIdx.x == 0) sum = degrees, num_changed = near = 0, num_far = far_size;
        __syncthreads();
        arcs = sum;
        if (size == 0 || size > small_size || arcs > small_arcs || round == max_rounds) break;
        before[threadIdx.x] = sum_before<small_size>(static_cast<int>(degree));
        if (threadIdx.x == 0) log[3 * round] = size, log[3 * round + 1] = arcs;
        __syncthreads();
        for (int64_t arc = threadIdx.x; arc < arcs; arc += small_size) {
            const int64_t i = row_of_arc(before, 0, size, arc);
            if (!messages.is_sent(sent[i])) continue;
            const int64_t position = first[i] + (arc - before[i]), v = neighbors[position];
            const V message = messages(sent[i], position);
            if (!messages.improves(message, look(values + v))) continue;
            if (!messages.improves(message, improve(values + v, message, messages.lowest))) continue;
            if (insert(reached, v)) changed[atomicAdd(&num_changed, 1)] = v;
        }
        __syncthreads();
        for (int i = threadIdx.x; i < num_changed; i += small_size) {
            const int64_t v = changed[i];
            put(reached + v / 32, 0u);
            if (!far.is_far(values[v]))
                ids[atomicAdd(&near, 1)] = v;
            else if (insert(far_bits, v))
                far_list[add(&num_far, 1)] = v;
        }
        __syncthreads();
        if (threadIdx.x == 0) log[3 * round + 2] = num_changed;
        size = near, far_size = num_far;
        __syncthreads();
    }
    if (threadIdx.x == 0) state[0] = size, state[1] = arcs, state[2] = round, state[3] = far_size;
}

// Splits sums[0] vertices changed by a push: those within the border are listed in `ids`, the others are added to the
// far pile; clears `reached`. state, zeros on entry: vertices listed, their arcs, vertices changed, vertices added to
// the far_size of the pile.
template <class V>
__global__ void put_off(
    const int64_t* changed, const int64_t* sums, const V* values, const int64_t* offset, uint32_t* reached,
    int64_t* ids, int64_t* far_list, uint32_t* far_bits, V* border, int64_t far_size, int64_t* state) {
    const FarPile<V> far{far_list, far_bits, border, V{}};
    const int64_t i = global_thread();
    const int64_t v = i < sums[0] ? changed[i] : 0;
    const bool is_near = i < sums[0] && !far.is_far(values[v]), is_far = i < sums[0] && !is_near && insert(far_bits, v);
    __shared__ int64_t near_place, far_place;
    const int near_before = sum_before(is_near), far_before = sum_before(is_far);
    const int64_t near = block_sum(is_near), put_off = block_sum(is_far);
    const int64_t arcs = block_sum(is_near ? offset[v + 1] - offset[v] : 0);
    if (i == 0) state[2] = sums[0];
    if (threadIdx.x == 0) {
        near_place = add(state, near);
        add(state + 1, arcs);
        far_place = far_size + add(state + 3, put_off);
    }
    __syncthreads();
    if (i < sums[0]) put(reached + v / 32, 0u);
    if (is_near) ids[near_place + near_before] = v;
    if (is_far) far_list[far_place + far_before] = v;
}

}  // namespace tgraph
