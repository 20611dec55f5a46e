// Evaluation of DAGs on bfloat16 and float16, accumulated in float32.
#include "dag/evaluation/dag_evaluate.hpp"

namespace tgraph {

void bind_dag_narrow(Module& module) {
    define_evaluate<Float16, float>(module, "dag_float16");
    define_evaluate<BFloat16, float>(module, "dag_bfloat16");
}

}  // namespace tgraph
