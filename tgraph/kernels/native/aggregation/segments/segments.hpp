// The bindings that `bind_aggregate` makes besides its own.
#pragma once

#include "base/bindings.hpp"

namespace tgraph {

void bind_push(Module& module);
void bind_gradients(Module& module);

}  // namespace tgraph
