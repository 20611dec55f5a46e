// Pull of a relaxation with several independent values per vertex, [n, columns].
#include "relaxation/frontier.cuh"
#include "relaxation/relax.cuh"

namespace tgraph {

// Consecutive arcs of a row, for one warp; row -1 for none.
struct Segment {
    int64_t row, begin, end;
};

// A whole row per warp, or an equal part of a tile (row, first arc, end, ..) for each warp of a block.
template <class Neighbor>
__device__ Segment segment_of_warp(
    const Neighbor* rows, int64_t num_rows, const int64_t* tiles, const int64_t* offset) {
    const int64_t warp = threadIdx.x / 32;
    if (tiles) {
        const int64_t* tile = tiles + int64_t{blockIdx.x} * 4;
        const int64_t share = (tile[2] - tile[1] + warps - 1) / warps, begin = tile[1] + warp * share;
        return {tile[0], begin, begin + share < tile[2] ? begin + share : tile[2]};
    }
    const int64_t number = int64_t{blockIdx.x} * warps + warp;
    if (number >= num_rows) return {-1, 0, 0};
    const int64_t row = rows ? int64_t{rows[number]} : number;
    return {row, offset[row], offset[row + 1]};
}

// Pull into some rows (null: all), or along tiles unless they are null. `lanes` adjacent threads process columns, the
// groups of a warp different arcs. bound : per column, at least as good as any message, or null. `reached` is an empty
// bitmap. sums[0], sums[1] : number of changed vertices, and of their arcs.
template <class V, class Neighbor>
__global__ void __launch_bounds__(block_size) pull_columns(
    const Neighbor* rows, int64_t num_rows, const int64_t* tiles, const int64_t* offset, const Neighbor* neighbors,
    int64_t columns, int64_t lanes, const uint32_t* front, const V* sent, const void* weights, int64_t weight_type,
    int64_t weight_step, int64_t edge, int64_t lowest, const V* bound, const int64_t* out_offset, V* values,
    uint32_t* reached, int64_t* sums) {
    const Messages<V> messages{weights, weight_type, weight_step, edge, lowest != 0};
    const Segment segment = segment_of_warp(rows, num_rows, tiles, offset);
    const int width = static_cast<int>(lanes), parts = 32 / width, part = lane() / width;
    const int64_t column = static_cast<int64_t>(blockIdx.y) * width + lane() % width;
    const bool works = segment.row >= 0 && column < columns;
    V* to = values + (works ? segment.row * columns + column : 0);
    const V old = works ? look(to) : V{};  // other warps may change it
    V best = old;
    const bool bounded = bound && works;
    const V limit = bounded ? bound[column] : V{};
    bool is_final = !works || (bounded && !messages.improves(limit, best));
    for (int64_t arc = segment.begin; arc < segment.end && !__all_sync(all_lanes, is_final); arc += parts) {
        const int64_t own = arc + part;
        if (is_final || own >= segment.end) continue;
        const int64_t u = neighbors[own];
        if (front && !contains(front, u)) continue;
        const V value = sent[u * columns + column];
        if (!messages.is_sent(value)) continue;
        const V message = messages(value, own);
        if (messages.improves(message, best)) best = message;
        is_final = bounded && !messages.improves(limit, best);
    }
    for (int apart = width; apart < 32; apart *= 2) {
        const V other = __shfl_xor_sync(all_lanes, best, apart);
        best = messages.improves(other, best) ? other : best;
    }
    const bool improved = works && part == 0 && messages.improves(best, old) &&
                          messages.improves(best, improve(to, best, messages.lowest));
    const bool any = __any_sync(all_lanes, improved);
    const bool is_first = lane() == 0 && any && insert(reached, segment.row);
    const int64_t degree = is_first ? out_offset[segment.row + 1] - out_offset[segment.row] : 0;
    const int64_t size = block_sum(is_first), arcs = block_sum(degree);
    if (threadIdx.x == 0 && size) {
        add(sums, size);
        add(sums + 1, arcs);
    }
}

}  // namespace tgraph
