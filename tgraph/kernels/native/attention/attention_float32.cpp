// Attention in float32.
#include "attention/attention_bind.hpp"

namespace tgraph {

void bind_attention_float32(Module& module) { bind_attention_of<float>(module, "AttentionFloat32"); }

}  // namespace tgraph
