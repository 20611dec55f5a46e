// Bindings of relaxations within a block (local_relax.hpp).
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/pair.h>
#include "relaxation/local_relax.hpp"

#include <algorithm>
#include <stdexcept>
#include <tuple>

#include "base/classes.hpp"

namespace tgraph {
namespace {

// See LocalRelaxation. weights : [arcs] or None. edge : a value of Edge. limit : as Limit. reached : [min(arcs, n)] at
// least. Returns the members of Relaxed.
template <class V, class Neighbor>
std::tuple<int64_t, int64_t, int64_t, V> relax_block(In<int64_t> offset, In<Neighbor> neighbors, In<V> weights,
                                                     V weight, int64_t first, std::pair<bool, bool> split, bool is_min,
                                                     int edge, std::pair<V, int64_t> limit, Out<V> values,
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
    const BlockRows<V, Neighbor> rows{offset.data(), neighbors.data(), weights.data(), weight,
                                      first,         count,            split.first,    split.second};
    const auto run = [&](auto semiring) {
        LocalRelaxation<V, Neighbor, decltype(semiring)> relaxation(rows, values.data(), columns, semiring,
                                                                    active.data(), marked.data(), reached.data());
        const Relaxed<V> done = relaxation.run({limit.first, limit.second});
        return std::tuple(done.reached, done.improved, done.arcs_left, done.best);
    };
    if (is_min && edge == static_cast<int>(Edge::add)) return run(MinPlus<V>{});
    return run(AnySemiring<V>{is_min, static_cast<Edge>(edge)});
}

template <class V, class Neighbor>
void bind_of(Module& module) {
    python_module(module).def("relax_block", &relax_block<V, Neighbor>, nb::arg("offset"), nb::arg("neighbors"),
               nb::arg("weights").none(), nb::arg("weight"), nb::arg("first"), nb::arg("split"), nb::arg("is_min"),
               nb::arg("edge"), nb::arg("limit"), nb::arg("values"), nb::arg("columns"), nb::arg("active"),
               nb::arg("marked"), nb::arg("reached"), nb::call_guard<nb::gil_scoped_release>());
}

template <class V>
void bind_for(Module& module) {
    bind_of<V, int32_t>(module);
    bind_of<V, int64_t>(module);
}

}  // namespace

void bind_local_relax(Module& module) {
    bind_for<int32_t>(module);
    bind_for<int64_t>(module);
    bind_for<float>(module);
    bind_for<double>(module);
}

}  // namespace tgraph
