// Kernels that reduce one column. Messages are written to a small buffer in a loop that knows nothing of rows, and rows
// are reduced from the buffer in lanes, message i of a row in lane i % lanes, the last ones without a branch.
#include <algorithm>
#include <stdexcept>
#include <type_traits>

#include "aggregation/segments/kernels.hpp"
#include "base/semiring.hpp"

namespace tgraph {
namespace {

// 64 bytes, in one register or in several: the same on all processors, and so the order of reduction.
template <class A>
inline constexpr int message_lanes = message_padding / sizeof(A);

// The minimum or maximum of floating numbers that are no NaN, which takes one instruction.
template <class Reduce, class A>
inline constexpr bool minds_nan = std::is_floating_point_v<A> &&
                                  (std::is_same_v<Reduce, Lesser> || std::is_same_v<Reduce, Greater>);
template <class Reduce>
struct OfNumbers : Reduce {};
template <>
struct OfNumbers<Lesser> {
    template <class A>
    TGRAPH_INLINE static A apply(A a, A b) {
        return b < a ? b : a;
    }
};
template <>
struct OfNumbers<Greater> {
    template <class A>
    TGRAPH_INLINE static A apply(A a, A b) {
        return b > a ? b : a;
    }
};

template <class Edge, class A, class T, class W>
TGRAPH_INLINE void write_each(const T* __restrict data, const int32_t* __restrict neighbors,
                              const W* __restrict weights, int64_t count, A* __restrict messages) {
    for (int64_t i = 0; i < count; ++i) {
        const A sent = static_cast<A>(data[neighbors[i]]);
        if constexpr (Edge::weighted)
            messages[i] = Edge::apply(sent, static_cast<A>(weights[i]));
        else
            messages[i] = sent;
    }
}

template <class Edge, class A, class T = A, class W = T>
TGRAPH_MULTIVERSION void write_messages(const void* data, const int32_t* neighbors, const void* weights, int64_t count,
                                        void* messages) {
    write_each<Edge>(static_cast<const T*>(data), neighbors, static_cast<const W*>(weights), count,
                     static_cast<A*>(messages));
}

template <class A>
TGRAPH_MULTIVERSION bool has_nan(const A* numbers, int64_t count) {
    int64_t found = 0;
    for (int64_t i = 0; i < count; ++i) found += numbers[i] != numbers[i];
    return found > 0;
}

template <class Reduce, class A, int lanes>
TGRAPH_INLINE A reduce_lanes(const Vector<A, lanes>& values) {
    if constexpr (lanes == 1) {
        return values[0];
    } else {
        const auto* halves = reinterpret_cast<const Vector<A, lanes / 2>*>(&values);
        return reduce_lanes<Reduce, A, lanes / 2>(Reduce::apply(halves[0], halves[1]));
    }
}

// The reduction of messages by vectors of some bytes; reads, and ignores, some behind the last.
template <class Reduce, int bytes, class A>
TGRAPH_INLINE A reduce_row(const A* messages, int64_t count, A identity) {
    constexpr int lanes = bytes / sizeof(A), parts = message_padding / bytes;
    using Lanes = Vector<A, lanes>;
    using Counts = std::conditional_t<sizeof(A) == 8, int64_t, int32_t>;
    const Lanes none = identity - Lanes{};
    Lanes values[parts];
    for (Lanes& each : values) each = none;
    for (; count > message_lanes<A>; count -= message_lanes<A>, messages += message_lanes<A>)
#pragma GCC unroll 4
        for (int p = 0; p < parts; ++p) values[p] = Reduce::apply(values[p], load<A, lanes>(messages + p * lanes));
    Vector<Counts, lanes> numbers;
    for (int lane = 0; lane < lanes; ++lane) numbers[lane] = static_cast<Counts>(lane);
#pragma GCC unroll 4
    for (int p = 0; p < parts; ++p) {
        const auto given = numbers < static_cast<Counts>(count - p * lanes);
        values[p] = Reduce::apply(values[p], given ? load<A, lanes>(messages + p * lanes) : none);
    }
#pragma GCC unroll 4
    for (int half = parts / 2; half > 0; half /= 2)
        for (int p = 0; p < half; ++p) values[p] = Reduce::apply(values[p], values[p + half]);
    return reduce_lanes<Reduce, A, lanes>(values[0]);
}

template <class Reduce, int bytes, class A>
TGRAPH_MULTIVERSION void reduce_short_rows(const A* messages, const int64_t* offset, Range rows, A identity,
                                           A* results) {
    for (int64_t row = rows.begin; row < rows.end; ++row) {
        const int64_t count = offset[row + 1] - offset[row];
        results[row - rows.begin] = reduce_row<Reduce, bytes>(messages, count, identity);
        messages += count;
    }
}

template <class Reduce, class A>
void fold_messages(void* sum, const void* messages, int64_t count) {
    A folded = *static_cast<A*>(sum);
    for (int64_t i = 0; i < count; ++i) folded = Reduce::apply(folded, static_cast<const A*>(messages)[i]);
    *static_cast<A*>(sum) = folded;
}

template <class Reduce, class A>
void reduce_messages(const void* given, const int64_t* offset, Range rows, const void* identity, void* out) {
    const A* const messages = static_cast<const A*>(given);
    A* const results = static_cast<A*>(out);
    if constexpr (minds_nan<Reduce, A>)
        if (has_nan(messages, offset[rows.end] - offset[rows.begin])) {
            for (int64_t row = rows.begin; row < rows.end; ++row) {
                A& result = results[row - rows.begin] = *static_cast<const A*>(identity);
                fold_messages<Reduce, A>(&result, messages + offset[row] - offset[rows.begin],
                                         offset[row + 1] - offset[row]);
            }
            return;
        }
    with_vectors(vector_bytes(), [&](auto bytes) {
        reduce_short_rows<OfNumbers<Reduce>, bytes>(messages, offset, rows, *static_cast<const A*>(identity), results);
    });
}

template <class A>
WriteMessages write_plainly(Edge edge) {
    switch (edge) {
        case Edge::copy: return &write_messages<Copy, A>;
        case Edge::mul: return &write_messages<Times, A>;
        default: return &write_messages<Plus, A>;
    }
}

// Data and weights that are stored as the accumulators, or float32 that is added in float64.
WriteMessages write_kernel(Number stored, Number weights, Number number, Edge edge) {
    const bool converts = stored != number || (edge != Edge::copy && weights != number);
    if (number == Number::float64 && converts && edge != Edge::add) {
        if (stored == Number::float64) return &write_messages<Times, double, double, float>;
        if (edge == Edge::copy) return &write_messages<Copy, double, float>;
        return weights == Number::float32 ? &write_messages<Times, double, float> : nullptr;
    }
    if (stored == Number::uint8 && edge == Edge::copy) return &write_messages<Copy, int32_t, uint8_t>;
    if (converts) return nullptr;
    switch (number) {
        case Number::float32: return write_plainly<float>(edge);
        case Number::float64: return write_plainly<double>(edge);
        case Number::int32: return write_plainly<int32_t>(edge);
        default: return write_plainly<int64_t>(edge);
    }
}

template <class A>
ColumnKernels reduce_with(Reduction reduction, WriteMessages write) {
    const auto with = [&]<class Reduce>(Reduce) {
        return ColumnKernels{write, &reduce_messages<Reduce, A>, &fold_messages<Reduce, A>};
    };
    if (reduction == Reduction::min) return with(Lesser{});
    if (reduction == Reduction::max) return with(Greater{});
    if constexpr (std::is_floating_point_v<A> || sizeof(A) == sizeof(int64_t))
        return reduction == Reduction::sum ? with(Plus{}) : with(Times{});
    throw std::invalid_argument("reduce: integers of less than 64 bits are compared only");
}

}  // namespace

ColumnKernels column_kernels(Number stored, Number weights, Number number, Reduction reduction, Edge edge) {
    const WriteMessages write = write_kernel(stored, weights, number, edge);
    switch (number) {
        case Number::float32: return reduce_with<float>(reduction, write);
        case Number::float64: return reduce_with<double>(reduction, write);
        case Number::int32: return reduce_with<int32_t>(reduction, write);
        default: return reduce_with<int64_t>(reduction, write);
    }
}

}  // namespace tgraph
