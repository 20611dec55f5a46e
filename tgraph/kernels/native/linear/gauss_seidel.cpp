// One step of a Gauss-Seidel iteration, x' = alpha A^T (scale x) + beta b, in which rows use updated values of others.
//
// The rows are cut into blocks of equal work, processed one after the other, and each block into stripes, processed in
// parallel: a row uses the values of its stripe and of processed blocks as they are by then, and old values of other
// stripes of its block. So the result does not depend on the number of threads. The last block comes first: vertices
// with small ids tend to be hubs, which profit most from updated values. If neighbors are scattered over all vertices,
// few are in the own stripe, and only values of other blocks are updated.
//
// In road networks and web graphs a row often depends on the row before it. A thread cuts its stripe into several
// strips and takes a row of each in turn, to hide the latency of this dependency.
#include <bit>
#include <cmath>
#include <vector>

#include "linear/affine_call.hpp"
#include "threads/parallel.hpp"

namespace tgraph {
namespace {

constexpr int64_t stripe_work = 1 << 14, most_stripes = 64;  // of a block
constexpr int64_t interleaved = 4;  // strips of a stripe

// Operands of a sweep, and the kernel that processes a stripe, given its strips.
template <class Value>
struct Sweep {
    SummedArcs<Value> arcs;
    Vectors<Value> vectors;
    Value *input, *sent;  // scaled values of vertices outside of the stripe, and of the stripe
    void (*finish)(const Sweep& sweep, const Range* strips, Sums& found);
};

template <class Value, class Weight>
struct Stripes {
    WeightedRows<int32_t, Weight> csr;
    Vectors<Value> vectors;
    Value *input, *sent;

    // Selects the source of the value without a branch, which would be unpredictable.
    TGRAPH_INLINE double message(int64_t arc, Range stripe) const {
        const int64_t sender = csr.neighbors[arc];
        const auto place = static_cast<uint64_t>(sender - stripe.begin);
        const auto is_own = -static_cast<uintptr_t>(place < static_cast<uint64_t>(stripe.end - stripe.begin));
        const auto other = reinterpret_cast<uintptr_t>(input), own = reinterpret_cast<uintptr_t>(sent);
        const auto* from = reinterpret_cast<const Value*>(other ^ ((other ^ own) & is_own));
        const auto value = static_cast<double>(from[sender]);
        if constexpr (std::is_same_v<Weight, Unweighted>)
            return value;
        else
            return value * static_cast<double>(csr.weights[arc]);
    }

    TGRAPH_INLINE Doubles four_messages(int64_t arc, Range stripe) const {
        return Doubles{message(arc, stripe), message(arc + 1, stripe), message(arc + 2, stripe),
                       message(arc + 3, stripe)};
    }

    // In the same order as `sum_of_arcs`: the last one to four arcs are read as a full vector and masked.
    TGRAPH_INLINE double received(int64_t row, Range stripe) const {
        int64_t arc = csr.offset[row];
        const int64_t end = csr.offset[row + 1];
        Doubles sums = {};
        for (; end - arc > 4; arc += 4) sums += four_messages(arc, stripe);
        if (arc + 4 <= csr.num_arcs) [[likely]] {
            const int64_t* lanes = first_lanes[end - arc];
            const Integers mask = {lanes[0], lanes[1], lanes[2], lanes[3]};
            sums += std::bit_cast<Doubles>(std::bit_cast<Integers>(four_messages(arc, stripe)) & mask);
        } else {
            double last[4] = {};
            read_last(arc, end, stripe, last);
            sums += Doubles{last[0], last[1], last[2], last[3]};
        }
        return (sums[0] + sums[2]) + (sums[1] + sums[3]);
    }

    [[gnu::noinline, gnu::cold]] void read_last(int64_t arc, int64_t end, Range stripe, double* messages) const {
        for (; arc < end; ++arc) *messages++ = message(arc, stripe);
    }

    TGRAPH_INLINE void finish(int64_t row, Range stripe, Sums& sums) const {
        const double constant = vectors.bias ? vectors.beta * vectors.bias[row] : vectors.constant;
        const auto value = static_cast<Value>(vectors.alpha * received(row, stripe) + constant);
        const Value scale = vectors.scale ? vectors.scale[row] : Value{1};
        sent[row] = scale * value;
        sums.change += std::abs(static_cast<double>(value) - static_cast<double>(vectors.before[row]));
        vectors.values[row] = value;
        if (vectors.needs_total)
            sums.total += (vectors.measure ? static_cast<double>(vectors.measure[row]) : 1.0) * value;
        if (vectors.needs_dangling) sums.dangling += dangling(value, scale);
    }
};

// Processes a stripe: a row of each strip in turn, as long as all have rows left.
template <class Value, class Weight>
TGRAPH_MULTIVERSION_NARROW void finish_strips(const Stripes<Value, Weight>& given, const Range* strips, Sums& found) {
    const Stripes<Value, Weight> sweep = given;
    const Range stripe{strips[0].begin, strips[interleaved - 1].end};
    std::copy(sweep.input + stripe.begin, sweep.input + stripe.end, sweep.sent + stripe.begin);
    int64_t shortest = stripe.end - stripe.begin;
    for (int64_t i = 0; i < interleaved; ++i) shortest = std::min(shortest, strips[i].end - strips[i].begin);
    Sums sums[interleaved];
    for (int64_t row = 0; row < shortest; ++row)
#pragma GCC unroll 4
        for (int64_t i = 0; i < interleaved; ++i) sweep.finish(strips[i].begin + row, stripe, sums[i]);
    for (int64_t i = 0; i < interleaved; ++i)
        for (int64_t row = strips[i].begin + shortest; row < strips[i].end; ++row) sweep.finish(row, stripe, sums[i]);
    for (const Sums& some : sums) found += some;
}

template <class Value, class Weight>
void finish_as(const Sweep<Value>& sweep, const Range* strips, Sums& found) {
    const auto csr = rows_of<Value, int32_t, Weight>(sweep.arcs, sweep.arcs.offset);
    finish_strips(Stripes<Value, Weight>{csr, sweep.vectors, sweep.input, sweep.sent}, strips, found);
}

// The same for scattered neighbors: all rows of the block use the values from before.
template <class Value>
void finish_scattered(const Sweep<Value>& sweep, Range rows, Sums& found) {
    double received[batch];
    for (int64_t row = rows.begin; row < rows.end; row += batch) {
        const int64_t count = std::min(batch, rows.end - row);
        sweep.arcs.sum(sweep.arcs, sweep.arcs.offset, sweep.input, {row, row + count}, received);
        finish_rows(sweep.vectors, row, count, received, sweep.sent, found);
    }
}

template <class Value>
class GaussSeidel {
public:
    // `input` is overwritten during the step; `sent` holds the scaled values after it.
    GaussSeidel(const Sweep<Value>& sweep, int64_t num_blocks)
        : sweep_(sweep),
          work_{sweep.arcs.offset},
          blocks_(cut({0, sweep.arcs.num_rows}, num_blocks)),
          num_stripes_(std::min(most_stripes, static_cast<int64_t>(std::bit_ceil(
                                                  static_cast<uint64_t>(all() / num_blocks / stripe_work))))) {}

    Sums run() {
        const int threads = part_count(all());
        if (const Value rescale = sweep_.vectors.rescale; rescale != 1)
            each_part({0, sweep_.arcs.num_rows}, [&](Range rows) {
                for (int64_t row = rows.begin; row < rows.end; ++row) sweep_.input[row] *= rescale;
            });
        Sums sums;
        for (std::size_t i = blocks_.size(); i-- > 0;) {
            const std::vector<Range> strips = cut(blocks_[i], num_stripes_ * interleaved);
            std::vector<Sums> found(num_stripes_);
            for_each_chunk(num_stripes_, threads, [&](int64_t stripe) {
                const Range* of_stripe = &strips[stripe * interleaved];
                if (sweep_.arcs.scattered)
                    finish_scattered(sweep_, {of_stripe[0].begin, of_stripe[interleaved - 1].end}, found[stripe]);
                else
                    sweep_.finish(sweep_, of_stripe, found[stripe]);
            });
            for (const Sums& some : found) sums += some;
            if (i > 0)
                each_part(blocks_[i], [&](Range rows) {
                    std::copy(sweep_.sent + rows.begin, sweep_.sent + rows.end, sweep_.input + rows.begin);
                });
        }
        return sums;
    }

private:
    int64_t all() const { return work_.before(sweep_.arcs.num_rows); }

    // Cuts rows into parts of about equal work.
    std::vector<Range> cut(Range rows, int64_t parts) const {
        const int64_t begin = work_.before(rows.begin), all = work_.before(rows.end) - begin;
        std::vector<Range> found;
        for (int64_t part = 0, row = rows.begin; part < parts; ++part) {
            const int64_t end = work_.first_row(begin + part_of(all, part, parts).end, row, rows.end);
            found.push_back({row, end});
            row = end;
        }
        return found;
    }

    template <class Visit>
    void each_part(Range rows, const Visit& visit) const {
        const int parts = part_count(rows.end - rows.begin);
        for_each_part(parts, [&](int part) {
            const Range some = part_of(rows.end - rows.begin, part, parts);
            visit(Range{rows.begin + some.begin, rows.begin + some.end});
        });
    }

    Sweep<Value> sweep_;
    RowWork work_;
    std::vector<Range> blocks_;
    int64_t num_stripes_;
};

// Compiled for 32-bit neighbors and common dtypes of weights: each takes seconds to compile.
template <class Value>
Numbers gauss_seidel_step(In<int64_t> offset, In<int32_t> neighbors, Weights weights, Out<Value> input,
                          In<Value> before, In<Value> scale, In<Value> bias, In<Value> measure, double alpha,
                          double beta, double constant, double rescale, bool needs_total, bool needs_dangling,
                          Out<Value> values, Out<Value> sent, int64_t blocks) {
    const Vectors<Value> vectors{before.data(), scale.data(), bias.data(), measure.data(),
                                 values.data(), alpha,        beta,        constant,
                                 static_cast<Value>(rescale), needs_total, needs_dangling};
    Sweep<Value> sweep{arcs_of<Value>(offset, neighbors, weights, input), vectors, input.data(), sent.data(), nullptr};
    with_weights<float, double, int32_t>(weights, [&]<class Weight>(Weight) {
        sweep.arcs.sum = &sum_arcs<Value, int32_t, Weight>;
        sweep.finish = &finish_as<Value, Weight>;
    });
    const Sums sums = GaussSeidel<Value>(sweep, blocks).run();
    return Numbers(sums.change, sums.total, sums.dangling);
}

}  // namespace

void bind_gauss_seidel(Module& module) {
    const auto define = [&](auto function) {
        module.def("gauss_seidel_step", function,
                   "offset, neighbors, weights?, input, before, scale?, bias?, measure?, alpha, beta, constant, "
                   "rescale, needs_total, needs_dangling, values, sent, blocks");
    };
    define(&gauss_seidel_step<float>);
    define(&gauss_seidel_step<double>);
}

}  // namespace tgraph
