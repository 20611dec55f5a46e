// Pull with float64 accumulators, of data and weights stored in float64 or float32.
#include "aggregation/segments/columns_reduce.hpp"
#include "aggregation/segments/pull.hpp"

namespace tgraph {

template ColumnKernels<double, double, double>
column_kernels<double, double, double>(std::string_view, std::string_view);
template ColumnKernels<double, double, float>
column_kernels<double, double, float>(std::string_view, std::string_view);
template ColumnKernels<float, double, float>
column_kernels<float, double, float>(std::string_view, std::string_view);

void bind_pull_float64(Module& module) {
    bind_pull<double, double, double>(module, "pull_float64");
    bind_pull<double, double, float>(module, "pull_float64_weights_float32");
    bind_pull<float, double, float>(module, "pull_float32_in_float64");
}

}  // namespace tgraph
