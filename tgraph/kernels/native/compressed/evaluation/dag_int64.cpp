// Kernels of DAGs in int64.
#include "compressed/evaluation/dag_kernels.hpp"

namespace tgraph {

using Column = DagColumn<DagTotal<int64_t>>;

template std::unique_ptr<Column> column_of(const DagRows&, const DagPlan&, const ColumnData<int64_t>&, DagPair);
template DagKernels<int64_t> kernels_of(DagPair);

}  // namespace tgraph
