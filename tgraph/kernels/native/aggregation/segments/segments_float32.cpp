// Pull in float32.
#include "aggregation/segments/columns_reduce.hpp"
#include "aggregation/segments/pull.hpp"

namespace tgraph {

template ColumnKernels<float, float, float> column_kernels<float, float, float>(std::string_view, std::string_view);

void bind_pull_float32(Module& module) { bind_pull<float, float, float>(module, "pull_float32"); }

}  // namespace tgraph
