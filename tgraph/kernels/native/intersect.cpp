#include "bindings.hpp"

namespace tgraph {

void bind_intersect(nb::module_&) {}

}  // namespace tgraph
