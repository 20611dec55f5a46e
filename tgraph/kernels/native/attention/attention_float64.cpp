// Attention in float64.
#include "attention/attention_bind.hpp"

namespace tgraph {

void bind_attention_float64(Module& module) { bind_attention_of<double>(module, "AttentionFloat64"); }

}  // namespace tgraph
