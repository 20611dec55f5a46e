// One step of a power iteration, x' = alpha A s + beta b with s = scale x, in one pass over the arcs that also computes
// s', the change |x' - x|, and sums of x'.
//
// Parallel over chunks of equal work, whose sums are added in order, so that the result does not depend on the number
// of threads. A row longer than a chunk is summed in pieces, one per chunk that it overlaps.
#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "linear/affine_call.hpp"
#include "threads/parallel.hpp"

namespace tgraph {
namespace {

// Results of a chunk: norms of its rows, and partial sums of rows longer than a chunk: one that it continues, and one
// that it begins (long_row, or -1).
struct Chunk {
    Sums sums;
    double continued = 0, begun = 0;
    int64_t long_row = -1;
};

template <class Value>
class Step {
public:
    // input : s. sent : s', null if it is x'.
    Step(const SummedArcs<Value>& csr, const Vectors<Value>& vectors, const Value* input, Value* sent)
        : csr_(csr), vectors_(vectors), input_(input), sent_(sent), work_{csr.offset} {
        all_ = work_.before(csr.num_rows);
        grain_ = std::clamp<int64_t>(all_ / 16, 1 << 11, 1 << 16);
        chunks_.resize((all_ + grain_ - 1) / grain_);
    }

    Sums run() {
        for_each_chunk(size(), part_count(all_), [&](int64_t chunk) { take(chunk); });
        finish_long_rows();
        Sums sums;
        for (const Chunk& chunk : chunks_) sums += chunk.sums;
        return sums;
    }

    // Prepares the step after this one: what was written is read, and `other`, the memory of what was read, written.
    void turn(Value* other, double beta, double constant) {
        input_ = sent_ ? sent_ : vectors_.values;
        vectors_.before = vectors_.values;
        (sent_ ? sent_ : vectors_.values) = other;
        vectors_.beta = beta, vectors_.constant = constant;
    }

private:
    int64_t size() const { return static_cast<int64_t>(chunks_.size()); }
    bool is_long(int64_t row) const { return csr_.offset[row + 1] - csr_.offset[row] > grain_; }
    Range work_of(int64_t chunk) const { return {chunk * grain_, std::min((chunk + 1) * grain_, all_)}; }

    // Processes the rows that begin in a chunk, and its pieces of long rows.
    void take(int64_t number) {
        const Range work = work_of(number);
        const int64_t begin = work_.first_row(work.begin, 0, csr_.num_rows);
        int64_t end = work_.first_row(work.end, begin, std::min(begin + grain_, csr_.num_rows));
        Chunk chunk;
        if (begin > 0 && work_.before(begin) > work.begin && is_long(begin - 1))
            chunk.continued = piece(begin - 1, work);
        if (end > begin && is_long(end - 1)) {
            chunk.long_row = --end;
            chunk.begun = piece(end, work);
        }
        double received[batch];
        for (int64_t row = begin; row < end; row += batch) {
            const int64_t count = std::min(batch, end - row);
            csr_.sum(csr_, csr_.offset, input_, {row, row + count}, received);
            finish_rows(vectors_, row, count, received, sent_, chunk.sums);
        }
        chunks_[number] = chunk;
    }

    // The sum over the arcs of a row within a range of work.
    double piece(int64_t row, Range work) const {
        const int64_t arcs[2] = {std::max(csr_.offset[row], work.begin - row),
                                 std::min(csr_.offset[row + 1], work.end - row)};
        double sum = 0;
        csr_.sum(csr_, arcs, input_, {0, 1}, &sum);
        return sum;
    }

    void finish_long_rows() {
        for (int64_t number = 0; number < size(); ++number) {
            Chunk& chunk = chunks_[number];
            if (chunk.long_row < 0) continue;
            double received = chunk.begun;
            const int64_t end = work_.before(chunk.long_row + 1);
            for (int64_t later = number + 1; later < size() && work_of(later).begin < end; ++later)
                received += chunks_[later].continued;
            finish_rows(vectors_, chunk.long_row, 1, &received, sent_, chunk.sums);
        }
    }

    SummedArcs<Value> csr_;
    Vectors<Value> vectors_;
    const Value* input_;
    Value* sent_;
    RowWork work_;
    int64_t all_, grain_;
    std::vector<Chunk> chunks_;
};

// One step, and `most` in all while they change the values by more than `tolerance` and for about `seconds`: those
// after the first have beta = base + rate * (the dangling mass before) and a bias of `number`, or that of the vertices.
// The memory of the input is then written to as well, in turn with that of the result: see Step::turn.
template <class Value, class Neighbor>
std::tuple<double, double, double, int64_t> affine_step(
    In<int64_t> offset, In<Neighbor> neighbors, Weights weights, Out<Value> input, In<Value> before, In<Value> scale,
    In<Value> bias, In<Value> measure, double alpha, double beta, double constant, bool needs_total,
    bool needs_dangling, Out<Value> values, Out<Value> sent, int64_t most, double tolerance, double base, double rate,
    double number, double seconds) {
    const Vectors<Value> vectors{before.data(), scale.data(), bias.data(), measure.data(), values.data(), alpha,
                                 beta,          constant,     1,           needs_total,    needs_dangling};
    SummedArcs<Value> arcs = arcs_of<Value>(offset, neighbors, weights, input);
    with_weights<float, double, int32_t, int64_t>(
        weights, [&]<class Weight>(Weight) { arcs.sum = &sum_arcs<Value, Neighbor, Weight>; });
    Step<Value> step(arcs, vectors, input.data(), sent.data());
    Value *read = input.data(), *written = sent.data() ? sent.data() : values.data();
    const double began = most > 1 ? seconds_now() : 0;
    Sums sums = step.run();
    int64_t steps = 1;
    for (; steps < most && !(sums.change <= tolerance) && seconds_now() - began < seconds; ++steps) {
        const volatile double mass = rate * sums.dangling;  // rounded, as where the steps are taken one by one
        step.turn(read, base + mass, (base + mass) * number);
        std::swap(read, written);
        sums = step.run();
    }
    return {sums.change, sums.total, sums.dangling, steps};
}

}  // namespace

void bind_power(Module& module) {
    const auto define = [&](auto function) {
        module.def("affine_step", function,
                   "offset, neighbors, weights?, input, before, scale?, bias?, measure?, alpha, beta, constant, "
                   "needs_total, needs_dangling, values, sent?, most, tolerance, base, rate, number, seconds");
    };
    define(&affine_step<float, int32_t>);
    define(&affine_step<double, int32_t>);
    define(&affine_step<float, int64_t>);
    define(&affine_step<double, int64_t>);
    module.def("are_apart",
               [](In<int32_t> neighbors) { return are_apart(neighbors.data(),
                                                            static_cast<int64_t>(neighbors.shape(0))); },
               "neighbors", Gil::held);
    bind_gauss_seidel(module);
}

}  // namespace tgraph
