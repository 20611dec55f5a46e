// The direction of a round: whether the frontier pushes along its out-arcs or all vertices pull along their in-arcs.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tgraph {

// When to change the direction; see `Thresholds` in tgraph/core/direction.py, which passes them.
struct Thresholds {
    int64_t alpha, beta, floor, remaining;
};

// Push or pull by the work ahead, in the same rounds as `DirectionPolicy` in tgraph/core/direction.py.
struct DirectionPolicy {
    enum Mode { automatic, push, pull };

    Mode mode;
    Thresholds at;
    int64_t num_vertices, unexplored;  // arcs that no search has crossed yet
    bool settles;                      // the first value to reach a vertex is its last
    bool pulling = false;
    int64_t last_size = 0;

    // Whether so many arcs are worth a pass over all vertices.
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
