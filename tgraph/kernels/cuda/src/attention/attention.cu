// Forward pass of attention: scores, online softmax and weighted sum in one pass over the arcs of each row (Milakov and
// Gimelshein, "Online normalizer calculation for softmax", 2018), which saves its statistics for the backward pass.
//
// A team of lanes processes a row, or a tile of a long row, for one head; the tiles of a row are combined by another
// block (join_attended). There are no atomics: the result does not depend on the order in which blocks run.

#include "attention/attention.cuh"

namespace tgraph {

// The state of the online softmax: running maximum, sum of e^(score - maximum), and of its product with the values.
template <class Number, int count>
struct Softmax {
    Number greatest = identity<Number>(false), total = 0;
    Number sum[count] = {};

    // e^(score - greatest); 0 for the identity, which stands for no score.
    static __device__ __forceinline__ Number relative(Number score, Number greatest) {
        return exponential(score - (greatest == identity<Number>(false) ? Number{0} : greatest));
    }

    __device__ __forceinline__ void rescale(Number to) {
        if (to == greatest) return;
        const Number factor = relative(greatest, to);
        greatest = to, total *= factor;
#pragma unroll
        for (int i = 0; i < count; ++i) sum[i] *= factor;
    }

    // Combines the parts of a team by shuffles. Called by all lanes of the warp.
    __device__ __forceinline__ void join_parts(const Lane& of) {
        for (int apart = of.lanes; apart < of.lanes * of.parts; apart *= 2) {
            const Number other = __shfl_xor_sync(all_lanes, greatest, apart);
            rescale(other > greatest ? other : greatest);
            total += __shfl_xor_sync(all_lanes, total, apart);
#pragma unroll
            for (int i = 0; i < count; ++i) sum[i] += __shfl_xor_sync(all_lanes, sum[i], apart);
        }
    }
};

// The result of an empty row is 0.
template <class Number>
__device__ __forceinline__ Number scale_of(Number total, bool has_arcs) {
    return has_arcs ? 1 / total : Number{0};
}

// out [rows, heads, columns], statistics [rows, heads, 2]. A tile with a slot is written to its slot of sums
// [slots, heads, columns], greatest and totals [slots, heads].
template <class T, class Score, bool wide>
__global__ void __launch_bounds__(attention_threads, attention_blocks(wide)) attend_rows(
    TGRAPH_ATTENTION_PARAMETERS(T), T* out, typename Arithmetic<T>::Value* statistics,
    typename Arithmetic<T>::Value* sums, typename Arithmetic<T>::Value* greatest,
    typename Arithmetic<T>::Value* totals) {
    using Number = typename Arithmetic<T>::Value;
    constexpr int count = 16 / sizeof(T), arcs = 2;
    const auto with = TGRAPH_ATTENTION(false);
    const Team team(lanes, parts, heads);
    const int64_t index = first_index + team.index, column = (blockIdx.y * lanes + team.lane.column) * count;
    const bool works = index < end_index;
    const Segment segment = works ? segment_of(tiles, rows, index, offset) : Segment();
    auto mine = with.own(segment.row, team.head, column, works);
    Softmax<Number, count> softmax;
    int64_t first = segment.begin + team.lane.part;
    for (int64_t left = team.rounds(segment, arcs); left > 0; --left, first += arcs * parts) {
        Batch<T, Number, arcs> batch;
        with.list(batch, first, parts, segment.end);
        with.template compute_scores<false>(batch, mine, team.lane, team.head, column);
        Number best = softmax.greatest;
#pragma unroll
        for (int i = 0; i < arcs; ++i) best = batch.counts[i] && batch.score[i] > best ? batch.score[i] : best;
        softmax.rescale(best);
#pragma unroll
        for (int i = 0; i < arcs; ++i) {
            const Number power = batch.counts[i] ? softmax.relative(batch.score[i], best) : Number{0};
            const Number weight = power * with.dropout_factor(batch, i, team.head);
            softmax.total += power;
#pragma unroll
            for (int j = 0; j < count; ++j) softmax.sum[j] += weight * with.sent_at(batch, i, j);
        }
    }
    softmax.join_parts(team.lane);
    if (!works || team.lane.part != 0) return;
    const bool is_tile = segment.slot >= 0, is_first = blockIdx.y == 0 && team.lane.column == 0;
    const int64_t place = with.at(is_tile ? segment.slot : segment.row, team.head), size = columns - column;
    if (is_tile) {
        store_some<wide>(sums + place * columns + column, softmax.sum, size);
        if (is_first) greatest[place] = softmax.greatest, totals[place] = softmax.total;
        return;
    }
    const Number scale = scale_of(softmax.total, segment.begin < segment.end);
#pragma unroll
    for (int i = 0; i < count; ++i) softmax.sum[i] *= scale;
    store_some<wide>(out + place * columns + column, softmax.sum, size);
    if (is_first) Statistics<Number>::store(softmax.greatest, softmax.total, statistics, place);
}

// A block combines the tiles of a row (row, first slot, end slot, number of arcs) for one head. Grid: x over rows and
// heads, y over columns, `lanes` per block.
template <class T>
__global__ void __launch_bounds__(attention_threads) join_attended(
    const int64_t* hubs, const typename Arithmetic<T>::Value* sums, const typename Arithmetic<T>::Value* greatest,
    const typename Arithmetic<T>::Value* totals, int64_t heads, int64_t columns, int64_t lanes, T* out,
    typename Arithmetic<T>::Value* statistics) {
    using Number = typename Arithmetic<T>::Value;
    constexpr int warps = attention_threads / 32;
    const Lane lane(static_cast<int>(lanes), 32 / static_cast<int>(lanes));
    const int64_t* hub = hubs + blockIdx.x / heads * 4;
    const int64_t head = blockIdx.x % heads, column = blockIdx.y * lanes + lane.column;
    Number best = identity<Number>(false);
    for (int64_t slot = hub[1] + threadIdx.x % 32; slot < hub[2]; slot += 32) {
        const Number other = greatest[slot * heads + head];
        best = other > best ? other : best;
    }
    for (int apart = 1; apart < 32; apart *= 2) {
        const Number other = __shfl_xor_sync(all_lanes, best, apart);
        best = other > best ? other : best;
    }
    Partial<Sum, Number, 2> partial(Sum(0), 0);  // of the column, and of the weights
    for (int64_t slot = hub[1] + threadIdx.x / lanes; slot < hub[2]; slot += attention_threads / lanes) {
        const int64_t place = slot * heads + head;
        const Number factor = Softmax<Number, 1>::relative(greatest[place], best);
        partial.value[1] += totals[place] * factor;
        if (column < columns) partial.value[0] += sums[place * columns + column] * factor;
    }
    join_parts(partial, lane);
    join_warps<warps>(partial, lane);
    if (threadIdx.x >= lanes || column >= columns) return;
    const int64_t place = hub[0] * heads + head;
    out[place * columns + column] = Narrowed<T>::from(partial.value[0] * scale_of(partial.value[1], true));
    if (column == 0) Statistics<Number>::store(best, partial.value[1], statistics, place);
}

// The attention weight of each arc after dropout, weights [edges, heads].
template <class T, class Score, bool wide>
__global__ void __launch_bounds__(attention_threads, attention_blocks(wide)) weigh_arcs(
    TGRAPH_ATTENTION_PARAMETERS(T), const typename Arithmetic<T>::Value* statistics,
    typename Arithmetic<T>::Value* weights) {
    using Number = typename Arithmetic<T>::Value;
    constexpr int count = 16 / sizeof(T), arcs = 2;
    const auto with = TGRAPH_ATTENTION(false);
    const Team team(lanes, parts, heads);
    const int64_t index = first_index + team.index, column = team.lane.column * count;
    const bool works = index < end_index;
    const Segment segment = works ? segment_of(tiles, rows, index, offset) : Segment();
    auto mine = with.own(segment.row, team.head, column, works);
    const int64_t row = with.at(segment.row, team.head);
    const auto softmax = works ? Statistics<Number>::load(statistics, row) : Statistics<Number>();
    int64_t first = segment.begin + team.lane.part;
    for (int64_t left = team.rounds(segment, arcs); left > 0; --left, first += arcs * parts) {
        Batch<T, Number, arcs> batch;
        with.list(batch, first, parts, segment.end);
        with.template compute_scores<false>(batch, mine, team.lane, team.head, column);
#pragma unroll
        for (int i = 0; i < arcs; ++i)
            if (batch.counts[i] && team.lane.column == 0)
                weights[with.at(with.place(batch, i), team.head)] =
                    softmax.weight(batch.score[i]) * with.dropout_factor(batch, i, team.head);
    }
}

}  // namespace tgraph
