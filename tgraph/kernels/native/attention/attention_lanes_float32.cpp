// The inner loops of attention in float32.
#include "attention/attention_lanes.hpp"

namespace tgraph {

template <>
const LaneKernels<float>& lane_kernels(int64_t columns) {
    return columns > 8 && (columns + 7) / 8 % 2 == 0 ? kernels_of_lanes<16, float> : kernels_of_lanes<8, float>;
}

}  // namespace tgraph
