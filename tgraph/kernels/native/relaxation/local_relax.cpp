// Bindings of relaxations within a block (local_relax.hpp).
#include "relaxation/local_relax.hpp"

#include <algorithm>
#include <stdexcept>
#include <tuple>

#include "base/bindings.hpp"

namespace tgraph {
namespace {

// See LocalRelaxation. weights : [arcs] or None. edge : a value of Edge. limit, most_arcs : as Limit. reached :
// [min(arcs, n)] at least. Returns the members of Relaxed.
template <class V>
std::tuple<int64_t, int64_t, int64_t, V> relax_block(In<int64_t> offset, In<void> neighbors, In<V> weights, V weight,
                                                     int64_t first, bool first_is_split, bool last_is_split,
                                                     bool is_min, int edge, V limit, int64_t most_arcs, Out<V> values,
                                                     int64_t columns, Out<bool> active, Out<bool> marked,
                                                     Out<int64_t> reached) {
    const auto count = static_cast<int64_t>(offset.shape(0)) - 1;
    const auto num_arcs = static_cast<int64_t>(neighbors.shape(0)), size = static_cast<int64_t>(marked.shape(0));
    if (weights.is_valid() && static_cast<int64_t>(weights.shape(0)) != num_arcs)
        throw std::invalid_argument("weights: expected [arcs]");
    if (count < 0 || offset.data()[count] != num_arcs || first < 0 || first + count > size ||
        static_cast<int64_t>(active.shape(0)) != count)
        throw std::invalid_argument("offset, active: expected the rows of a block");
    if (columns < 1 || static_cast<int64_t>(values.shape(0)) != size * columns)
        throw std::invalid_argument("values: expected [n, columns]");
    if (static_cast<int64_t>(reached.shape(0)) < std::min(size, num_arcs))
        throw std::invalid_argument("reached: too short");
    const BlockRows<V> rows{offset.data(), neighbors, weights.data(), weight, first, count, first_is_split,
                            last_is_split};
    LocalRelaxation<V> relaxation(rows, values.data(), columns, {is_min, static_cast<Edge>(edge)}, active.data(),
                                  marked.data(), reached.data());
    const Relaxed<V> done = relaxation.run({limit, most_arcs});
    return {done.reached, done.improved, done.arcs_left, done.best};
}

template <class V>
void bind_of(Module& module) {
    module.def("relax_block", &relax_block<V>,
               "offset, neighbors, weights?, weight, first, first_is_split, last_is_split, is_min, edge, limit, "
               "most_arcs, values, columns, active, marked, reached");
}

}  // namespace

void bind_local_relax(Module& module) {
    bind_of<int32_t>(module);
    bind_of<int64_t>(module);
    bind_of<float>(module);
    bind_of<double>(module);
}

}  // namespace tgraph
