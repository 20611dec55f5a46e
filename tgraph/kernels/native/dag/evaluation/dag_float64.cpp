// Evaluation of DAGs in float64.
#include "dag/evaluation/dag_evaluate.hpp"

namespace tgraph {

void bind_dag_float64(Module& module) {
    define_evaluate<double, double>(module, "dag_float64");
}

}  // namespace tgraph
