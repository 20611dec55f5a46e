// Kernels of DAGs in int32.
#include "compressed/evaluation/dag_kernels.hpp"

namespace tgraph {

using Column = DagColumn<DagTotal<int32_t>>;

template std::unique_ptr<Column> column_of(const DagRows&, const DagPlan&, const ColumnData<int32_t>&, DagPair);
template DagKernels<int32_t> kernels_of(DagPair);

}  // namespace tgraph
