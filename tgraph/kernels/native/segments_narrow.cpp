// 16-bit floating numbers, reduced in float32 and rounded once.
#include "pull.hpp"

namespace tgraph {

void bind_pull_narrow(nb::module_& module) {
    bind_pull<BFloat16, float, BFloat16>(module, "pull_bfloat16");
    bind_pull<Float16, float, Float16>(module, "pull_float16");
}

}  // namespace tgraph
