// The inner loops of attention in float64.
#include "attention/attention_lanes.hpp"

namespace tgraph {

template const LaneKernels<double>& lane_kernels(int64_t);

}  // namespace tgraph
