// Pull of bfloat16 and float16, accumulated in float32 and rounded once.
#include "aggregation/segments/columns_reduce.hpp"
#include "aggregation/segments/pull.hpp"

namespace tgraph {

template ColumnKernels<BFloat16, float, BFloat16>
column_kernels<BFloat16, float, BFloat16>(std::string_view, std::string_view);
template ColumnKernels<Float16, float, Float16>
column_kernels<Float16, float, Float16>(std::string_view, std::string_view);

void bind_pull_narrow(Module& module) {
    bind_pull<BFloat16, float, BFloat16>(module, "pull_bfloat16");
    bind_pull<Float16, float, Float16>(module, "pull_float16");
}

}  // namespace tgraph
