// The inner loops of an evaluation, by dtype, reduction and edge operation: rows of one column, and of many.
#pragma once

#include <algorithm>
#include <bit>
#include <memory>
#include <stdexcept>
#include <type_traits>

#include "base/numbers.hpp"
#include "compressed/evaluation/dag_evaluate.hpp"
#include "linear/gather.hpp"

namespace tgraph {

template <class A>
TGRAPH_INLINE A negated_if(A value, bool negative) {
    if constexpr (std::is_floating_point_v<A>) {
        using Bits = std::conditional_t<sizeof(A) == 4, uint32_t, uint64_t>;
        return std::bit_cast<A>(std::bit_cast<Bits>(value) ^ (static_cast<Bits>(negative) << (8 * sizeof(A) - 1)));
    } else {
        return negative ? minus(value) : value;
    }
}

// Sums, which are evaluated most, read children of 32 bits without asking for their width.
template <class Reduce, class Edge, bool is_signed, class A, bool narrow>
class RowsOfColumn final : public DagColumn<DagTotal<A>> {
public:
    using Total = DagTotal<A>;

    RowsOfColumn(const DagRows& rows, const DagPlan& plan, const ColumnData<A>& with)
        : DagColumn<Total>(rows, plan), with_(with) {
        if constexpr (sums_plainly) {
            const int32_t* children = rows.narrow_children;
            csr_ = {rows.offset, children, nullptr, rows.num_rows, rows.num_children(),
                    rows.num_vertices > cached_values &&
                        is_scattered(children, rows.num_rows, rows.num_children())};
        }
    }

private:
    // Floats are summed in double; else the dtype of the data is that of the computation.
    using Sum = std::conditional_t<std::is_same_v<Reduce, Plus>, Total, A>;
    static constexpr bool sums_plainly = narrow && std::is_same_v<Reduce, Plus> && !Edge::weighted && !is_signed;

    using DagColumn<Total>::rows_;
    using DagColumn<Total>::plan_;
    using DagColumn<Total>::pieces_;

    void reduce_rows(const DagPlan::Phase& phase, Range positions, Total* totals) const override {
        const DagRows rows = rows_;  // copies, which stay in registers
        const ColumnData<A> with = with_;
        const bool in_order = rows.in_order();
        A* results = with.state + rows.num_vertices;
        const bool needed = !in_order || positions.begin < rows.num_virtual() || plan_.needs_outputs;
        if constexpr (sums_plainly)
            if (in_order && phase.pieces.begin == phase.pieces.end && !phase.has_tasks) {
                sum_rows(csr_, static_cast<const A*>(with_.state), positions, totals);
                if (needed) std::copy(totals, totals + (positions.end - positions.begin), results + positions.begin);
                return;
            }
        for (int64_t at = positions.begin; at < positions.end; ++at) {
            const int64_t row = in_order ? at : rows.row(at);
            const Sum sum = rows.degree(row) > DagPlan::longest
                                ? reduce_long_row(phase, at)
                                : reduce_arcs(rows, with, rows.offset[row], rows.offset[row + 1], row);
            totals[at - positions.begin] = static_cast<Total>(sum);
            if (needed) results[row] = static_cast<A>(sum);
        }
    }

    [[gnu::noinline]] Sum reduce_long_row(const DagPlan::Phase& phase, int64_t at) const {
        Sum sum = static_cast<Sum>(with_.identity);
        const Range range = plan_.pieces_of(phase, at);
        for (int64_t i = range.begin; i < range.end; ++i) {
            const DagPiece& piece = plan_.pieces[i];
            const Total total = piece.ready ? pieces_[i - phase.pieces.begin] : reduce_piece(piece);
            sum = Reduce::apply(sum, static_cast<Sum>(total));
        }
        return sum;
    }

    Total reduce_piece(const DagPiece& piece) const override {
        return static_cast<Total>(reduce_arcs(rows_, with_, piece.begin, piece.end, rows_.row(piece.position)));
    }

    void read_outputs(int64_t first, int64_t count, Total* totals) const override {
        const A* outputs = with_.state + rows_.num_rows + first;
        std::copy(outputs, outputs + count, totals);
    }

    TGRAPH_INLINE static auto child_of(const DagRows& rows, int64_t i) {
        if constexpr (narrow)
            return rows.narrow_children[i];
        else
            return rows.child(i);
    }

    TGRAPH_INLINE static Sum message(const DagRows& rows, const ColumnData<A>& with, int64_t i, bool weighs_all) {
        const auto child = child_of(rows, i), node = is_signed ? node_of(child) : child;
        A value = with.state[node];
        if constexpr (is_signed) value = negated_if(value, child < 0);
        const DagWeights<A>& weights = with.weights;
        if constexpr (std::is_same_v<Edge, Times>) {
            const bool weighs = weights.of_outputs ? weighs_all : node < rows.num_vertices;
            value = times(value, weighs ? weights.values[i] : A{1});
        } else if constexpr (Edge::weighted) {
            value = Edge::apply(value, weights.values[i]);  // 0 on arcs without a weight
        }
        return static_cast<Sum>(value);
    }

    // Four accumulators for instruction-level parallelism.
    TGRAPH_INLINE static Sum reduce_arcs(const DagRows& rows, const ColumnData<A>& with, int64_t i, int64_t end,
                                         int64_t row) {
        const bool weighs_all = row >= rows.num_virtual();
        Sum a = static_cast<Sum>(with.identity), b = a, c = a, d = a;
        for (; i + 4 <= end; i += 4) {
            a = Reduce::apply(a, message(rows, with, i, weighs_all));
            b = Reduce::apply(b, message(rows, with, i + 1, weighs_all));
            c = Reduce::apply(c, message(rows, with, i + 2, weighs_all));
            d = Reduce::apply(d, message(rows, with, i + 3, weighs_all));
        }
        for (; i < end; ++i) a = Reduce::apply(a, message(rows, with, i, weighs_all));
        return Reduce::apply(Reduce::apply(a, b), Reduce::apply(c, d));
    }

    const ColumnData<A> with_;
    WeightedRows<int32_t, Unweighted> csr_{};
};

// Blocks of `columns`, the last of which may overlap the one before; blocks `less` times as narrow if there are fewer
// columns.
template <class Reduce, class Edge, int columns, int less, class A>
TGRAPH_INLINE void reduce_blocks(A* out, int64_t width, const RowList<A>& list, A identity) {
    constexpr int lanes = std::min<int>(columns, narrow_bytes / sizeof(A)), vectors = columns / lanes;
    if constexpr (columns > 1)
        if (width < columns)
            return reduce_blocks<Reduce, Edge, std::max(columns / less, 1), less>(out, width, list, identity);
    for (int64_t next = 0; next < width; next += columns) {
        const int64_t f = std::min(next, width - columns);
        using Lanes = Vector<A, lanes>;
        Lanes sum[vectors];
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v) sum[v] = identity - Lanes{};
        for (int64_t i = 0; i < list.count; ++i) {
            Lanes factor{};
            if constexpr (Edge::weighted) factor = list.factors[i] - Lanes{};
            const A* row = list.rows[i] + f;
#pragma GCC unroll 8
            for (int v = 0; v < vectors; ++v)
                sum[v] = Reduce::apply(sum[v], Edge::apply(load<A, lanes>(row + v * lanes), factor));
        }
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v) *reinterpret_cast<Lanes*>(out + f + v * lanes) = sum[v];
    }
}

template <class Reduce, class Edge, class A>
TGRAPH_MULTIVERSION_NARROW void reduce_list(A* out, int64_t width, const RowList<A>& list, A identity) {
    constexpr bool often = std::is_floating_point_v<A> && std::is_same_v<Reduce, Plus>;
    reduce_blocks<Reduce, Edge, 8 * narrow_bytes / sizeof(A), often ? 2 : 8>(out, width, list, identity);
}

// Calls visit(Reduce{}, Edge{}) for a pair that is compiled: int32 has no sums, which are computed in int64.
template <class A, class Visit>
auto with_dag_pair(DagPair pair, const Visit& visit) {
    if constexpr (std::is_floating_point_v<A> || sizeof(A) == sizeof(int64_t)) {
        if (pair == DagPair::sum) return visit(Plus{}, Copy{});
        if (pair == DagPair::weighted_sum) return visit(Plus{}, Times{});
        if (pair == DagPair::product) return visit(Times{}, Copy{});
    }
    if (pair == DagPair::least) return visit(Lesser{}, Copy{});
    if (pair == DagPair::largest) return visit(Greater{}, Copy{});
    if (pair == DagPair::least_of_sums) return visit(Lesser{}, Plus{});
    if (pair == DagPair::largest_of_sums) return visit(Greater{}, Plus{});
    throw std::invalid_argument("reduce, edge: no such pair");
}

template <class A>
std::unique_ptr<DagColumn<DagTotal<A>>> column_of(const DagRows& rows, const DagPlan& plan, const ColumnData<A>& with,
                                                  DagPair pair) {
    using Column = std::unique_ptr<DagColumn<DagTotal<A>>>;
    return with_dag_pair<A>(pair, [&](auto reduce, auto edge) -> Column {
        using Reduce = decltype(reduce);
        using Edge = decltype(edge);
        const auto rows_with = [&]<bool is_signed>() -> Column {
            if constexpr (std::is_floating_point_v<A> && std::is_same_v<Reduce, Plus>)
                if (rows.narrow_children)
                    return std::make_unique<RowsOfColumn<Reduce, Edge, is_signed, A, true>>(rows, plan, with);
            return std::make_unique<RowsOfColumn<Reduce, Edge, is_signed, A, false>>(rows, plan, with);
        };
        if constexpr (std::is_same_v<Reduce, Plus> && !Edge::weighted)
            if (with.is_signed) return rows_with.template operator()<true>();
        return rows_with.template operator()<false>();
    });
}

template <class A>
DagKernels<A> kernels_of(DagPair pair) {
    return with_dag_pair<A>(pair, [](auto reduce, auto edge) -> DagKernels<A> {
        using Reduce = decltype(reduce);
        using Edge = decltype(edge);
        const auto join = [](A* sums, const A* others, int64_t columns) {
            for (int64_t f = 0; f < columns; ++f) sums[f] = Reduce::apply(sums[f], others[f]);
        };
        return {&reduce_list<Reduce, Edge, A>, join, Edge::weighted, std::is_same_v<Edge, Times>};
    });
}

}  // namespace tgraph
