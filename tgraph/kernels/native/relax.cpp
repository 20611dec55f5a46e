#include "bindings.hpp"

namespace tgraph {

void bind_relax(nb::module_&) {}

}  // namespace tgraph
