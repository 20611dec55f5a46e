// Evaluation of a linear DAG on one column. The values of all nodes are in one vector, so that a child of any kind is
// one load, and rows in order are summed like those of a CSR structure.
#pragma once

#include <bit>
#include <type_traits>
#include <vector>

#include "linear/affine.hpp"
#include "dag/evaluation/dag_plan.hpp"
#include "linear/gather.hpp"
#include "base/memory.hpp"
#include "base/semiring.hpp"

namespace tgraph {

// The weights of a DAG, in the dtype of the computation.
template <class A>
struct DagWeights {
    const A* values;
    bool of_outputs;  // on the arcs from outputs, else on the arcs to inputs
};

template <class A>
TGRAPH_INLINE A minus(A a) {
    if constexpr (std::is_integral_v<A>)
        return static_cast<A>(std::make_unsigned_t<A>{0} - static_cast<std::make_unsigned_t<A>>(a));
    else
        return -a;
}

template <class A>
TGRAPH_INLINE A negated_if(A value, bool negative) {
    if constexpr (std::is_floating_point_v<A>) {
        using Bits = std::conditional_t<sizeof(A) == 4, uint32_t, uint64_t>;
        return std::bit_cast<A>(std::bit_cast<Bits>(value) ^ (static_cast<Bits>(negative) << (8 * sizeof(A) - 1)));
    } else {
        return negative ? minus(value) : value;
    }
}

template <class Reduce, class A>
using DagTotal = std::conditional_t<std::is_same_v<Reduce, Plus> && std::is_floating_point_v<A>, double, A>;

// `finish(chunk, first, count, totals)` consumes the totals of at most `batch` outputs; each chunk runs on one thread.
// `state` [n + R + n] contains the inputs.
template <class Reduce, class Edge, bool is_signed, class A, class Child, class Finish>
class DagColumn {
public:
    using Total = DagTotal<Reduce, A>;

    DagColumn(const DagRows& rows, const Child* children, const DagPlan& plan, A* state, A identity,
              DagWeights<A> weights, Finish& finish)
        : rows_(rows), children_(children), plan_(plan), state_(state), identity_(identity), weights_(weights),
          finish_(finish),
          csr_{rows.offset, children, nullptr, rows.num_rows, rows.num_children(),
               is_scattered(children, rows.num_rows, rows.num_children())},
          pieces_(plan.most_pieces) {}

    // Outputs that are not evaluated in order are finished at the end.
    void run() {
        run_phases(plan_, 1, *this);
        if (rows_.in_order()) return;
        const A* outputs = state_ + rows_.num_rows;
        constexpr int64_t size = finished_together;
        for_each_chunk(num_finishes(), part_count(rows_.num_vertices), [&](int64_t chunk) {
            Total totals[batch];
            const int64_t end = std::min(rows_.num_vertices, (chunk + 1) * size);
            for (int64_t v = chunk * size; v < end; v += batch) {
                const int64_t count = std::min(batch, end - v);
                std::copy(outputs + v, outputs + v + count, totals);
                finish_(chunk, v, count, totals);
            }
        });
    }

    // The number of chunks passed to `finish`.
    int64_t num_finishes() const {
        if (rows_.in_order()) return static_cast<int64_t>(plan_.chunks.size());
        return (rows_.num_vertices + finished_together - 1) / finished_together;
    }

    struct Worker {
        DagColumn& of;
        void piece(const DagPlan::Phase& phase, int64_t i) {
            of.pieces_[i - phase.pieces.begin] = of.reduce_piece(of.plan_.pieces[i]);
        }
        void chunk(const DagPlan::Phase& phase, int64_t number) { of.take(phase, number); }
        void finish_phase() const {}
    };
    Worker worker() { return {*this}; }

private:
    static constexpr int64_t finished_together = 32 * batch;
    static constexpr bool sums_plainly =
        std::is_same_v<Reduce, Plus> && !Edge::weighted && !is_signed && std::is_floating_point_v<A>;

    void take(const DagPlan::Phase& phase, int64_t number) {
        const Range chunk = plan_.chunks[number];
        if (!rows_.in_order()) {
            for (int64_t at = chunk.begin; at < chunk.end; ++at) {
                const int64_t row = rows_.row(at);
                state_[rows_.num_vertices + row] = static_cast<A>(reduce_row(phase, at, row));
            }
            return;
        }
        Total totals[batch];
        const int64_t middle = std::clamp(rows_.num_virtual(), chunk.begin, chunk.end);
        for (const Range part : {Range{chunk.begin, middle}, Range{middle, chunk.end}})
            for (int64_t row = part.begin; row < part.end; row += batch) {
                const int64_t count = std::min(batch, part.end - row);
                reduce_rows(phase, {row, row + count}, totals);
                if (row >= rows_.num_virtual()) finish_(number, row - rows_.num_virtual(), count, totals);
            }
    }

    // Reduces rows in order; totals that other rows may need are written to the state.
    void reduce_rows(const DagPlan::Phase& phase, Range rows, Total* totals) {
        A* results = state_ + rows_.num_vertices + rows.begin;
        const bool needed = rows.begin < rows_.num_virtual() || plan_.needs_outputs;
        if constexpr (sums_plainly)
            if (phase.pieces.begin == phase.pieces.end && !phase.has_tasks) {
                sum_rows(csr_, state_, rows, totals);
                if (needed) std::copy(totals, totals + (rows.end - rows.begin), results);
                return;
            }
        for (int64_t row = rows.begin; row < rows.end; ++row) {
            totals[row - rows.begin] = reduce_row(phase, row, row);
            if (needed) results[row - rows.begin] = static_cast<A>(totals[row - rows.begin]);
        }
    }

    Total reduce_row(const DagPlan::Phase& phase, int64_t at, int64_t row) const {
        if (rows_.degree(row) > DagPlan::longest) return reduce_long_row(phase, at);
        return reduce_arcs(rows_.offset[row], rows_.offset[row + 1], row);
    }

    Total reduce_long_row(const DagPlan::Phase& phase, int64_t at) const {
        Total total = static_cast<Total>(identity_);
        const Range range = plan_.pieces_of(phase, at);
        for (int64_t i = range.begin; i < range.end; ++i) {
            const DagPiece& piece = plan_.pieces[i];
            total = Reduce::apply(total, piece.ready ? pieces_[i - phase.pieces.begin] : reduce_piece(piece));
        }
        return total;
    }

    Total reduce_piece(const DagPiece& piece) const {
        return reduce_arcs(piece.begin, piece.end, rows_.row(piece.position));
    }

    TGRAPH_INLINE Total message(int64_t i, bool weighs_all) const {
        const Child child = children_[i], node = is_signed ? node_of(child) : child;
        A value = state_[node];
        if constexpr (is_signed) value = negated_if(value, child < 0);
        if constexpr (std::is_same_v<Edge, Times>) {
            const bool weighs = weights_.of_outputs ? weighs_all : node < rows_.num_vertices;
            value = times(value, weighs ? weights_.values[i] : A{1});
        } else if constexpr (Edge::weighted) {
            value = Edge::apply(value, weights_.values[i]);  // 0 on arcs without a weight
        }
        return static_cast<Total>(value);
    }

    // Four accumulators for instruction-level parallelism.
    Total reduce_arcs(int64_t i, int64_t end, int64_t row) const {
        const bool weighs_all = row >= rows_.num_virtual();
        Total a = static_cast<Total>(identity_), b = a, c = a, d = a;
        for (; i + 4 <= end; i += 4) {
            a = Reduce::apply(a, message(i, weighs_all));
            b = Reduce::apply(b, message(i + 1, weighs_all));
            c = Reduce::apply(c, message(i + 2, weighs_all));
            d = Reduce::apply(d, message(i + 3, weighs_all));
        }
        for (; i < end; ++i) a = Reduce::apply(a, message(i, weighs_all));
        return Reduce::apply(Reduce::apply(a, b), Reduce::apply(c, d));
    }

    const DagRows& rows_;
    const Child* children_;
    const DagPlan& plan_;
    A* state_;
    A identity_;
    DagWeights<A> weights_;
    Finish& finish_;
    WeightedRows<Child, Unweighted> csr_;
    std::vector<Total> pieces_;
};

}  // namespace tgraph
