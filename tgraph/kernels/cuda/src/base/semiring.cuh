// What a row does with the messages of its arcs: the reduction, and the edge operation that makes them.
#pragma once

#include "base/numbers.cuh"

namespace tgraph {

// ---- reductions ---------------------------------------------------------------------------------------------------

// Of a reduction, Number is what messages of dtype T are reduced in, and Result the dtype of what is received.
template <class Stored, class Total>
struct TotalOf {
    using Type = Stored;
};
template <>
struct TotalOf<int32_t, int64_t> {
    using Type = int64_t;
};

// A reduction comes as an object: whether the best is the greatest is known at run time, since to compile every kernel
// once more costs more than it gains.
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

// The least, or the greatest.
struct Best {
    static constexpr bool chooses = true, tracks = false;
    template <class T>
    using Number = typename Arithmetic<T>::Value;
    template <class T>
    using Result = T;

    const bool greatest;

    __device__ __forceinline__ explicit Best(int64_t greatest) : greatest(greatest != 0) {}

    template <class Number>
    __device__ __forceinline__ bool beats(Number a, Number b) const {
        return (greatest ? a > b : a < b) | ((a != a) & (b == b));
    }
};

// The same, and the arc whose message won: the first of equal ones.
struct BestArc : Best {
    static constexpr bool tracks = true;
    using Best::Best;
};

// What some messages have been reduced to, for `count` adjacent columns. No winner (-1) says that there was no message.
template <class Reduction, class Number, int count>
struct Partial {
    const Reduction reduction;
    Number value[count];
    int64_t winner[Reduction::tracks ? count : 1];

    __device__ __forceinline__ Partial(Reduction reduction, Number identity) : reduction(reduction) {
#pragma unroll
        for (int i = 0; i < count; ++i) {
            value[i] = identity;
            if constexpr (Reduction::tracks) winner[i] = -1;
        }
    }

    // Joins what other arcs gave. `other_winner` is looked at only where the winner is tracked.
    __device__ __forceinline__ void join(int i, Number other, int64_t other_winner) {
        join_if(true, i, other, other_winner);
    }

    // The same where it counts, without a branch.
    __device__ __forceinline__ void join_if(bool counts, int i, Number other, int64_t other_winner) {
        if constexpr (!Reduction::chooses) {
            const Number joined = reduction.joined(value[i], other);
            value[i] = counts ? joined : value[i];
        } else if constexpr (!Reduction::tracks) {
            value[i] = counts & reduction.beats(other, value[i]) ? other : value[i];
        } else {
            const bool is_first = winner[i] < 0;
            const bool is_equal_and_before = (other_winner < winner[i]) & !reduction.beats(value[i], other);
            counts &= other_winner >= 0;
            counts &= is_first | is_equal_and_before | reduction.beats(other, value[i]);
            value[i] = counts ? other : value[i];
            winner[i] = counts ? other_winner : winner[i];
        }
    }
};

// ---- edge operations ----------------------------------------------------------------------------------------------

enum Edge : int64_t { edge_copy, edge_add, edge_mul, edge_min, edge_max };  // numbered so in pull.py

// Applies the edge operation to `size` messages, of which message[i] travels along an arc of weight[i].
template <int size, class Number>
__device__ __forceinline__ void cross(int64_t edge, Number (&message)[size], const Number (&weight)[size]) {
    if (edge == edge_add) {
#pragma unroll
        for (int i = 0; i < size; ++i) message[i] = plus(message[i], weight[i]);
    } else if (edge == edge_mul) {
#pragma unroll
        for (int i = 0; i < size; ++i) message[i] = times(message[i], weight[i]);
    } else {
        const Best best(edge == edge_max);
#pragma unroll
        for (int i = 0; i < size; ++i) message[i] = best.beats(weight[i], message[i]) ? weight[i] : message[i];
    }
}

}  // namespace tgraph
