// Kernels of DAGs in float64.
#include "dag/evaluation/dag_kernels.hpp"

namespace tgraph {

template std::unique_ptr<DagColumn<DagTotal<double>>> column_of(const DagRows&, const DagPlan&, const ColumnData<double>&,
                                                            DagPair);
template DagKernels<double> kernels_of(DagPair);

}  // namespace tgraph
