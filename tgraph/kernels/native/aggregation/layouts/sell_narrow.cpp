// The same for bytes, and for 16-bit floating numbers, which are reduced in float32 and rounded once.
#include "aggregation/layouts/sell.hpp"

namespace tgraph {

void bind_sell_narrow(nb::module_& module) {
    bind_pull_slices<uint8_t, uint8_t>(module, "pull_slices_uint8");
    bind_pull_slices<BFloat16, float>(module, "pull_slices_bfloat16");
    bind_pull_slices<Float16, float>(module, "pull_slices_float16");
}

}  // namespace tgraph
