// Kernels of DAGs in int32.
#include "dag/evaluation/dag_kernels.hpp"

namespace tgraph {

template std::unique_ptr<DagColumn<DagTotal<int32_t>>> column_of(const DagRows&, const DagPlan&, const ColumnData<int32_t>&,
                                                            DagPair);
template DagKernels<int32_t> kernels_of(DagPair);

}  // namespace tgraph
