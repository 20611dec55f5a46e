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

// Calls visit(rows) with the arcs and their weights, whose dtype is one of Numeric.
template <class... Numeric, class Neighbor, class Visit>
Numbers with_weights(const In<int64_t>& offset, const In<Neighbor>& neighbors, const Weights& weights,
                     const Visit& visit) {
    Sums sums;
    const auto with = [&]<class Weight>(const Weight* arc_weights) {
        const auto num_rows = static_cast<int64_t>(offset.shape(0)) - 1;
        const auto num_arcs = static_cast<int64_t>(neighbors.shape(0));
        sums = visit(WeightedRows<Neighbor, Weight>{offset.data(), neighbors.data(), arc_weights, num_rows, num_arcs});
        return true;
    };
    const auto as = [&]<class Weight>(const Weight*) {
        return weights.dtype() == dtype_of<Weight> && with(static_cast<const Weight*>(weights.data()));
    };
    if (!weights.is_valid())
        with(static_cast<const Unweighted*>(nullptr));
    else if (!(as(static_cast<const Numeric*>(nullptr)) || ...))
        throw std::invalid_argument("weights: no kernel is compiled for their dtype");
    return Numbers(sums.change, sums.total, sums.dangling);
}

void bind_gauss_seidel(Module& module);

}  // namespace tgraph
