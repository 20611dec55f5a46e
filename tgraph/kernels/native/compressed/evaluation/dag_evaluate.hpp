// Evaluation of a linear DAG of compressed rows: the kernels by dtype and pair of reduction and edge operation.
#pragma once

#include <memory>

#include "compressed/evaluation/dag_column.hpp"
#include "compressed/evaluation/dag_columns.hpp"
#include "compressed/evaluation/dag_plan.hpp"

namespace tgraph {

// Named after sum, prod, min and max of copies, and of messages multiplied by or added to weights.
enum class DagPair { sum, weighted_sum, product, least, largest, least_of_sums, largest_of_sums };

// Compiled for float, double, int32_t and int64_t, in a file for each (dag_kernels.hpp).
template <class A>
std::unique_ptr<DagColumn<DagTotal<A>>> column_of(const DagRows& rows, const DagPlan& plan, const ColumnData<A>& with,
                                                  DagPair pair);
template <class A>
DagKernels<A> kernels_of(DagPair pair);

}  // namespace tgraph
