// Shared by the bindings of linear iterations: edge-balanced partitions, and dispatch on the dtype of the weights.
#pragma once

#include <stdexcept>
#include <tuple>

#include "base/bindings.hpp"
#include "linear/affine.hpp"
#include "linear/gather.hpp"

namespace tgraph {

// Work of rows: one unit per row and per arc, so that arc i of row r is at i + r.
struct RowWork {
    const int64_t* offset;

    int64_t before(int64_t row) const { return offset[row] + row; }

    // The first row of [low, high) with at least `work` before it; high if there is none.
    int64_t first_row(int64_t work, int64_t low, int64_t high) const {
        while (low < high) {
            const int64_t middle = low + (high - low) / 2;
            if (before(middle) < work)
                low = middle + 1;
            else
                high = middle;
        }
        return low;
    }
};

using Weights = In<void>;  // of any dtype

using Numbers = std::tuple<double, double, double>;  // change, total, dangling: see Sums

// The rows of a CSR structure whose neighbors and weights are of types that are known at run time only, behind the
// kernels for these.
template <class Value>
struct SummedArcs {
    const int64_t* offset;
    const void *neighbors, *weights;
    int64_t num_rows, num_arcs;
    bool scattered, buffered;
    // As sum_rows, for rows at other offsets.
    void (*sum)(const SummedArcs& arcs, const int64_t* offset, const Value* sent, Range rows, double* sums);
};

template <class Value, class Neighbor, class Weight>
WeightedRows<Neighbor, Weight> rows_of(const SummedArcs<Value>& arcs, const int64_t* offset) {
    return {offset, static_cast<const Neighbor*>(arcs.neighbors), static_cast<const Weight*>(arcs.weights),
            arcs.num_rows, arcs.num_arcs, arcs.buffered};
}

template <class Value, class Neighbor, class Weight>
void sum_arcs(const SummedArcs<Value>& arcs, const int64_t* offset, const Value* sent, Range rows, double* sums) {
    sum_rows(rows_of<Value, Neighbor, Weight>(arcs, offset), sent, rows, sums);
}

template <class Value, class Neighbor>
SummedArcs<Value> arcs_of(const In<int64_t>& offset, const In<Neighbor>& neighbors, const Weights& weights,
                          const Out<Value>& input) {
    const auto num_rows = static_cast<int64_t>(offset.shape(0)) - 1;
    const auto num_arcs = static_cast<int64_t>(neighbors.shape(0));
    const bool scattered = is_scattered(neighbors.data(), num_rows, num_arcs);
    const bool buffered = scattered && static_cast<int64_t>(input.shape(0)) > cached_values;
    return {offset.data(), neighbors.data(), weights.data(), num_rows, num_arcs, scattered, buffered, nullptr};
}

// Calls visit(Weight{}) with the type of the weights, Unweighted or one of Numeric.
template <class... Numeric, class Visit>
void with_weights(const Weights& weights, const Visit& visit) {
    const auto as = [&]<class Weight>(Weight type) {
        return weights.dtype() == dtype_of<Weight> && (visit(type), true);
    };
    if (!weights.is_valid())
        visit(Unweighted{});
    else if (!(as(Numeric{}) || ...))
        throw std::invalid_argument("weights: no kernel is compiled for their dtype");
}

void bind_gauss_seidel(Module& module);

}  // namespace tgraph
