// Bindings of SELL-C-sigma pulls for numbers of 32 and 64 bits.
#include "aggregation/layouts/sell.hpp"

namespace tgraph {

void bind_sell(Module& module) {
    bind_pull_slices<float, float>(module, "pull_slices_float32");
    bind_pull_slices<float, double>(module, "pull_slices_float32_float64");  // float64 accumulators
    bind_pull_slices<double, double>(module, "pull_slices_float64");
    bind_pull_slices<int32_t, int32_t>(module, "pull_slices_int32");
    bind_pull_slices<int64_t, int64_t>(module, "pull_slices_int64");
    bind_sell_narrow(module);
}

}  // namespace tgraph
