// Semirings: reductions with their accumulators, and edge operations.
#pragma once

#include "base/numbers.cuh"

namespace tgraph {

// ---- reductions ---------------------------------------------------------------------------------------------------

// Number : accumulator of a reduction for messages of dtype T. Result : dtype of the result.
template <class Stored, class Total>
struct TotalOf {
    using Type = Stored;
};
template <>
struct TotalOf<int32_t, int64_t> {
    using Type = int64_t;
};

// A reduction is an object: min or max is a run-time choice, as another instantiation of every kernel costs more than
// it gains.
struct Adding {
    static constexpr bool chooses = false, tracks = false;
    template <class T>
    using Number = typename Arithmetic<T>::Total;
    template <class T>
    using Result = typename TotalOf<T, Number<T>>::Type;

    __device__ __forceinline__ explicit Adding(int64_t) {}
};

struct Sum : Adding {
    using Adding::Adding;
    template <class Number>
    __device__ __forceinline__ Number joined(Number a, Number b) const {
        return plus(a, b);
    }
};

struct Product : Adding {
    using Adding::Adding;
    template <class Number>
    __device__ __forceinline__ Number joined(Number a, Number b) const {
        return times(a, b);
    }
};

// Min or max; NaN is better than any number.
struct Best {
    static constexpr bool chooses = true, tracks = false;
    template <class T>
    using Number = typename Arithmetic<T>::Value;
    template <class T>
    using Result = T;

    const bool greatest;

    __device__ __forceinline__ explicit Best(int64_t greatest) : greatest(greatest != 0) {}

    template <class Number>
    __device__ __forceinline__ bool is_better(Number a, Number b) const {
        return (greatest ? a > b : a < b) | ((a != a) & (b == b));
    }
};

// Argmin or argmax: also tracks the arc of the best message, the first of equal ones.
struct BestArc : Best {
    static constexpr bool tracks = true;
    using Best::Best;
};

// A partial result for `count` adjacent columns. arc : of the best message, -1 if there was none.
template <class Reduction, class Number, int count>
struct Partial {
    const Reduction reduction;
    Number value[count];
    int64_t arc[Reduction::tracks ? count : 1];

    __device__ __forceinline__ Partial(Reduction reduction, Number identity) : reduction(reduction) {
#pragma unroll
        for (int i = 0; i < count; ++i) {
            value[i] = identity;
            if constexpr (Reduction::tracks) arc[i] = -1;
        }
    }

    // Combines with the partial result of other arcs. `other_arc` is only used if the reduction tracks.
    __device__ __forceinline__ void join(int i, Number other, int64_t other_arc) {
        join_if(true, i, other, other_arc);
    }

    // The same if `counts`, without a branch.
    __device__ __forceinline__ void join_if(bool counts, int i, Number other, int64_t other_arc) {
        if constexpr (!Reduction::chooses) {
            const Number joined = reduction.joined(value[i], other);
            value[i] = counts ? joined : value[i];
        } else if constexpr (!Reduction::tracks) {
            value[i] = counts & reduction.is_better(other, value[i]) ? other : value[i];
        } else {
            const bool is_first = arc[i] < 0;
            const bool is_equal_and_before = (other_arc < arc[i]) & !reduction.is_better(value[i], other);
            counts &= other_arc >= 0;
            counts &= is_first | is_equal_and_before | reduction.is_better(other, value[i]);
            value[i] = counts ? other : value[i];
            arc[i] = counts ? other_arc : arc[i];
        }
    }
};

// ---- edge operations ----------------------------------------------------------------------------------------------

enum Edge : int64_t { edge_copy, edge_add, edge_mul, edge_min, edge_max };  // as in pull.py

// Applies the edge operation to `size` messages and weights.
template <int size, class Number>
__device__ __forceinline__ void apply_edge(int64_t edge, Number (&message)[size], const Number (&weight)[size]) {
    if (edge == edge_add) {
#pragma unroll
        for (int i = 0; i < size; ++i) message[i] = plus(message[i], weight[i]);
    } else if (edge == edge_mul) {
#pragma unroll
        for (int i = 0; i < size; ++i) message[i] = times(message[i], weight[i]);
    } else {
        const Best best(edge == edge_max);
#pragma unroll
        for (int i = 0; i < size; ++i) message[i] = best.is_better(weight[i], message[i]) ? weight[i] : message[i];
    }
}

}  // namespace tgraph
