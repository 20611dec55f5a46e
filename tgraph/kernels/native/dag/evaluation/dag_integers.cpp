// Evaluation of DAGs on integers and bytes.
#include "dag/evaluation/dag_evaluate.hpp"

namespace tgraph {

void bind_dag_integers(Module& module) {
    define_evaluate<int32_t, int32_t>(module, "dag_int32");
    define_evaluate<int64_t, int64_t>(module, "dag_int64");
    define_evaluate<uint8_t, uint8_t>(module, "dag_uint8");
}

}  // namespace tgraph
