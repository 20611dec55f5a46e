// What the steps of linear iterations share: how rows are cut by work, and what Python passes.
#pragma once

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <tuple>

#include "linear/affine.hpp"
#include "base/bindings.hpp"
#include "linear/gather.hpp"

namespace tgraph {

// Rows and their arcs by work, which is one for each row and one for each arc, so that arc i of row r stands at i + r.
struct RowWork {
    const int64_t* offset;

    int64_t before(int64_t row) const { return offset[row] + row; }

    // The first row of [low, high) before which there is at least so much work; high where there is none.
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

using Weights = In<void>;  // of whichever number

template <class T>
using Optional = std::optional<In<T>>;

template <class T>
const T* data_of(const Optional<T>& array) {
    return array ? array->data() : nullptr;
}

using Numbers = std::tuple<double, double, double>;  // the change, the total, and what is not sent

// Calls visit(rows) with the arcs and their weights, which are of one of some types of numbers.
template <class... Numeric, class Neighbor, class Visit>
Numbers with_weights(const In<int64_t>& offset, const In<Neighbor>& neighbors, const std::optional<Weights>& weights,
                     const Visit& visit) {
    Sums sums;
    const auto with = [&]<class Weight>(const Weight* arc_weights) {
        const auto num_rows = static_cast<int64_t>(offset.shape(0)) - 1;
        const auto num_arcs = static_cast<int64_t>(neighbors.shape(0));
        sums = visit(WeightedRows<Neighbor, Weight>{offset.data(), neighbors.data(), arc_weights, num_rows, num_arcs});
        return true;
    };
    const auto as = [&]<class Weight>(const Weight*) {
        return weights->dtype() == nb::dtype<Weight>() && with(static_cast<const Weight*>(weights->data()));
    };
    if (!weights)
        with(static_cast<const Unweighted*>(nullptr));
    else if (!(as(static_cast<const Numeric*>(nullptr)) || ...))
        throw std::invalid_argument("weights: no kernel is compiled for their dtype");
    return Numbers(sums.change, sums.total, sums.unsent);
}

void bind_gauss_seidel(nb::module_& module);

}  // namespace tgraph
