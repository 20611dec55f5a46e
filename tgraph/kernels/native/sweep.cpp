#include "bindings.hpp"

namespace tgraph {

void bind_sweep(nb::module_&) {}

}  // namespace tgraph
