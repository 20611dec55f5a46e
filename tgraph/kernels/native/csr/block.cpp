// Validation of a CSR block read from a file, before kernels use its entries as indices.
#include <algorithm>

#include "base/bindings.hpp"

namespace tgraph {
namespace {

// Whether offsets ascend from 0 to the number of neighbors, and neighbors are in [0, num_vertices). Without branches,
// so that the loops vectorise and run at memory bandwidth.
template <class Neighbor>
bool is_sound(In<int64_t> offset, In<Neighbor> neighbors, int64_t num_vertices) {
    const auto rows = static_cast<int64_t>(offset.shape(0)) - 1, arcs = static_cast<int64_t>(neighbors.shape(0));
    if (rows < 0 || offset.data()[0] != 0 || offset.data()[rows] != arcs) return false;
    const int64_t* const offsets = offset.data();
    bool falls = false;
    for (int64_t row = 0; row < rows; ++row) falls |= offsets[row + 1] < offsets[row];
    Neighbor least = 0, most = -1;
    const Neighbor* const others = neighbors.data();
    for (int64_t arc = 0; arc < arcs; ++arc) {
        least = std::min(least, others[arc]);
        most = std::max(most, others[arc]);
    }
    return !falls && least >= 0 && most < num_vertices;
}

template <class Neighbor>
void bind_for(Module& module) {
    module.def("is_sound", &is_sound<Neighbor>, "offset, neighbors, num_vertices");
}

}  // namespace

void bind_block(Module& module) {
    bind_for<int32_t>(module);
    bind_for<int64_t>(module);
}

}  // namespace tgraph
