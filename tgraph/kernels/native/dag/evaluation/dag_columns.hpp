// Evaluation of a linear DAG on many columns. A row is reduced in registers, one block of columns after the other,
// through pointers to the data of its children. The latest outputs of a chunk, which the next rows tend to need, are
// kept in a ring buffer in the cache, while the result is written by non-temporal stores: one read and one write of the
// data.
#pragma once

#include <algorithm>
#include <type_traits>
#include <vector>

#include "dag/evaluation/dag_column.hpp"
#include "dag/evaluation/dag_plan.hpp"
#include "base/memory.hpp"
#include "base/numbers.hpp"
#include "base/semiring.hpp"
#include "base/stream.hpp"

namespace tgraph {

// Rows to reduce, and the second operand of the edge operation for each.
template <class T, class A>
struct RowList {
    const T* const* rows;
    const A* factors;
    int64_t count;
};

template <class Reduce, class Edge, int lanes, int vectors, class T, class A>
TGRAPH_INLINE void reduce_list(Vector<A, lanes>* sum, const RowList<T, A>& list, int64_t f) {
    using Lanes = Vector<A, lanes>;
    for (int64_t i = 0; i < list.count; ++i) {
        Lanes factor{};
        if constexpr (Edge::weighted) factor = list.factors[i] - Lanes{};
        const T* row = list.rows[i] + f;
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v)
            sum[v] = Reduce::apply(sum[v], Edge::apply(load<A, lanes>(row + v * lanes), factor));
    }
}

// Blocks of `columns`, the last of which may overlap the one before; narrower blocks if there are fewer columns.
template <class Reduce, class Edge, int columns, class T, class A>
TGRAPH_INLINE void reduce_blocks(A* out, int64_t width, const RowList<T, A>& inputs, const RowList<A, A>& others,
                                 A identity) {
    constexpr int lanes = std::min<int>(columns, 32 / sizeof(A)), vectors = columns / lanes;
    if constexpr (columns > 1)
        if (width < columns)
            return reduce_blocks<Reduce, Edge, columns / 2>(out, width, inputs, others, identity);
    for (int64_t next = 0; next < width; next += columns) {
        const int64_t f = std::min(next, width - columns);
        using Lanes = Vector<A, lanes>;
        const Lanes start = identity - Lanes{};
        Lanes sum[vectors];
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v) sum[v] = start;
        reduce_list<Reduce, Edge, lanes, vectors>(sum, inputs, f);
        reduce_list<Reduce, Edge, lanes, vectors>(sum, others, f);
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v) *reinterpret_cast<Lanes*>(out + f + v * lanes) = sum[v];
    }
}

template <class Reduce, class Edge, class T, class A>
TGRAPH_MULTIVERSION_NARROW void reduce_lists(A* out, int64_t width, const RowList<T, A>& inputs,
                                             const RowList<A, A>& others, A identity) {
    reduce_blocks<Reduce, Edge, 256 / sizeof(A)>(out, width, inputs, others, identity);
}

// The kernels of a semiring as function pointers, so that the iteration over rows is compiled once.
template <class T, class A>
struct DagKernels {
    void (*reduce)(A* out, int64_t width, const RowList<T, A>& inputs, const RowList<A, A>& others, A identity);
    void (*join)(A* sums, const A* others, int64_t columns);
    bool weighted, multiplies;
};

template <class Reduce, class Edge, class T, class A>
DagKernels<T, A> dag_kernels() {
    return {&reduce_lists<Reduce, Edge, T, A>,
            [](A* sums, const A* others, int64_t columns) {
                for (int64_t f = 0; f < columns; ++f) sums[f] = Reduce::apply(sums[f], others[f]);
            },
            Edge::weighted, std::is_same_v<Edge, Times>};
}

// Operands of an evaluation: stored as T, computed in A.
template <class T, class A>
struct DagData {
    const T* inputs;  // [n, columns]
    T* outputs;       // [n, columns]
    int64_t columns;
    A identity;
    const A *left, *right;  // scale factors of outputs and inputs, null for 1
    DagWeights<A> weights;
};

template <class T, class A>
class DagColumns {
public:
    DagColumns(const DagRows& rows, const DagPlan& plan, const DagData<T, A>& with, DagKernels<T, A> kernels)
        : rows_(rows), plan_(plan), with_(with), kernels_(kernels), virtual_(rows.num_virtual() * with.columns),
          pieces_(plan.most_pieces * with.columns),
          streams_(rows.num_vertices * with.columns * static_cast<int64_t>(sizeof(T)) >= streamed_bytes) {
        const int64_t fitting = ring_bytes / (with.columns * static_cast<int64_t>(sizeof(A)));
        while (plan.needs_outputs && 2 * ring_ <= fitting) ring_ *= 2;
        scales_late_ = with.left && (plan.needs_far_outputs || plan.reach >= ring_);
    }

    void run() {
        advise_huge_pages(with_.outputs, rows_.num_vertices * with_.columns * sizeof(T));
        run_phases(plan_, with_.columns, *this);
        if (scales_late_) scale();
    }

    class Worker {
    public:
        explicit Worker(DagColumns& of) : of_(of) {
            const int64_t most = 2 * DagPlan::longest;
            inputs_.resize(is_narrow<T> ? most : 0);
            others_.resize(most);
            factors_.resize(of.kernels_.weighted ? 2 * most : 0);
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
            const DagData<T, A>& with = of_.with_;
            const int64_t row = of_.rows_.row(at), output = row - of_.rows_.num_virtual();
            A* sums = output < 0 ? of_.virtual_.data() + row * with.columns : kept(at);
            T* to = output < 0 ? nullptr : with.outputs + output * with.columns;
            if constexpr (std::is_same_v<T, A>)
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
            const DagData<T, A>& with = of_.with_;
            const int64_t n = of_.rows_.num_vertices, first_output = of_.rows_.num_rows;
            num_inputs_ = num_others_ = 0;
            for (int64_t i = arcs.begin; i < arcs.end; ++i) {
                const int64_t child = of_.rows_.child(i);
                const int64_t node = node_of(child);
                const A* from;
                if (node < n) {
                    const T* data = with.inputs + node * with.columns;
                    if constexpr (!std::is_same_v<T, A>) {
                        set_factor(num_inputs_, i, row, child, node);
                        inputs_[num_inputs_++] = data;
                        continue;
                    } else {
                        from = data;
                    }
                } else if (node < first_output) {
                    from = of_.virtual_.data() + (node - n) * with.columns;
                } else {
                    from = output(node - first_output, chunk, at);
                }
                set_factor(DagPlan::longest + num_others_, i, row, child, node);
                others_[num_others_++] = from;
            }
        }

        const A* output(int64_t v, Range chunk, int64_t at) {
            const int64_t place = of_.plan_.place(v + of_.rows_.num_virtual());
            if (place >= chunk.begin && place < chunk.end && at - place < of_.ring_) return kept(place);
            if constexpr (std::is_same_v<T, A>) return of_.with_.outputs + v * of_.with_.columns;
            return nullptr;  // not reached: the Python wrapper refuses it, as a stored output is rounded
        }

        TGRAPH_INLINE void set_factor(int64_t slot, int64_t i, int64_t row, int64_t child, int64_t node) {
            const DagData<T, A>& with = of_.with_;
            if (of_.kernels_.multiplies) {
                const bool is_input = node < of_.rows_.num_vertices;
                A factor = is_input && with.right ? with.right[node] : A{1};
                const bool weighs = with.weights.of_outputs ? row >= of_.rows_.num_virtual() : is_input;
                if (with.weights.values && weighs) factor = times(factor, with.weights.values[i]);
                factors_[slot] = child < 0 ? minus(factor) : factor;
            } else if (of_.kernels_.weighted) {
                factors_[slot] = with.weights.values[i];  // 0 on arcs without a weight
            }
        }

        void reduce(A* sums) const {
            const RowList<A, A> others{others_.data(), factors_.data() + (of_.kernels_.weighted ? DagPlan::longest : 0),
                                       num_others_};
            const RowList<T, A> inputs{inputs_.data(), factors_.data(), num_inputs_};
            of_.kernels_.reduce(sums, of_.with_.columns, inputs, others, of_.with_.identity);
        }

        void write(T* to, A* sums, int64_t output) {
            const int64_t width = of_.with_.columns;
            if (of_.with_.left && !of_.scales_late_) {
                const A left = of_.with_.left[output];
                for (int64_t f = 0; f < width; ++f) scaled_[f] = times(sums[f], left);
                sums = scaled_.data();
            }
            if constexpr (!std::is_same_v<T, A>) {
                for (int64_t f = 0; f < width; ++f) to[f] = stored_as<T>(sums[f]);
            } else if (of_.streams_) {
                stream(to, sums, width * sizeof(T));
            } else if (to != sums) {
                std::copy(sums, sums + width, to);
            }
        }

        DagColumns& of_;
        std::vector<const T*> inputs_;
        std::vector<const A*> others_;
        std::vector<A> factors_, room_, scaled_;
        int64_t num_inputs_ = 0, num_others_ = 0;
    };
    Worker worker() { return Worker(*this); }

private:
    static constexpr int64_t streamed_bytes = 1 << 25;  // larger results do not stay in the cache
    static constexpr int64_t ring_bytes = 1 << 20;

    // Scales the outputs at the end if other rows needed them unscaled.
    void scale() {
        if constexpr (std::is_same_v<T, A>) {
            const int parts = part_count(rows_.num_vertices * with_.columns);
            for_each_part(parts, [&](int part) {
                const Range range = part_of(rows_.num_vertices, part, parts);
                for (int64_t v = range.begin; v < range.end; ++v) {
                    T* out = with_.outputs + v * with_.columns;
                    for (int64_t f = 0; f < with_.columns; ++f) out[f] = times(out[f], with_.left[v]);
                }
            });
        }
    }

    const DagRows& rows_;
    const DagPlan& plan_;
    DagData<T, A> with_;
    const DagKernels<T, A> kernels_;
    Scratch<A> virtual_;
    Scratch<A> pieces_;
    bool streams_, scales_late_ = false;
    int64_t ring_ = 1;  // a power of two
};

}  // namespace tgraph
