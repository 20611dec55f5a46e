// Pull of integers and bytes (bool as uint8).
#include "aggregation/segments/columns_reduce.hpp"
#include "aggregation/segments/pull.hpp"

namespace tgraph {

template ColumnKernels<int32_t, int32_t, int32_t>
column_kernels<int32_t, int32_t, int32_t>(std::string_view, std::string_view);
template ColumnKernels<int64_t, int64_t, int64_t>
column_kernels<int64_t, int64_t, int64_t>(std::string_view, std::string_view);
template ColumnKernels<uint8_t, uint8_t, uint8_t>
column_kernels<uint8_t, uint8_t, uint8_t>(std::string_view, std::string_view);

void bind_pull_integers(Module& module) {
    bind_pull<int32_t, int32_t, int32_t>(module, "pull_int32");
    bind_pull<int64_t, int64_t, int64_t>(module, "pull_int64");
    bind_pull<uint8_t, uint8_t, uint8_t>(module, "pull_uint8");
}

}  // namespace tgraph
