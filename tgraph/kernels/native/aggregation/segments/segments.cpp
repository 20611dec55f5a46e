// Bindings of pull, push and the gradients of segment reductions.
#include "aggregation/segments/pull.hpp"

namespace tgraph {

void bind_aggregate(Module& module) {
    bind_pull_float32(module);
    bind_pull_float64(module);
    bind_pull_integers(module);
    bind_pull_narrow(module);
    bind_push(module);
    bind_gradients(module);
}

}  // namespace tgraph
