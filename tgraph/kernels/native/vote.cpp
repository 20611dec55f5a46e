#include "bindings.hpp"

namespace tgraph {

void bind_vote(nb::module_&) {}

}  // namespace tgraph
