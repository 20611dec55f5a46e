// Relaxations of float values.
#include "relax/relax.hpp"

namespace tgraph {

template std::unique_ptr<Fixpoint> start(const Problem&, float*);

}  // namespace tgraph
