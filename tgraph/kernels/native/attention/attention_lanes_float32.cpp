// The inner loops of attention in float32.
#include "attention/attention_lanes.hpp"

namespace tgraph {

template const LaneKernels<float>& lane_kernels(int64_t);

}  // namespace tgraph
