// Vertices numbered in the order of their first occurrence, one list after the other.
#include <cstdint>

#include "base/classes.hpp"
#include "sampling/numbering.hpp"

namespace tgraph {
namespace {

// known : the list so far, in which a vertex may occur again. Writes the place of each of `vertices`, and returns the
// list with the new ones behind.
nb::object number_vertices(In<int64_t> known, In<int64_t> vertices, Out<int64_t> places) {
    Numbering numbering(false);
    {
        const nb::gil_scoped_release released;
        const auto seeds = static_cast<int64_t>(known.shape(0)), count = static_cast<int64_t>(vertices.shape(0));
        numbering.reserve_more(seeds + count);
        for (int64_t i = 0; i < seeds; ++i) numbering.append_seed(known.data()[i], 0);
        numbering.find_all(vertices.data(), count, places.data());
    }
    return numbering.vertices().to_numpy();
}

}  // namespace

void bind_number_vertices(Module& module) {
    python_module(module).def("number_vertices", &number_vertices, nb::arg("known"), nb::arg("vertices"),
               nb::arg("places"));
}

}  // namespace tgraph
