// Backward pass of attention, which recomputes the scores: over the rows of targets for the gradients of targets, edges
// and vector, and over the rows of sources for those of sources and values. Each output is written by one team, without
// atomics (unlike "On Efficient Scaling of GNNs via IO-Aware Layers Implementations", 2026).

#include "attention/attention.cuh"

namespace tgraph {

// The weight of an arc after dropout, and the gradient of its score.
template <class Number>
struct ArcGradient {
    Number weight, score;
};

template <int arcs, class With, class B, class Number>
__device__ __forceinline__ ArcGradient<Number> gradient_of(
    const With& with, const B& batch, int arc, int64_t head, const Statistics<Number>& softmax, Number delta) {
    if (!batch.counts[arc]) return {0, 0};
    const Number alpha = softmax.weight(batch.score[arc]), kept = with.dropout_factor(batch, arc, head);
    const Number score = alpha * (kept * batch.product[arc] - delta);
    return {kept * alpha, With::of_numbers ? score * with.slope(batch.total[arc]) : score};
}

// delta [rows, heads] = dot products of grad and out, both [rows, heads, columns]. A team of `lanes` lanes for each.
template <class T, bool wide>
__global__ void __launch_bounds__(attention_threads) multiply_rows(
    const T* grad, const T* out, int64_t size, int64_t columns, int64_t lanes, typename Arithmetic<T>::Value* delta) {
    using Number = typename Arithmetic<T>::Value;
    constexpr int count = 16 / sizeof(T);
    const Lane lane(static_cast<int>(lanes), 1);
    const int64_t item = (int64_t{blockIdx.x} * attention_threads + threadIdx.x) / lanes;
    Number sum = 0;
    for (int64_t column = lane.column * count; column < columns && item < size; column += lanes * count) {
        const auto left = load_some<wide, count>(grad + item * columns + column, columns - column);
        const auto right = load_some<wide, count>(out + item * columns + column, columns - column);
#pragma unroll
        for (int i = 0; i < count; ++i) sum += widened(left.at[i]) * widened(right.at[i]);
    }
    for (int apart = 1; apart < lane.lanes; apart *= 2) sum += __shfl_xor_sync(all_lanes, sum, apart);
    if (item < size && lane.column == 0) delta[item] = sum;
}

// Writes the columns of a lane: of a row to result, of a tile to its slot.
template <bool wide, class T, class Number, int count>
__device__ __forceinline__ void write(
    const Partial<Sum, Number, count>& partial, const Segment& segment, int64_t place, int64_t size, T* result,
    Number* slots) {
    if (segment.slot < 0)
        store_some<wide>(result + place, partial.value, size);
    else
        store_some<wide>(slots + place, partial.value, size);
}

template <class T, class Number>
__device__ __forceinline__ void write_number(
    Number number, const Segment& segment, int64_t place, T* result, Number* slots) {
    if (segment.slot < 0)
        result[place] = Narrowed<T>::from(number);
    else
        slots[place] = number;
}

// Over the rows of targets: to_target and to_edge, shaped as targets and edges, each may be null. to_vector
// [stride, heads, columns], or null: partial sums of the teams, each of which processes every stride-th row or tile.
// target_slots [slots, ..] : gradients of tiles with slots.
template <class T, class Score, bool wide>
__global__ void __launch_bounds__(attention_threads, attention_blocks(wide)) give_targets(
    TGRAPH_ATTENTION_PARAMETERS(T), int64_t stride, const typename Arithmetic<T>::Value* statistics,
    const typename Arithmetic<T>::Value* delta, T* to_target, T* to_edge, typename Arithmetic<T>::Value* to_vector,
    typename Arithmetic<T>::Value* target_slots) {
    using Number = typename Arithmetic<T>::Value;
    constexpr int count = 16 / sizeof(T), arcs = wide && count <= 4 ? 2 : 1;
    const auto with = TGRAPH_ATTENTION(false);
    const Team team(lanes, parts, heads);
    const int64_t column = (blockIdx.y * lanes + team.lane.column) * count, size = columns - column;
    Partial<Sum, Number, count> vectors(Sum(0), 0);
    for (int64_t base = first_index; base < end_index; base += stride) {
        const int64_t index = base + team.index;
        const bool works = index < end_index && team.index < stride;
        const Segment segment = works ? segment_of(tiles, rows, index, offset) : Segment();
        auto mine = with.own(segment.row, team.head, column, works);
        const int64_t row = with.at(segment.row, team.head);
        const auto softmax = works ? Statistics<Number>::load(statistics, row) : Statistics<Number>();
        const Number shared = works ? delta[row] : Number{0};
        Partial<Sum, Number, count> partial(Sum(0), 0);  // for GAT only the first number
        int64_t first = segment.begin + team.lane.part;
        for (int64_t left = team.rounds(segment, arcs); left > 0; --left, first += arcs * parts) {
            Batch<T, Number, arcs> batch;
            with.list(batch, first, parts, segment.end);
            with.template compute_scores<true>(batch, mine, team.lane, team.head, column);
#pragma unroll
            for (int arc = 0; arc < arcs; ++arc) {
                const auto [weight, score] = gradient_of<arcs>(with, batch, arc, team.head, softmax, shared);
                with.add_target_gradient(batch, mine, arc, score, partial.value, vectors.value);
                if (to_edge == nullptr || !batch.counts[arc]) continue;
                const int64_t place = with.at(with.place(batch, arc), team.head);
                if constexpr (!Score::of_numbers) {
                    Number gradient[count];
#pragma unroll
                    for (int i = 0; i < count; ++i)
                        gradient[i] = with.edge_gradient(batch, mine, arc, weight, score, i);
                    store_some<wide>(to_edge + place * columns + column, gradient, size);
                } else if (column == 0) {
                    to_edge[place] = Narrowed<T>::from(score);
                }
            }
        }
        join_parts(partial, team.lane);
        if (!works || team.lane.part != 0 || to_target == nullptr) continue;
        const int64_t place = segment.slot < 0 ? row : with.at(segment.slot, team.head);
        if constexpr (!Score::of_numbers)
            write<wide>(partial, segment, place * columns + column, size, to_target, target_slots);
        else if (column == 0)
            write_number(partial.value[0], segment, place, to_target, target_slots);
    }
    if (to_vector == nullptr) return;
    join_parts(vectors, team.lane);
    if (team.lane.part == 0 && team.index < stride)
        store_some<wide>(to_vector + with.at(team.index, team.head) * columns + column, vectors.value, size);
}

// Over the rows of sources: to_source and to_value, shaped as sources and values, each may be null. The gradient of the
// value of GATv2 is part of that of the source. statistics and delta are those of the targets. source_slots and
// value_slots [slots, ..] : gradients of tiles with slots.
template <class T, class Score, bool wide>
__global__ void __launch_bounds__(attention_threads, attention_blocks(wide)) give_sources(
    TGRAPH_ATTENTION_PARAMETERS(T), const typename Arithmetic<T>::Value* statistics,
    const typename Arithmetic<T>::Value* delta, T* to_source, T* to_value,
    typename Arithmetic<T>::Value* source_slots, typename Arithmetic<T>::Value* value_slots) {
    using Number = typename Arithmetic<T>::Value;
    constexpr int count = 16 / sizeof(T), arcs = wide && count <= 4 ? 2 : 1;
    const auto with = TGRAPH_ATTENTION(true);
    const Team team(lanes, parts, heads);
    const int64_t index = first_index + team.index;
    const int64_t column = (blockIdx.y * lanes + team.lane.column) * count, size = columns - column;
    const bool works = index < end_index;
    const Segment segment = works ? segment_of(tiles, rows, index, offset) : Segment();
    auto mine = with.own(segment.row, team.head, column, works);
    Partial<Sum, Number, count> sources(Sum(0), 0), values(Sum(0), 0);  // for GAT only the first of sources
    int64_t first = segment.begin + team.lane.part;
    for (int64_t left = team.rounds(segment, arcs); left > 0; --left, first += arcs * parts) {
        Batch<T, Number, arcs> batch;
        Statistics<Number> softmax[arcs];
        Number shared[arcs];
        with.list(batch, first, parts, segment.end);
#pragma unroll
        for (int arc = 0; arc < arcs; ++arc) {
            const int64_t target = with.at(batch.other[arc], team.head);
            if (batch.counts[arc]) softmax[arc] = Statistics<Number>::load(statistics, target);
            shared[arc] = batch.counts[arc] ? delta[target] : Number{0};
        }
        with.template compute_scores<true>(batch, mine, team.lane, team.head, column);
#pragma unroll
        for (int arc = 0; arc < arcs; ++arc) {
            const auto [weight, score] = gradient_of<arcs>(with, batch, arc, team.head, softmax[arc], shared[arc]);
            with.add_source_gradient(batch, mine, arc, weight, score, sources.value, values.value);
        }
    }
    join_parts(sources, team.lane);
    join_parts(values, team.lane);
    if (!works || team.lane.part != 0) return;
    const int64_t place = with.at(segment.slot < 0 ? segment.row : segment.slot, team.head);
    if (to_value != nullptr) write<wide>(values, segment, place * columns + column, size, to_value, value_slots);
    if (to_source == nullptr) return;
    if constexpr (!Score::of_numbers)
        write<wide>(sources, segment, place * columns + column, size, to_source, source_slots);
    else if (column == 0)
        write_number(sources.value[0], segment, place, to_source, source_slots);
}

}  // namespace tgraph
