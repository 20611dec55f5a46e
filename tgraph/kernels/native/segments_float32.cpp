#include "pull.hpp"

namespace tgraph {

void bind_pull_float32(nb::module_& module) { bind_pull<float, float, float>(module, "pull_float32"); }

}  // namespace tgraph
