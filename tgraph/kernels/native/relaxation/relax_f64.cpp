// Relaxations of double values.
#include "relaxation/relax.hpp"

namespace tgraph {

template std::unique_ptr<Fixpoint> start(const Problem&, double*);

}  // namespace tgraph
