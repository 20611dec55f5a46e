// One step of a Gauss-Seidel iteration, x' = alpha A^T (scale x) + beta b, whose rows hear what others have just sent.
//
// The rows are cut into blocks of equal work, one after the other, and each block into stripes, which threads take: a
// row hears at once what the rows before it in its stripe send, and what rows of other blocks have sent, but from other
// stripes of its block what they sent before the step. So no result depends on the threads. The last block begins:
// vertices that came first to a network tend to be its hubs, and gain from hearing what the others send now. Where
// neighbours are scattered all over the vertices, stripes would gain nothing, and rows hear other blocks alone.
//
// A row of a road network or a web graph waits for the row just before it. A thread goes through several stripes row by
// row in turns, so that it computes on one while another waits.
#include <cmath>
#include <vector>

#include "linear/affine_call.hpp"
#include "threads/parallel.hpp"

namespace tgraph {
namespace {

constexpr int64_t stripe_work = 1 << 13, most_stripes = 64;  // of a block
constexpr int64_t turns = 4;  // stripes that a thread goes through at once

// What the rows of a stripe need.
template <class Value, class Neighbor, class Weight>
struct Sweep {
    WeightedRows<Neighbor, Weight> csr;
    Vectors<Value> vectors;
    Value *heard, *sent;  // what was sent by those who are not of the stripe, and by those who are

    // Without a branch, which would be hard to predict.
    TGRAPH_INLINE double message(int64_t arc, Range stripe) const {
        const int64_t sender = csr.neighbors[arc];
        const auto place = static_cast<uint64_t>(sender - stripe.begin);
        const auto is_own = -static_cast<uintptr_t>(place < static_cast<uint64_t>(stripe.end - stripe.begin));
        const auto other = reinterpret_cast<uintptr_t>(heard), own = reinterpret_cast<uintptr_t>(sent);
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

    // As `sum_of_arcs` adds: the last arcs, up to four, are read with those behind them, which are masked.
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
            for (int lane = 0; arc < end; ++arc, ++lane) last[lane] = message(arc, stripe);
            sums += Doubles{last[0], last[1], last[2], last[3]};
        }
        return (sums[0] + sums[2]) + (sums[1] + sums[3]);
    }

    TGRAPH_INLINE void finish(int64_t row, Range stripe, Sums& sums) const {
        const double constant = vectors.bias ? vectors.beta * vectors.bias[row] : vectors.constant;
        const auto value = static_cast<Value>(vectors.alpha * received(row, stripe) + constant);
        const Value scale = vectors.scale ? vectors.scale[row] : Value{1};
        sent[row] = scale * value;
        sums.change += std::abs(static_cast<double>(value) - static_cast<double>(vectors.before[row]));
        vectors.values[row] = value;
        if (vectors.wants_total)
            sums.total += (vectors.measure ? static_cast<double>(vectors.measure[row]) : 1.0) * value;
        if (vectors.wants_unsent) sums.unsent += unless_sent(value, scale);
    }
};

// Finishes the rows of some adjacent stripes, in turns as long as all have some left where they are as many as that.
template <class Value, class Neighbor, class Weight>
TGRAPH_MULTIVERSION_NARROW void finish_stripes(const Sweep<Value, Neighbor, Weight>& given, const Range* stripes,
                                               int64_t count, Sums& found) {
    const Sweep<Value, Neighbor, Weight> sweep = given;
    Sums sums[turns];
    int64_t shortest = stripes[0].end - stripes[0].begin;
    for (int64_t i = 0; i < count; ++i) {
        shortest = std::min(shortest, stripes[i].end - stripes[i].begin);
        std::copy(sweep.heard + stripes[i].begin, sweep.heard + stripes[i].end, sweep.sent + stripes[i].begin);
    }
    if (count < turns) shortest = 0;
    for (int64_t row = 0; row < shortest; ++row)
#pragma GCC unroll 4
        for (int64_t i = 0; i < turns; ++i) sweep.finish(stripes[i].begin + row, stripes[i], sums[i]);
    for (int64_t i = 0; i < count; ++i)
        for (int64_t row = stripes[i].begin + shortest; row < stripes[i].end; ++row)
            sweep.finish(row, stripes[i], sums[i]);
    for (const Sums& some : sums) found += some;
}

// The same where hardly an arc leads to the own stripe: all rows hear what was sent before.
template <class Value, class Neighbor, class Weight>
void finish_scattered(const Sweep<Value, Neighbor, Weight>& sweep, Range rows, Sums& found) {
    double received[batch];
    for (int64_t row = rows.begin; row < rows.end; row += batch) {
        const int64_t count = std::min(batch, rows.end - row);
        sum_rows(sweep.csr, sweep.heard, {row, row + count}, received);
        finish_rows(sweep.vectors, row, count, received, sweep.sent, found);
    }
}

template <class Value, class Neighbor, class Weight>
class GaussSeidel {
public:
    // `heard` is overwritten with what is sent during the step, `sent` with what is sent after it.
    GaussSeidel(const Sweep<Value, Neighbor, Weight>& sweep, int64_t num_blocks)
        : sweep_(sweep),
          work_{sweep.csr.offset},
          blocks_(cut({0, sweep.csr.num_rows}, num_blocks)),
          num_stripes_(std::clamp<int64_t>(all() / num_blocks / stripe_work, 1, most_stripes)) {}

    Sums run() {
        const int threads = part_count(all());
        if (const Value rescale = sweep_.vectors.rescale; rescale != 1)
            each_part({0, sweep_.csr.num_rows}, [&](Range rows) {
                for (int64_t row = rows.begin; row < rows.end; ++row) sweep_.heard[row] *= rescale;
            });
        Sums sums;
        for (std::size_t i = blocks_.size(); i-- > 0;) {
            const std::vector<Range> stripes = cut(blocks_[i], num_stripes_);
            std::vector<Sums> found((num_stripes_ + turns - 1) / turns);
            for_each_chunk(static_cast<int64_t>(found.size()), threads, [&](int64_t turn) {
                const int64_t first = turn * turns;
                const int64_t last = std::min(first + turns, num_stripes_);
                if (sweep_.csr.scattered)
                    finish_scattered(sweep_, {stripes[first].begin, stripes[last - 1].end}, found[turn]);
                else
                    finish_stripes(sweep_, &stripes[first], last - first, found[turn]);
            });
            for (const Sums& some : found) sums += some;
            if (i > 0)
                each_part(blocks_[i], [&](Range rows) {
                    std::copy(sweep_.sent + rows.begin, sweep_.sent + rows.end, sweep_.heard + rows.begin);
                });
        }
        return sums;
    }

private:
    int64_t all() const { return work_.before(sweep_.csr.num_rows); }

    // Some adjacent rows as parts of about equal work.
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

    Sweep<Value, Neighbor, Weight> sweep_;
    RowWork work_;
    std::vector<Range> blocks_;
    int64_t num_stripes_;
};

// For vertices that 32 bits can name, and weights of the numbers that are common: each takes seconds to compile.
template <class Value>
Numbers gauss_seidel_step(In<int64_t> offset, In<int32_t> neighbors, std::optional<Weights> weights, Out<Value> heard,
                          In<Value> before, Optional<Value> scale, Optional<Value> bias, Optional<Value> measure,
                          double alpha, double beta, double constant, double rescale, bool wants_total,
                          bool wants_unsent, Out<Value> values, Out<Value> sent, int64_t blocks) {
    const Vectors<Value> vectors{before.data(), data_of<Value>(scale), data_of<Value>(bias), data_of<Value>(measure),
                                 values.data(), alpha,                 beta,                 constant,
                                 static_cast<Value>(rescale), wants_total,    wants_unsent};
    return with_weights<float, double, int32_t>(
        offset, neighbors, weights, [&]<class Weight>(WeightedRows<int32_t, Weight> rows) {
            rows.scattered = is_scattered(rows.neighbors, rows.num_rows, rows.num_arcs);
            return GaussSeidel<Value, int32_t, Weight>({rows, vectors, heard.data(), sent.data()}, blocks).run();
        });
}

}  // namespace

void bind_gauss_seidel(nb::module_& module) {
    using nb::arg;
    const auto define = [&](auto function) {
        module.def("gauss_seidel_step", function, arg("offset").noconvert(), arg("neighbors").noconvert(),
                   arg("weights").noconvert().none(), arg("heard").noconvert(), arg("before").noconvert(),
                   arg("scale").noconvert().none(), arg("bias").noconvert().none(), arg("measure").noconvert().none(),
                   arg("alpha"), arg("beta"), arg("constant"), arg("rescale"), arg("wants_total"), arg("wants_unsent"),
                   arg("values").noconvert(), arg("sent").noconvert(), arg("blocks"),
                   nb::call_guard<nb::gil_scoped_release>());
    };
    define(&gauss_seidel_step<float>);
    define(&gauss_seidel_step<double>);
}

}  // namespace tgraph
