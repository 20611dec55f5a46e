// Sums in float64, of data and weights that may be stored in float32.
#include "pull.hpp"

namespace tgraph {

void bind_pull_float64(nb::module_& module) {
    bind_pull<double, double, double>(module, "pull_float64");
    bind_pull<double, double, float>(module, "pull_float64_weights_float32");
    bind_pull<float, double, float>(module, "pull_float32_in_float64");
}

}  // namespace tgraph
