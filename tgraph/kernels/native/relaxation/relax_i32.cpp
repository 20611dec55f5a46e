// Relaxations of int32_t values.
#include "relaxation/relax.hpp"

namespace tgraph {

template std::unique_ptr<Fixpoint> start(const Problem&, int32_t*);

}  // namespace tgraph
