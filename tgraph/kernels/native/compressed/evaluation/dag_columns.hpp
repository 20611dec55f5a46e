// Evaluation of a linear DAG on many columns. A row is reduced in registers, one block of columns after the other,
// through pointers to the data of its children. The latest outputs of a chunk, which the next rows tend to need, are
// kept in a ring buffer in the cache, while the result is written by non-temporal stores: one read and one write of the
// data.
#pragma once

#include <algorithm>
#include <type_traits>
#include <vector>

#include "compressed/evaluation/dag_column.hpp"
#include "compressed/evaluation/dag_plan.hpp"
#include "base/memory.hpp"
#include "base/semiring.hpp"
#include "base/stream.hpp"

namespace tgraph {

template <class A>
TGRAPH_INLINE A minus(A a) {
    if constexpr (std::is_integral_v<A>)
        return static_cast<A>(std::make_unsigned_t<A>{0} - static_cast<std::make_unsigned_t<A>>(a));
    else
        return -a;
}

// Rows to reduce, and the second operand of the edge operation for each.
template <class A>
struct RowList {
    const A* const* rows;
    const A* factors;
    int64_t count;
};

// The kernels of a semiring as function pointers, so that the iteration over rows is compiled once.
template <class A>
struct DagKernels {
    void (*reduce)(A* out, int64_t width, const RowList<A>& list, A identity);
    void (*join)(A* sums, const A* others, int64_t columns);
    bool weighted, multiplies;
};

// Operands of an evaluation.
template <class A>
struct DagData {
    const A* inputs;  // [n, columns]
    A* outputs;       // [n, columns]
    int64_t columns;
    A identity;
    const A *left, *right;  // scale factors of outputs and inputs, null for 1
    DagWeights<A> weights;
};

template <class A>
class DagColumns {
public:
    DagColumns(const DagRows& rows, const DagPlan& plan, const DagData<A>& with, DagKernels<A> kernels)
        : rows_(rows), plan_(plan), with_(with), kernels_(kernels), virtual_(rows.num_virtual() * with.columns),
          pieces_(plan.most_pieces * with.columns),
          streams_(rows.num_vertices * with.columns * static_cast<int64_t>(sizeof(A)) >= streamed_bytes) {
        const int64_t fitting = ring_bytes / (with.columns * static_cast<int64_t>(sizeof(A)));
        while (plan.needs_outputs && 2 * ring_ <= fitting) ring_ *= 2;
        scales_late_ = with.left && (plan.needs_far_outputs || plan.reach >= ring_);
    }

    void run() {
        advise_huge_pages(with_.outputs, rows_.num_vertices * with_.columns * sizeof(A));
        run_phases(plan_, with_.columns, *this);
        if (scales_late_) scale();
    }

    class Worker {
    public:
        explicit Worker(DagColumns& of) : of_(of) {
            listed_.resize(DagPlan::longest);
            factors_.resize(of.kernels_.weighted ? DagPlan::longest : 0);
            room_.resize(of.ring_ * of.with_.columns);
            scaled_.resize(of.with_.left ? of.with_.columns : 0);
        }

        // Orders the non-temporal stores of this thread before reads of the next phase.
        void finish_phase() const { fence_streams(); }

        void piece(const DagPlan::Phase& phase, int64_t i) {
            const DagPiece& piece = of_.plan_.pieces[i];
            list(of_.rows_.row(piece.position), {piece.begin, piece.end}, {0, 0}, 0);
            reduce(of_.pieces_.data() + (i - phase.pieces.begin) * of_.with_.columns);
        }

        void chunk(const DagPlan::Phase& phase, int64_t number) {
            const Range chunk = of_.plan_.chunks[number];
            for (int64_t at = chunk.begin; at < chunk.end; ++at) row(phase, chunk, at);
        }

    private:
        void row(const DagPlan::Phase& phase, Range chunk, int64_t at) {
            const DagData<A>& with = of_.with_;
            const int64_t row = of_.rows_.row(at), output = row - of_.rows_.num_virtual();
            A* sums = output < 0 ? of_.virtual_.data() + row * with.columns : kept(at);
            A* to = output < 0 ? nullptr : with.outputs + output * with.columns;
            if (output >= 0 && !of_.plan_.needs_outputs && !of_.streams_) sums = to;
            if (of_.rows_.degree(row) > DagPlan::longest) {
                long_row(phase, chunk, at, sums);
            } else {
                list(row, {of_.rows_.offset[row], of_.rows_.offset[row + 1]}, chunk, at);
                reduce(sums);
            }
            if (output >= 0) write(to, sums, output);
        }

        A* kept(int64_t at) { return room_.data() + (at & (of_.ring_ - 1)) * of_.with_.columns; }

        void long_row(const DagPlan::Phase& phase, Range chunk, int64_t at, A* sums) {
            const int64_t width = of_.with_.columns;
            std::vector<A> other(width);
            std::fill_n(sums, width, of_.with_.identity);
            const Range range = of_.plan_.pieces_of(phase, at);
            for (int64_t i = range.begin; i < range.end; ++i) {
                const DagPiece& piece = of_.plan_.pieces[i];
                const A* part = of_.pieces_.data() + (i - phase.pieces.begin) * width;
                if (!piece.ready) {
                    list(of_.rows_.row(at), {piece.begin, piece.end}, chunk, at);
                    reduce(other.data());
                    part = other.data();
                }
                of_.kernels_.join(sums, part, width);
            }
        }

        // Lists pointers to the data of the children of a row, which is at position `at` of the order.
        void list(int64_t row, Range arcs, Range chunk, int64_t at) {
            const DagData<A>& with = of_.with_;
            const int64_t n = of_.rows_.num_vertices, first_output = of_.rows_.num_rows;
            count_ = 0;
            for (int64_t i = arcs.begin; i < arcs.end; ++i, ++count_) {
                const int64_t child = of_.rows_.child(i), node = node_of(child);
                if (node < n)
                    listed_[count_] = with.inputs + node * with.columns;
                else if (node < first_output)
                    listed_[count_] = of_.virtual_.data() + (node - n) * with.columns;
                else
                    listed_[count_] = output(node - first_output, chunk, at);
                set_factor(i, row, child, node);
            }
        }

        const A* output(int64_t v, Range chunk, int64_t at) {
            const int64_t place = of_.plan_.place(v + of_.rows_.num_virtual());
            if (place >= chunk.begin && place < chunk.end && at - place < of_.ring_) return kept(place);
            return of_.with_.outputs + v * of_.with_.columns;
        }

        TGRAPH_INLINE void set_factor(int64_t i, int64_t row, int64_t child, int64_t node) {
            const DagData<A>& with = of_.with_;
            if (of_.kernels_.multiplies) {
                const bool is_input = node < of_.rows_.num_vertices;
                A factor = is_input && with.right ? with.right[node] : A{1};
                const bool weighs = with.weights.of_outputs ? row >= of_.rows_.num_virtual() : is_input;
                if (with.weights.values && weighs) factor = times(factor, with.weights.values[i]);
                factors_[count_] = child < 0 ? minus(factor) : factor;
            } else if (of_.kernels_.weighted) {
                factors_[count_] = with.weights.values[i];  // 0 on arcs without a weight
            }
        }

        void reduce(A* sums) const {
            const RowList<A> list{listed_.data(), factors_.data(), count_};
            of_.kernels_.reduce(sums, of_.with_.columns, list, of_.with_.identity);
        }

        void write(A* to, A* sums, int64_t output) {
            const int64_t width = of_.with_.columns;
            if (of_.with_.left && !of_.scales_late_) {
                const A left = of_.with_.left[output];
                for (int64_t f = 0; f < width; ++f) scaled_[f] = times(sums[f], left);
                sums = scaled_.data();
            }
            if (of_.streams_)
                stream(to, sums, width * sizeof(A));
            else if (to != sums)
                std::copy(sums, sums + width, to);
        }

        DagColumns& of_;
        std::vector<const A*> listed_;
        std::vector<A> factors_, room_, scaled_;
        int64_t count_ = 0;
    };
    Worker worker() { return Worker(*this); }

private:
    static constexpr int64_t streamed_bytes = 1 << 25;  // larger results do not stay in the cache
    static constexpr int64_t ring_bytes = 1 << 20;

    // Scales the outputs at the end if other rows needed them unscaled.
    void scale() {
        const int parts = part_count(rows_.num_vertices * with_.columns);
        for_each_part(parts, [&](int part) {
            const Range range = part_of(rows_.num_vertices, part, parts);
            for (int64_t v = range.begin; v < range.end; ++v) {
                A* out = with_.outputs + v * with_.columns;
                for (int64_t f = 0; f < with_.columns; ++f) out[f] = times(out[f], with_.left[v]);
            }
        });
    }

    const DagRows& rows_;
    const DagPlan& plan_;
    DagData<A> with_;
    const DagKernels<A> kernels_;
    Scratch<A> virtual_;
    Scratch<A> pieces_;
    bool streams_, scales_late_ = false;
    int64_t ring_ = 1;  // a power of two
};

}  // namespace tgraph
