// Kernels of DAGs in float64.
#include "compressed/evaluation/dag_kernels.hpp"

namespace tgraph {

using Column = DagColumn<DagTotal<double>>;

template std::unique_ptr<Column> column_of(const DagRows&, const DagPlan&, const ColumnData<double>&, DagPair);
template DagKernels<double> kernels_of(DagPair);

}  // namespace tgraph
