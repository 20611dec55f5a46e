// Relaxations of int64_t values.
#include "relaxation/relax.hpp"

namespace tgraph {

template std::unique_ptr<Fixpoint> start(const Problem&, int64_t*);

}  // namespace tgraph
