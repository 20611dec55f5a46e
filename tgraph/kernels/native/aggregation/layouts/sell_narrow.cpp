// Bindings of SELL-C-sigma pulls for bytes, bfloat16 and float16; the latter two accumulate in float32.
#include "aggregation/layouts/sell.hpp"

namespace tgraph {

void bind_sell_narrow(Module& module) {
    bind_pull_slices<uint8_t, uint8_t>(module, "pull_slices_uint8");
    bind_pull_slices<BFloat16, float>(module, "pull_slices_bfloat16");
    bind_pull_slices<Float16, float>(module, "pull_slices_float16");
}

}  // namespace tgraph
