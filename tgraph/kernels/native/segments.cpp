#include "bindings.hpp"

namespace tgraph {

void bind_aggregate(nb::module_&) {}

}  // namespace tgraph
