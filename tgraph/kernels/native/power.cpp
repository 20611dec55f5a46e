// One step of a power iteration, x' = alpha A s + beta b with s = scale x, in one pass over the arcs that also computes
// what the next step asks for: s', the change |x' - x|, and sums of x'.
//
// The work is cut into chunks of fixed size, whose sums are added in order: no result depends on the threads. A row
// longer than a chunk is summed in pieces, one by each chunk that it reaches into.
//
// Block Gauss-Seidel: the rows are cut into blocks, one after the other, and what a block sends is replaced before the
// next one begins. The last block begins: vertices that came first to a network tend to be its hubs, and gain from
// hearing what the others send now.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <vector>

#include "affine.hpp"
#include "bindings.hpp"
#include "gather.hpp"
#include "parallel.hpp"
#include "simd.hpp"

namespace tgraph {
namespace {

// Rows, and the work on them from the first on: one for each row and one for each arc, so that arc i of row r stands
// at i + r.
struct Block {
    Range rows, work;
    int64_t first_chunk, num_chunks;
};

// What a chunk leaves to be put together: the sums of its rows, and pieces of rows longer than a chunk, of one that it
// continues and one that it begins (long_row, or -1).
struct Chunk {
    Sums sums;
    double continued = 0, begun = 0;
    int64_t long_row = -1;
};

template <class Value, class Neighbor, class Weight>
class Step {
public:
    // The rows hear `heard` and send into `sent`, which is null where values are sent as they are. Where the two are
    // the same, every block hears what those before it send.
    Step(const WeightedRows<Neighbor, Weight>& csr, const Vectors<Value>& vectors, const Value* heard, Value* sent,
         int64_t num_blocks)
        : csr_(csr), vectors_(vectors), heard_(heard), sent_(sent), in_place_(heard == sent) {
        const int64_t work = work_before(csr.num_rows);
        grain_ = std::clamp<int64_t>(work / (16 * num_blocks), 1 << 11, 1 << 16);
        int64_t chunks = 0, row = 0;
        for (int64_t i = 0; i < num_blocks; ++i) {
            const int64_t end = first_row(part_end(work, i, num_blocks), row, csr.num_rows);
            const Range span{work_before(row), work_before(end)};
            const int64_t count = (span.end - span.begin + grain_ - 1) / grain_;
            blocks_.push_back({{row, end}, span, chunks, count});
            chunks += count;
            row = end;
        }
        chunks_.resize(chunks);
    }

    Sums run() {
        if (in_place_ && vectors_.rescale != 1)
            each_row_of({0, csr_.num_rows}, [&](int64_t row) { sent_[row] *= vectors_.rescale; });
        const int threads = part_count(work_before(csr_.num_rows));
        for (std::size_t i = blocks_.size(); i-- > 0;) {
            const Block& block = blocks_[i];
            for_each_chunk(block.num_chunks, threads, [&](int64_t chunk) { take(block, chunk); });
            finish_long_rows(block);
            if (in_place_) send(block);
        }
        Sums sums;
        for (const Chunk& chunk : chunks_) sums += chunk.sums;
        return sums;
    }

private:
    static int64_t part_end(int64_t items, int64_t part, int64_t parts) {
        return items / parts * (part + 1) + std::min(part + 1, items % parts);
    }

    int64_t work_before(int64_t row) const { return csr_.offset[row] + row; }
    bool is_long(int64_t row) const { return csr_.offset[row + 1] - csr_.offset[row] > grain_; }

    // The first row of [low, high) before which there is at least so much work; high where there is none.
    int64_t first_row(int64_t work, int64_t low, int64_t high) const {
        while (low < high) {
            const int64_t middle = low + (high - low) / 2;
            if (work_before(middle) < work)
                low = middle + 1;
            else
                high = middle;
        }
        return low;
    }

    Range work_of(const Block& block, int64_t chunk) const {
        const int64_t begin = block.work.begin + chunk * grain_;
        return {begin, std::min(begin + grain_, block.work.end)};
    }

    // The rows that begin in a chunk, and its pieces of long ones.
    void take(const Block& block, int64_t number) {
        const Range work = work_of(block, number);
        const int64_t begin = first_row(work.begin, block.rows.begin, block.rows.end);
        int64_t end = first_row(work.end, begin, std::min(begin + grain_, block.rows.end));
        Chunk chunk;
        if (begin > block.rows.begin && work_before(begin) > work.begin && is_long(begin - 1))
            chunk.continued = piece(begin - 1, work);
        if (end > begin && is_long(end - 1)) {
            chunk.long_row = --end;
            chunk.begun = piece(end, work);
        }
        double received[batch];
        for (int64_t row = begin; row < end; row += batch) {
            const int64_t count = std::min(batch, end - row);
            sum_rows(csr_, heard_, {row, row + count}, received);
            finish_rows(vectors_, row, count, received, in_place_ ? nullptr : sent_, chunk.sums);
        }
        chunks_[block.first_chunk + number] = chunk;
    }

    // The sum over the arcs of a row that stand in some work.
    double piece(int64_t row, Range work) const {
        const int64_t arcs[2] = {std::max(csr_.offset[row], work.begin - row),
                                 std::min(csr_.offset[row + 1], work.end - row)};
        auto one = csr_;
        one.offset = arcs;
        double sum = 0;
        sum_rows(one, heard_, {0, 1}, &sum);
        return sum;
    }

    void finish_long_rows(const Block& block) {
        for (int64_t number = 0; number < block.num_chunks; ++number) {
            Chunk& chunk = chunks_[block.first_chunk + number];
            if (chunk.long_row < 0) continue;
            double received = chunk.begun;
            const int64_t end = work_before(chunk.long_row + 1);
            for (int64_t later = number + 1; later < block.num_chunks && work_of(block, later).begin < end; ++later)
                received += chunks_[block.first_chunk + later].continued;
            finish_rows(vectors_, chunk.long_row, 1, &received, sent_, chunk.sums);
        }
    }

    // Replaces what the rows of a block send, but for the long ones, which have been sent.
    void send(const Block& block) {
        const Value *scale = vectors_.scale, *values = vectors_.values;
        each_row_of(block.rows, [&](int64_t row) {
            if (!is_long(row)) sent_[row] = scale ? scale[row] * values[row] : values[row];
        });
    }

    template <class Visit>
    void each_row_of(Range rows, const Visit& visit) const {
        const int parts = part_count(rows.end - rows.begin);
        for_each_part(parts, [&](int part) {
            const Range some = part_of(rows.end - rows.begin, part, parts);
            for (int64_t row = rows.begin + some.begin; row < rows.begin + some.end; ++row) visit(row);
        });
    }

    WeightedRows<Neighbor, Weight> csr_;
    Vectors<Value> vectors_;
    const Value* heard_;
    Value* sent_;
    bool in_place_;
    int64_t grain_;
    std::vector<Block> blocks_;
    std::vector<Chunk> chunks_;
};

using Weights = In<void>;  // of whichever number

template <class T>
using Optional = std::optional<In<T>>;

template <class T>
const T* data_of(const Optional<T>& array) {
    return array ? array->data() : nullptr;
}

using Numbers = std::tuple<double, double, double>;  // the change, the total, and what is not sent

template <class Value, class Neighbor>
Numbers affine_step(In<int64_t> offset, In<Neighbor> neighbors, std::optional<Weights> weights, In<Value> heard,
                    In<Value> before, Optional<Value> scale, Optional<Value> bias, Optional<Value> measure,
                    double alpha, double beta, double constant, double rescale, bool wants_total, bool wants_unsent,
                    Out<Value> values, std::optional<Out<Value>> sent, int64_t blocks) {
    const Vectors<Value> vectors{before.data(), data_of<Value>(scale), data_of<Value>(bias), data_of<Value>(measure),
                                 values.data(), alpha,                 beta,                 constant,
                                 static_cast<Value>(rescale), wants_total,    wants_unsent};
    const auto step = [&]<class Weight>(const Weight* arc_weights) {
        const auto num_rows = static_cast<int64_t>(offset.shape(0)) - 1;
        const auto num_arcs = static_cast<int64_t>(neighbors.shape(0));
        const WeightedRows<Neighbor, Weight> csr{
            offset.data(), neighbors.data(), arc_weights,
            num_rows,      num_arcs,         is_scattered(neighbors.data(), num_rows, num_arcs)};
        const Sums sums =
            Step<Value, Neighbor, Weight>(csr, vectors, heard.data(), sent ? sent->data() : nullptr, blocks).run();
        return Numbers(sums.change, sums.total, sums.unsent);
    };
    if (!weights) return step(static_cast<const Unweighted*>(nullptr));
    if (weights->dtype() == nb::dtype<float>()) return step(static_cast<const float*>(weights->data()));
    if (weights->dtype() == nb::dtype<double>()) return step(static_cast<const double*>(weights->data()));
    if (weights->dtype() == nb::dtype<int32_t>()) return step(static_cast<const int32_t*>(weights->data()));
    if (weights->dtype() == nb::dtype<int64_t>()) return step(static_cast<const int64_t*>(weights->data()));
    throw std::invalid_argument("weights: expected float32, float64, int32 or int64");
}

}  // namespace

void bind_power(nb::module_& module) {
    using nb::arg;
    const auto define = [&](auto function) {
        module.def("affine_step", function, arg("offset").noconvert(), arg("neighbors").noconvert(),
                   arg("weights").noconvert().none(), arg("heard").noconvert(), arg("before").noconvert(),
                   arg("scale").noconvert().none(), arg("bias").noconvert().none(), arg("measure").noconvert().none(),
                   arg("alpha"), arg("beta"), arg("constant"), arg("rescale"), arg("wants_total"), arg("wants_unsent"),
                   arg("values").noconvert(), arg("sent").noconvert().none(), arg("blocks"),
                   nb::call_guard<nb::gil_scoped_release>());
    };
    define(&affine_step<float, int32_t>);
    define(&affine_step<double, int32_t>);
    define(&affine_step<float, int64_t>);
    define(&affine_step<double, int64_t>);
    module.def(
        "are_apart",
        [](In<int32_t> neighbors) { return are_apart(neighbors.data(), static_cast<int64_t>(neighbors.shape(0))); },
        arg("neighbors").noconvert());
}

}  // namespace tgraph
