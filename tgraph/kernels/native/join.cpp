#include "bindings.hpp"

namespace tgraph {

void bind_join(nb::module_&) {}

}  // namespace tgraph
