// Kernels of DAGs in float32.
#include "compressed/evaluation/dag_kernels.hpp"

namespace tgraph {

using Column = DagColumn<DagTotal<float>>;

template std::unique_ptr<Column> column_of(const DagRows&, const DagPlan&, const ColumnData<float>&, DagPair);
template DagKernels<float> kernels_of(DagPair);

}  // namespace tgraph
