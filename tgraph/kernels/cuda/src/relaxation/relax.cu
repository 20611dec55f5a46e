// One round of a relaxation (min or max fixpoint): push along the arcs of the frontier, or pull into all vertices.
//
// Rounds are synchronous: messages are computed from a copy of the values before the round. So the values after a round
// and the set of changed vertices do not depend on the direction or the order of threads. Improvements are atomic min
// or max in a push; a pull owns its rows, except for tiles of long rows.
#include "relaxation/frontier.cuh"
#include "relaxation/relax.cuh"

namespace tgraph {

// sums[0], sums[1] : number of changed vertices, and of their arcs.

// Push along the arcs of `num_rows` rows. sent[i, column] : value of row i. values : [n, columns]; `lanes` adjacent
// threads process columns of an arc. Weights are in the order of the arcs of these rows, or with `stored` of all arcs.
// `reached` is an empty bitmap; the first thread to improve a vertex marks it there and lists it in `changed`.
template <class V, class Neighbor>
__global__ void push_arcs(
    const int64_t* offset, const Neighbor* neighbors, const int64_t* rows, const int64_t* before, int64_t num_rows,
    int64_t num_arcs, int64_t stored, int64_t columns, int64_t lanes, const V* sent, const void* weights,
    int64_t weight_type, int64_t weight_step, int64_t edge, int64_t lowest, const int64_t* out_offset, V* values,
    uint32_t* reached, int64_t* changed, int64_t* sums) {
    __shared__ int64_t found[arcs_per_block];
    __shared__ int num_found;
    __shared__ int64_t place;
    if (threadIdx.x == 0) num_found = 0;
    const Messages<V> messages{weights, weight_type, weight_step, edge, lowest != 0};
    const RowRange range = rows_of_block(before, num_rows, num_arcs);
    int64_t arcs = 0;
    const int width = static_cast<int>(lanes), at_once = block_size / width, thread = static_cast<int>(threadIdx.x);
    const int64_t first = static_cast<int64_t>(blockIdx.x) * arcs_per_block;
    const int64_t last = first + arcs_per_block < num_arcs ? first + arcs_per_block : num_arcs;
    const int64_t column = static_cast<int64_t>(blockIdx.y) * width + thread % width;
    for (int64_t arc = first + thread / width; arc < last && column < columns; arc += at_once) {
        const int64_t i = row_of_arc(before, range.first, range.end, arc);
        const V value = sent[i * columns + column];
        if (!messages.is_sent(value)) continue;
        const int64_t position = offset[rows ? rows[i] : i] + (arc - before[i]), v = neighbors[position];
        const V message = messages(value, stored ? position : arc);
        V* to = values + v * columns + column;
        if (!messages.improves(message, look(to))) continue;
        if (!messages.improves(message, improve(to, message, messages.lowest))) continue;
        if (!insert(reached, v)) continue;
        found[atomicAdd(&num_found, 1)] = v;
        arcs += out_offset[v + 1] - out_offset[v];
    }
    arcs = block_sum(arcs);
    if (threadIdx.x == 0 && num_found) {
        place = add(sums, num_found);
        add(sums + 1, arcs);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < num_found; i += block_size) changed[place + i] = found[i];
}

// Operands of a pull along the in-arcs of a row.
template <class V, class Neighbor>
struct InArcs {
    const Neighbor* neighbors;
    const uint32_t* front;  // bitmap of the active vertices, null for all
    const V* sent;          // per vertex
    Messages<V> messages;
    bool bounded;  // `bound` is at least as good as any message
    V bound;

    __device__ bool is_final(V best) const { return bounded && !messages.improves(bound, best); }

    __device__ V better_of(V best, int64_t arc) const {
        const int64_t u = neighbors[arc];
        if (front && !contains(front, u)) return best;
        const V value = sent[u];
        if (!messages.is_sent(value)) return best;
        const V message = messages(value, arc);
        return messages.improves(message, best) ? message : best;
    }

    // The best of `best` and the messages along these arcs, by all lanes of a warp.
    __device__ V scan(int64_t begin, int64_t end, V best) const {
        for (int64_t arc = begin; arc < end; arc += 32) {
            if (arc + lane() < end) best = better_of(best, arc + lane());
            if (__any_sync(all_lanes, is_final(best))) break;
        }
        for (int step = 16; step; step /= 2) {
            const V other = __shfl_xor_sync(all_lanes, best, step);
            best = messages.improves(other, best) ? other : best;
        }
        return best;
    }
};

constexpr int probe = 8;             // arcs that a thread reads alone: most rows are short, or final after that
constexpr int arcs_per_tile = 1024;  // longer rows are cut into tiles for warps of any block

// Pull into all rows; the rest of long rows is listed as tiles: row, first arc. `reached` is overwritten. sums[2] :
// number of tiles.
template <class V, class Neighbor>
__global__ void pull_rows(
    const int64_t* offset, const Neighbor* neighbors, int64_t num_rows, const uint32_t* front, const V* sent,
    const void* weights, int64_t weight_type, int64_t weight_step, int64_t edge, int64_t lowest, const V* bound,
    const int64_t* out_offset, V* values, uint32_t* reached, int64_t* tiles, int64_t* sums) {
    const Messages<V> messages{weights, weight_type, weight_step, edge, lowest != 0};
    const InArcs<V, Neighbor> in{neighbors, front, sent, messages, bound != nullptr, bound ? *bound : V{}};
    const int64_t v = global_thread();
    const V old = v < num_rows ? values[v] : V{};
    V best = old;
    int64_t arc = 0, end = 0;
    if (v < num_rows && !in.is_final(old)) {
        arc = offset[v], end = offset[v + 1];
        for (const int64_t stop = end - arc < probe ? end : arc + probe; arc < stop; ++arc) {
            best = in.better_of(best, arc);
            if (in.is_final(best)) arc = end = stop;
        }
    }
    if (end - arc > arcs_per_tile) {
        const int64_t number = (end - arc + arcs_per_tile - 1) / arcs_per_tile;
        int64_t* tile = tiles + 2 * add(sums + 2, number);
        for (; arc < end; arc += arcs_per_tile, tile += 2) tile[0] = v, tile[1] = arc;
        arc = end;
    }
    for (unsigned open = __ballot_sync(all_lanes, arc < end); open; open &= open - 1) {
        const int owner = __ffs(static_cast<int>(open)) - 1;
        const int64_t begin = __shfl_sync(all_lanes, arc, owner), stop = __shfl_sync(all_lanes, end, owner);
        const V found = in.scan(begin, stop, __shfl_sync(all_lanes, best, owner));
        if (lane() == owner) best = found;
    }
    const bool improved = v < num_rows && messages.improves(best, old);
    if (improved) values[v] = best;
    const unsigned word = __ballot_sync(all_lanes, improved);
    if (lane() == 0 && v < num_rows) reached[v / 32] = word;
    const int64_t size = block_sum(improved), arcs = block_sum(improved ? out_offset[v + 1] - out_offset[v] : 0);
    if (threadIdx.x == 0 && size) {
        add(sums, size);
        add(sums + 1, arcs);
    }
}

// Pull along the tiles listed by pull_rows, one per warp at a time.
template <class V, class Neighbor>
__global__ void pull_tiles(
    const int64_t* offset, const Neighbor* neighbors, const uint32_t* front, const V* sent, const void* weights,
    int64_t weight_type, int64_t weight_step, int64_t edge, int64_t lowest, const V* bound, const int64_t* out_offset,
    V* values, uint32_t* reached, const int64_t* tiles, int64_t* sums) {
    const Messages<V> messages{weights, weight_type, weight_step, edge, lowest != 0};
    const InArcs<V, Neighbor> in{neighbors, front, sent, messages, bound != nullptr, bound ? *bound : V{}};
    const int64_t num_tiles = sums[2], step = static_cast<int64_t>(gridDim.x) * warps;
    for (int64_t tile = global_thread() / 32; tile < num_tiles; tile += step) {
        const int64_t v = tiles[2 * tile], begin = tiles[2 * tile + 1];
        const int64_t end = offset[v + 1] - begin < arcs_per_tile ? offset[v + 1] : begin + arcs_per_tile;
        const V old = __shfl_sync(all_lanes, look(values + v), 0);  // other warps may change it
        if (in.is_final(old)) continue;
        const V best = in.scan(begin, end, old);
        if (lane() || !messages.improves(best, old)) continue;
        if (!messages.improves(best, improve(values + v, best, messages.lowest)) || !insert(reached, v)) continue;
        add(sums, 1);
        add(sums + 1, out_offset[v + 1] - out_offset[v]);
    }
}

}  // namespace tgraph
