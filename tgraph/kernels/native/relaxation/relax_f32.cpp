// Relaxations of float values.
#include "relaxation/relax.hpp"

namespace tgraph {

template std::unique_ptr<Fixpoint> start(const Problem&, float*);

}  // namespace tgraph
