// Bindings of relaxations inside of a block.
#include "relaxation/local_relax.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <stdexcept>
#include <tuple>

#include "base/bindings.hpp"

namespace tgraph {
namespace {

// See LocalRelaxation. `weights` has none or one for each arc; `edge` is a position among copy, add, mul, min, max.
// `limit` is as in Limit. Returns the members of Relaxed.
// `reached` takes as many vertices as could be: the lesser of the arcs and of all vertices.
template <class V, class Neighbor>
std::tuple<int64_t, int64_t, int64_t, V> relax_block(In<int64_t> offset, In<Neighbor> neighbors, nb::object weights,
                                                     V weight, int64_t first, std::pair<bool, bool> split, bool is_min,
                                                     int edge, std::pair<V, int64_t> limit, Out<V> values,
                                                     int64_t columns, Out<bool> active, Out<bool> marked,
                                                     Out<int64_t> reached) {
    const auto count = static_cast<int64_t>(offset.shape(0)) - 1;
    const auto num_arcs = static_cast<int64_t>(neighbors.shape(0)), size = static_cast<int64_t>(marked.shape(0));
    const V* held = nullptr;
    if (!weights.is_none()) {
        const auto array = nb::cast<In<V>>(weights, false);
        if (static_cast<int64_t>(array.shape(0)) != num_arcs)
            throw std::invalid_argument("weights: expected one for each arc");
        held = array.data();
    }
    if (count < 0 || offset.data()[count] != num_arcs || first < 0 || first + count > size ||
        static_cast<int64_t>(active.shape(0)) != count)
        throw std::invalid_argument("offset, active: expected the rows of a block");
    if (columns < 1 || static_cast<int64_t>(values.shape(0)) != size * columns)
        throw std::invalid_argument("values: expected [n, columns]");
    if (static_cast<int64_t>(reached.shape(0)) < std::min(size, num_arcs))
        throw std::invalid_argument("reached: too short");
    const BlockRows<V, Neighbor> rows{offset.data(), neighbors.data(), held,        weight,
                                      first,         count,            split.first, split.second};
    const nb::gil_scoped_release release;
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
void bind_of(nb::module_& module) {
    using nb::arg;
    module.def("relax_block", &relax_block<V, Neighbor>, arg("offset").noconvert(), arg("neighbors").noconvert(),
               arg("weights").none(), arg("weight"), arg("first"), arg("split"), arg("is_min"), arg("edge"),
               arg("limit"), arg("values").noconvert(), arg("columns"), arg("active").noconvert(),
               arg("marked").noconvert(), arg("reached").noconvert());
}

template <class V>
void bind_for(nb::module_& module) {
    bind_of<V, int32_t>(module);
    bind_of<V, int64_t>(module);
}

}  // namespace

void bind_local_relax(nb::module_& module) {
    bind_for<int32_t>(module);
    bind_for<int64_t>(module);
    bind_for<float>(module);
    bind_for<double>(module);
}

}  // namespace tgraph
