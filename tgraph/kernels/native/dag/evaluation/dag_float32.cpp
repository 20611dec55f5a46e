// Kernels of DAGs in float32.
#include "dag/evaluation/dag_kernels.hpp"

namespace tgraph {

template std::unique_ptr<DagColumn<DagTotal<float>>> column_of(const DagRows&, const DagPlan&, const ColumnData<float>&,
                                                            DagPair);
template DagKernels<float> kernels_of(DagPair);

}  // namespace tgraph
