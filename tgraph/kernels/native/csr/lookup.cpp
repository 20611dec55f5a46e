// Single arcs of rows that ascend, asked for one at a time from Python.
#include <algorithm>
#include <cstdint>

#include "base/classes.hpp"

namespace tgraph {
namespace {

// The caller keeps the arrays.
template <class Neighbor>
class ArcLookup {
public:
    ArcLookup(In<int64_t> offset, In<Neighbor> neighbors)
        : offset_(offset.data()), neighbors_(neighbors.data()),
          num_vertices_(static_cast<int64_t>(offset.shape(0)) - 1),
          num_arcs_(static_cast<int64_t>(neighbors.shape(0))) {}

    // The first arc to `target` among those from `begin` to `end` of a row, -1 where there is none.
    int64_t find(int64_t begin, int64_t end, int64_t target) const {
        if (begin < 0 || end > num_arcs_ || begin >= end) return -1;
        const Neighbor* const found = std::lower_bound(neighbors_ + begin, neighbors_ + end, target);
        return found != neighbors_ + end && *found == target ? found - neighbors_ : -1;
    }

    // The first arc from `source` to `target`, -1 where there is none.
    int64_t arc(int64_t source, int64_t target) const {
        return is_vertex(source) ? find(offset_[source], offset_[source + 1], target) : -1;
    }

    int64_t degree(int64_t v) const { return is_vertex(v) ? offset_[v + 1] - offset_[v] : 0; }

private:
    const int64_t* offset_;
    const Neighbor* neighbors_;
    int64_t num_vertices_, num_arcs_;

    bool is_vertex(int64_t v) const { return v >= 0 && v < num_vertices_; }
};

template <class Neighbor>
void bind(Module& module, const char* name) {
    using Lookup = ArcLookup<Neighbor>;
    bind_class<Lookup>(module, name)
        .def("find", &Lookup::find, nb::arg("begin"), nb::arg("end"), nb::arg("target"))
        .def("arc", &Lookup::arc, nb::arg("source"), nb::arg("target"))
        .def("degree", &Lookup::degree, nb::arg("vertex"));
    python_module(module).def(
        "arc_lookup", [](In<int64_t> offset, In<Neighbor> neighbors) { return Lookup(offset, neighbors); },
        nb::arg("offset"), nb::arg("neighbors"));
}

}  // namespace

void bind_lookup(Module& module) {
    bind<int32_t>(module, "ArcLookup32");
    bind<int64_t>(module, "ArcLookup64");
}

}  // namespace tgraph
