// Direction-optimising search (Beamer, Asanovic, Patterson, SC 2012): the choice between push, along the out-arcs of
// the frontier, and pull, along the in-arcs of all vertices.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tgraph {

// Thresholds of the policy; see `Thresholds` in tgraph/core/direction.py.
struct Thresholds {
    int64_t alpha, beta, floor, remaining;
};

// The same policy as `DirectionPolicy` in tgraph/core/direction.py, so that backends switch in the same rounds.
struct DirectionPolicy {
    enum Mode { automatic, push, pull };

    Mode mode;
    Thresholds at;
    int64_t num_vertices, unexplored;  // unexplored: arcs not traversed yet
    bool settles;                      // the first value that reaches a vertex is final
    bool pulling = false;
    int64_t last_size = 0;

    // Whether the arcs outweigh a pass over all vertices.
    bool is_dense(int64_t arcs) const { return arcs * at.floor > num_vertices; }

    bool choose(int64_t size, int64_t arcs, bool everything) {
        if (mode != automatic)
            pulling = mode == pull;
        else if (everything)
            pulling = true;
        else if (settles || !pulling)
            pulling = arcs * (settles ? at.alpha : 1) >= unexplored && is_dense(pulling ? arcs * at.remaining : arcs);
        else
            pulling = size * at.beta >= num_vertices || size >= last_size;
        if (settles) unexplored = std::max<int64_t>(0, unexplored - arcs);
        last_size = size;
        return pulling;
    }
};

}  // namespace tgraph
