// Kernels of DAGs in int64.
#include "dag/evaluation/dag_kernels.hpp"

namespace tgraph {

template std::unique_ptr<DagColumn<DagTotal<int64_t>>> column_of(const DagRows&, const DagPlan&, const ColumnData<int64_t>&,
                                                            DagPair);
template DagKernels<int64_t> kernels_of(DagPair);

}  // namespace tgraph
