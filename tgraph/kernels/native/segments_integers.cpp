#include "pull.hpp"

namespace tgraph {

void bind_pull_integers(nb::module_& module) {
    bind_pull<int32_t, int32_t, int32_t>(module, "pull_int32");
    bind_pull<int64_t, int64_t, int64_t>(module, "pull_int64");
    bind_pull<uint8_t, uint8_t, uint8_t>(module, "pull_uint8");
}

}  // namespace tgraph
