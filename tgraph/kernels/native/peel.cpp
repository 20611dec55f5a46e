#include "bindings.hpp"

namespace tgraph {

void bind_peel(nb::module_&) {}

}  // namespace tgraph
