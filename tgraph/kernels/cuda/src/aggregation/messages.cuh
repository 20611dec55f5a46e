// The inner loop of a pull: gather, edge operation and reduction of the messages along some arcs of a row, in
// registers, and the epilogue that writes the result.
#pragma once

#include "base/semiring.cuh"

namespace tgraph {

// The least number of resident threads per multiprocessor, for __launch_bounds__: enough to hide memory latency, few
// enough that ptxas does not spill registers.
__device__ constexpr int resident(int count) { return count == 1 ? 1024 : 512; }

// Operands of a pull.
//
// data [n, columns]; weights [arcs, heads], each for columns / heads adjacent columns, or null for edge_copy; active
// [n]: mask of the vertices that send, null for all.
template <class T, class I>
struct Messages {
    const I* neighbors;
    const uint8_t* active;
    const T* data;
    int64_t columns;
    const T* weights;
    int64_t heads;
    int64_t edge;
};

// Applies the edge operation to the messages [arcs, count] of the arcs first, first + step, .., of those that count.
template <int arcs, int count, class Number, class T, class I>
__device__ __forceinline__ void apply_weights(
    Number (&message)[arcs * count], const bool (&counts)[arcs], const Messages<T, I>& from, int64_t first,
    int64_t step, int64_t column) {
    Number weight[arcs * count] = {};
    if (count > 1 && from.heads == from.columns) {  // one weight per column
#pragma unroll
        for (int i = 0; i < arcs; ++i) {
            if (!counts[i]) continue;
            const Pack<T, count> own = load<T, count>(from.weights + (first + i * step) * from.columns + column);
#pragma unroll
            for (int j = 0; j < count; ++j) weight[i * count + j] = static_cast<Number>(widened(own.at[j]));
        }
    } else {
        const int64_t head = from.heads == 1 ? 0 : column / (from.columns / from.heads);
#pragma unroll
        for (int i = 0; i < arcs; ++i) {
            if (!counts[i]) continue;
            const T shared = from.weights[(first + i * step) * from.heads + head];
#pragma unroll
            for (int j = 0; j < count; ++j) weight[i * count + j] = static_cast<Number>(widened(shared));
        }
    }
    apply_edge(from.edge, message, weight);
    // Messages are rounded to the dtype of the data, so that an argmin or argmax does not depend on the backend.
    if constexpr (sizeof(T) == 2) {
#pragma unroll
        for (int i = 0; i < arcs * count; ++i) message[i] = widened(Narrowed<T>::from(message[i]));
    }
}

// Reduces `count` columns from `column` on over the arcs first, first + step, .., `arcs` of them: all, or those before
// end. All loads are issued before the first result is used, to overlap their latency.
template <int arcs, bool all, int count, class Reduction, class Number, class T, class I>
__device__ __forceinline__ void reduce_arcs(
    Partial<Reduction, Number, count>& partial, const Messages<T, I>& from, int64_t first, int64_t end, int64_t step,
    int64_t column) {
    I sender[arcs];
    Pack<T, count> sent[arcs] = {};
    bool counts[arcs];
    Number message[arcs * count];
#pragma unroll
    for (int i = 0; i < arcs; ++i) {
        counts[i] = all || first + i * step < end;
        sender[i] = counts[i] ? from.neighbors[first + i * step] : I{0};
    }
#pragma unroll
    for (int i = 0; i < arcs; ++i) {
        if (!counts[i]) continue;
        sent[i] = load<T, count>(from.data + int64_t{sender[i]} * from.columns + column);
        counts[i] = from.active == nullptr || from.active[sender[i]] != 0;
    }
#pragma unroll
    for (int i = 0; i < arcs * count; ++i)
        message[i] = static_cast<Number>(widened(sent[i / count].at[i % count]));
    if (from.weights != nullptr) apply_weights<arcs, count>(message, counts, from, first, step, column);
#pragma unroll
    for (int i = 0; i < arcs * count; ++i)
        partial.join_if(counts[i / count], i % count, message[i], first + i / count * step);
}

// The same for all arcs first, first + step, .. before end. Most rows end before the first batch is full.
template <int count, class Reduction, class Number, class T, class I>
__device__ __forceinline__ void reduce_all(
    Partial<Reduction, Number, count>& partial, const Messages<T, I>& from, int64_t first, int64_t end, int64_t step,
    int64_t column) {
    constexpr int at_once = count > 4 ? 2 : 4;
    for (; first + (at_once - 1) * step < end; first += at_once * step)
        reduce_arcs<at_once, true>(partial, from, first, end, step, column);
    if (first < end) reduce_arcs<at_once, false>(partial, from, first, end, step, column);
}

// Writes the result of a row in `count` columns, at `place` of result and best_arcs.
template <class Result, int count, class Reduction, class Number>
__device__ __forceinline__ void finish(
    const Partial<Reduction, Number, count>& partial, int64_t degree, int64_t mean, Result* result, int64_t* best_arcs,
    int64_t place) {
    Pack<Result, count> received;
#pragma unroll
    for (int i = 0; i < count; ++i) {
        Number value = partial.value[i];
        if constexpr (!Reduction::chooses) {
            if (mean != 0 && degree > 0) value = value / static_cast<Number>(degree);
        }
        received.at[i] = Narrowed<Result>::from(value);
    }
    store(result + place, received);
    if constexpr (Reduction::tracks) {
#pragma unroll
        for (int i = 0; i < count; ++i) best_arcs[place + i] = partial.arc[i];
    }
}

}  // namespace tgraph
