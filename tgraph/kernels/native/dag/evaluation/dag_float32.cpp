// Evaluation of DAGs in float32.
#include "dag/evaluation/dag_evaluate.hpp"

namespace tgraph {

void bind_dag_float32(Module& module) {
    define_evaluate<float, float>(module, "dag_float32");
}

}  // namespace tgraph
