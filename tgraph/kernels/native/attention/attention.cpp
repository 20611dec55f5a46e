// Bindings of attention in float32 and float64.
#include "attention/attention_bind.hpp"

namespace tgraph {

void bind_attention(Module& module) {
    bind_attention_float32(module);
    bind_attention_float64(module);
}

}  // namespace tgraph
