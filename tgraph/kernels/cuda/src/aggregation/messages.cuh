// What a row hears: gather, edge operation and reduction of the messages of some of its arcs, and what becomes of it.
#pragma once

#include "base/semiring.cuh"

namespace tgraph {

// How many threads a multiprocessor shall hold at least: so that ptxas neither takes so many registers that memory
// waits for threads, nor saves on them by spilling.
__device__ constexpr int resident(int count) { return count == 1 ? 1024 : 512; }

// What travels along the arcs that neighbors, heard and weights describe.
//
// data [n, columns]; weights [arcs, heads], each for columns / heads adjacent columns, or null for edge_copy; heard [n]
// says which vertices send, null that all do.
template <class T, class I>
struct Messages {
    const I* neighbors;
    const uint8_t* heard;
    const T* data;
    int64_t columns;
    const T* weights;
    int64_t heads;
    int64_t edge;
};

// Applies the edge operation to the messages [arcs, count] of the arcs first, first + step, ..
template <int arcs, int count, class Number, class T, class I>
__device__ __forceinline__ void weigh(
    Number (&message)[arcs * count], const Messages<T, I>& from, int64_t first, int64_t step, int64_t column) {
    Number weight[arcs * count];
    if (count > 1 && from.heads == from.columns) {  // a weight for each column
#pragma unroll
        for (int i = 0; i < arcs; ++i) {
            const Pack<T, count> own = load<T, count>(from.weights + (first + i * step) * from.columns + column);
#pragma unroll
            for (int j = 0; j < count; ++j) weight[i * count + j] = static_cast<Number>(widened(own.at[j]));
        }
    } else {
        const int64_t head = from.heads == 1 ? 0 : column / (from.columns / from.heads);
#pragma unroll
        for (int i = 0; i < arcs; ++i) {
            const T shared = from.weights[(first + i * step) * from.heads + head];
#pragma unroll
            for (int j = 0; j < count; ++j) weight[i * count + j] = static_cast<Number>(widened(shared));
        }
    }
    cross(from.edge, message, weight);
    // A message has the dtype of the data, so that it does not hang on the backend which of two wins.
    if constexpr (sizeof(T) == 2) {
#pragma unroll
        for (int i = 0; i < arcs * count; ++i) message[i] = widened(Narrowed<T>::from(message[i]));
    }
}

// The messages for `count` columns from `column` on of the arcs first, first + step, .., `arcs` of them.
//
// All that can be asked for is asked for before the first answer is waited for.
template <int arcs, int count, class Reduction, class Number, class T, class I>
__device__ __forceinline__ void take(
    Partial<Reduction, Number, count>& partial, const Messages<T, I>& from, int64_t first, int64_t step,
    int64_t column) {
    I sender[arcs];
    Pack<T, count> sent[arcs];
    bool heard[arcs];
    Number message[arcs * count];
#pragma unroll
    for (int i = 0; i < arcs; ++i) sender[i] = from.neighbors[first + i * step];
#pragma unroll
    for (int i = 0; i < arcs; ++i) {
        sent[i] = load<T, count>(from.data + int64_t{sender[i]} * from.columns + column);
        heard[i] = from.heard == nullptr || from.heard[sender[i]] != 0;
    }
#pragma unroll
    for (int i = 0; i < arcs * count; ++i)
        message[i] = static_cast<Number>(widened(sent[i / count].at[i % count]));
    if (from.weights != nullptr) weigh<arcs, count>(message, from, first, step, column);
#pragma unroll
    for (int i = 0; i < arcs * count; ++i)
        partial.join_if(heard[i / count], i % count, message[i], first + i / count * step);
}

// The same for all arcs first, first + step, .. before end.
template <int count, class Reduction, class Number, class T, class I>
__device__ __forceinline__ void take_all(
    Partial<Reduction, Number, count>& partial, const Messages<T, I>& from, int64_t first, int64_t end, int64_t step,
    int64_t column) {
    constexpr int at_once = count > 4 ? 2 : 4;
    for (; first + (at_once - 1) * step < end; first += at_once * step)
        take<at_once>(partial, from, first, step, column);
    for (; first < end; first += step) take<1>(partial, from, first, step, column);
}

// Writes what a row receives in `count` columns, at `place` of result and winners.
template <class Result, int count, class Reduction, class Number>
__device__ __forceinline__ void finish(
    const Partial<Reduction, Number, count>& partial, int64_t degree, int64_t mean, Result* result, int64_t* winners,
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
        for (int i = 0; i < count; ++i) winners[place + i] = partial.winner[i];
    }
}

}  // namespace tgraph
