#include "bindings.hpp"

namespace tgraph {

void bind_power(nb::module_&) {}

}  // namespace tgraph
