// Sum, mean, min and max over the neighbors of each row of a mini-batch in float32 or float64, sums in float32 of what
// is stored in 16 bits, and the gradient of the sums by a scatter. Rows are short, so overhead per row and per call
// counts. Parallel over rows; each sum is added in arc order, whatever the number of threads.
#include <algorithm>
#include <stdexcept>

#include "base/bindings.hpp"
#include "base/numbers.hpp"
#include "base/selection.hpp"
#include "base/semiring.hpp"

namespace tgraph {
namespace {

// A CSR matrix with feature width `columns`; `weights` is null if all are 1. `own` is the coefficient of a row's own
// data in its sum (a self-loop), 0 for none; otherwise rows and neighbors are the same vertices.
template <class A>
struct BatchArcs {
    const int64_t* offset;
    const int32_t* neighbors;
    int64_t rows, arcs, columns;
    const A* weights;
    bool mean;
    A own;

    Range of(int64_t row) const { return {offset[row], offset[row + 1]}; }
    A divisor(Range arcs) const { return mean ? static_cast<A>(std::max<int64_t>(arcs.end - arcs.begin, 1)) : A{1}; }
};

inline constexpr int64_t lookahead = 16;
inline constexpr int64_t grain = 1 << 15;  // arcs * columns of a chunk
inline constexpr int64_t numbers_per_item = 16;  // additions that take the time of an item of other loops (part_count)

// Sums of adjacent columns of a row, in registers.
template <bool weighted, int vectors, class A, class Stored>
TGRAPH_INLINE void take_block(const BatchArcs<A>& with, Range arcs, const Stored* data, const Stored* own, A* out) {
    constexpr int lanes = narrow_bytes / sizeof(A);
    using Lanes = Vector<A, lanes>;
    Lanes sum[vectors] = {};
    if (with.own != 0)
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v) sum[v] = with.own * load<A, lanes>(own + v * lanes);
    for (int64_t i = arcs.begin; i < arcs.end; ++i) {
        const Stored* const from = data + with.neighbors[i] * with.columns;
        const Stored* const coming = data + with.neighbors[std::min(i + lookahead, with.arcs - 1)] * with.columns;
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v) {
            if (v * lanes * sizeof(Stored) % 64 == 0) fetch(coming + v * lanes);
            if constexpr (weighted)
                sum[v] += with.weights[i] * load<A, lanes>(from + v * lanes);
            else
                sum[v] += load<A, lanes>(from + v * lanes);
        }
    }
    const A divisor = with.divisor(arcs);
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v)
        *reinterpret_cast<Lanes*>(out + v * lanes) = with.mean ? sum[v] / divisor : sum[v];
}

template <bool weighted, class A, class Stored>
TGRAPH_MULTIVERSION_NARROW void take_row(const BatchArcs<A>& with, int64_t row, const Stored* data, A* out) {
    constexpr int lanes = narrow_bytes / sizeof(A);
    const Range arcs = with.of(row);
    A* const to = out + row * with.columns;
    const Stored* const own = data + (with.own != 0 ? row * with.columns : 0);
    const int64_t columns = with.columns;
    int64_t f = 0;
    for (; f + 8 * lanes <= columns; f += 8 * lanes) take_block<weighted, 8>(with, arcs, data + f, own + f, to + f);
    for (; f + 2 * lanes <= columns; f += 2 * lanes) take_block<weighted, 2>(with, arcs, data + f, own + f, to + f);
    for (; f + lanes <= columns; f += lanes) take_block<weighted, 1>(with, arcs, data + f, own + f, to + f);
    for (; f < columns; ++f) {
        A sum = with.own != 0 ? with.own * widen(own[f]) : A{0};
        for (int64_t i = arcs.begin; i < arcs.end; ++i) {
            const A sent = widen(data[with.neighbors[i] * with.columns + f]);
            sum += weighted ? with.weights[i] * sent : sent;
        }
        to[f] = sum / with.divisor(arcs);
    }
}

// Min or max of adjacent columns of a row, which is not empty.
template <class Reduce, int vectors, class A>
TGRAPH_INLINE void best_block(const BatchArcs<A>& with, Range arcs, const A* data, A* out) {
    constexpr int lanes = narrow_bytes / sizeof(A);
    Vector<A, lanes> best[vectors];
    const A* const first = data + with.neighbors[arcs.begin] * with.columns;
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) best[v] = load<A, lanes>(first + v * lanes);
    for (int64_t i = arcs.begin + 1; i < arcs.end; ++i) {
        const A* const from = data + with.neighbors[i] * with.columns;
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v) best[v] = Reduce::apply(best[v], load<A, lanes>(from + v * lanes));
    }
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) *reinterpret_cast<Vector<A, lanes>*>(out + v * lanes) = best[v];
}

template <class Reduce, class A>
TGRAPH_MULTIVERSION_NARROW void best_row(const BatchArcs<A>& with, int64_t row, const A* data, A empty, A* out) {
    constexpr int lanes = narrow_bytes / sizeof(A);
    const Range arcs = with.of(row);
    const int64_t columns = with.columns;
    A* const to = out + row * columns;
    if (arcs.begin == arcs.end) {
        std::fill_n(to, columns, empty);
        return;
    }
    int64_t f = 0;
    for (; f + 8 * lanes <= columns; f += 8 * lanes) best_block<Reduce, 8>(with, arcs, data + f, to + f);
    for (; f + lanes <= columns; f += lanes) best_block<Reduce, 1>(with, arcs, data + f, to + f);
    for (; f < columns; ++f) {
        A best = data[with.neighbors[arcs.begin] * columns + f];
        for (int64_t i = arcs.begin + 1; i < arcs.end; ++i)
            best = Reduce::apply(best, data[with.neighbors[i] * columns + f]);
        to[f] = best;
    }
}

template <class A>
TGRAPH_MULTIVERSION_NARROW void scatter_row(const BatchArcs<A>& with, int64_t row, const A* numbers, A* out) {
    const Range arcs = with.of(row);
    const A* const from = numbers + row * with.columns;
    const A factor = A{1} / with.divisor(arcs);
    for (int64_t i = arcs.begin; i < arcs.end; ++i) {
        const A weight = with.weights ? factor * with.weights[i] : factor;
        A* const sums = out + with.neighbors[i] * with.columns;
#pragma GCC ivdep
        for (int64_t f = 0; f < with.columns; ++f) sums[f] += weight * from[f];
    }
}

template <class A>
BatchArcs<A> batch_arcs(const In<int32_t>& neighbors, const In<int64_t>& offset, int64_t columns, const In<A>& weights,
                        bool mean, A own, int64_t others) {
    const auto arcs = static_cast<int64_t>(neighbors.shape(0));
    if (columns < 1 || !offset.shape(0)) throw std::invalid_argument("columns, offset: expected 1 or more numbers");
    if (weights.is_valid() && static_cast<int64_t>(weights.shape(0)) != arcs)
        throw std::invalid_argument("weights: expected [arcs]");
    const auto rows = static_cast<int64_t>(offset.shape(0)) - 1;
    if (others % columns || (own != 0 && others != rows * columns))
        throw std::invalid_argument("data, out: expected [num_sources, columns], and [rows, columns] where own != 0");
    return {offset.data(), neighbors.data(), rows, arcs, columns, weights.data(), mean, own};
}

// Calls visit(row) for all rows, in edge-balanced chunks that do not depend on the number of threads.
template <class A, class Visit>
void each_batch_row(const BatchArcs<A>& with, Visit visit) {
    const int64_t carried = (with.arcs + with.rows) * with.columns, chunks = carried / grain + 1;
    const auto first_row = [&](int64_t chunk) {
        const int64_t* const begin = with.offset;
        if (chunk == 0 || chunk == chunks) return chunk ? with.rows : 0;
        return std::lower_bound(begin, begin + with.rows, with.arcs * chunk / chunks) - begin;
    };
    for_each_chunk(chunks, part_count(carried / numbers_per_item), [&](int64_t chunk) {
        for (int64_t row = first_row(chunk), end = first_row(chunk + 1); row < end; ++row) visit(row);
    });
}

// out[row] = sum or mean of the weighted data of its neighbors: [rows, columns] from data [num_sources, columns].
template <class A, class Stored>
void take_sums(In<int32_t> neighbors, In<int64_t> offset, In<Passed<Stored>> data, int64_t columns, In<A> weights,
               bool mean, A own, Out<A> out) {
    const BatchArcs<A> with = batch_arcs(neighbors, offset, columns, weights, mean, own, data.shape(0));
    if (static_cast<int64_t>(out.shape(0)) != with.rows * columns)
        throw std::invalid_argument("out: expected [rows, columns]");
    const auto* const stored = reinterpret_cast<const Stored*>(data.data());
    each_batch_row(with, [&](int64_t row) {
        if (with.weights)
            take_row<true>(with, row, stored, out.data());
        else
            take_row<false>(with, row, stored, out.data());
    });
}

// out[row] = min or max over its neighbors, per column; `empty` for a row without any.
template <class A>
void take_best(In<int32_t> neighbors, In<int64_t> offset, In<A> data, int64_t columns, bool greatest, A empty,
               Out<A> out) {
    const BatchArcs<A> with = batch_arcs(neighbors, offset, columns, In<A>(), false, A{0}, data.shape(0));
    if (static_cast<int64_t>(out.shape(0)) != with.rows * columns)
        throw std::invalid_argument("out: expected [rows, columns]");
    each_batch_row(with, [&](int64_t row) {
        if (greatest)
            best_row<Greater>(with, row, data.data(), empty, out.data());
        else
            best_row<Lesser>(with, row, data.data(), empty, out.data());
    });
}

// The gradient of `take_sums`: scatters numbers [rows, columns] to the neighbors, out [num_sources, columns]. On one
// thread, which for a mini-batch takes less time than a transpose.
template <class A>
void give_sums(In<int32_t> neighbors, In<int64_t> offset, In<A> numbers, int64_t columns, In<A> weights, bool mean,
               A own, Out<A> out) {
    const BatchArcs<A> with = batch_arcs(neighbors, offset, columns, weights, mean, own, out.shape(0));
    if (static_cast<int64_t>(numbers.shape(0)) != with.rows * columns)
        throw std::invalid_argument("numbers: expected [rows, columns]");
    for (std::size_t i = 0; i < out.shape(0); ++i) out.data()[i] = own != 0 ? own * numbers.data()[i] : A{0};
    for (int64_t row = 0; row < with.rows; ++row) scatter_row(with, row, numbers.data(), out.data());
}

template <class A>
void bind(Module& module) {
    module.def("take_sums", &take_sums<A, A>, "neighbors, offset, data, columns, weights?, mean, own, out");
    module.def("give_sums", &give_sums<A>, "neighbors, offset, numbers, columns, weights?, mean, own, out");
    module.def("take_best", &take_best<A>, "neighbors, offset, data, columns, greatest, empty, out");
}

}  // namespace

void bind_batch_sums(Module& module) {
    bind<float>(module);
    bind<double>(module);
    module.def("take_sums_float16", &take_sums<float, Float16>,
               "neighbors, offset, data, columns, weights?, mean, own, out");
    module.def("take_sums_bfloat16", &take_sums<float, BFloat16>,
               "neighbors, offset, data, columns, weights?, mean, own, out");
}

}  // namespace tgraph
