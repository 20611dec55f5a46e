// The direction of a round: whether the frontier pushes along its out-arcs or all vertices pull along their in-arcs.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tgraph {

// Push or pull by the work ahead, as tgraph.engine.direction.DirectionPolicy does. Where vertices settle a pull after a pull
// looks at those alone that are left, 64 at a time.
struct DirectionPolicy {
    static constexpr int64_t alpha = 4, beta = 18, floor = 8;
    enum Mode { automatic, push, pull };

    Mode mode;
    int64_t num_vertices, unexplored;  // arcs that no search has crossed yet
    bool settles;                      // the first value to reach a vertex is its last
    bool pulling = false;
    int64_t last_size = 0;

    // Whether so many arcs are worth a pass over all vertices.
    bool is_dense(int64_t arcs) const { return arcs * floor > num_vertices; }

    bool choose(int64_t size, int64_t arcs, bool everything) {
        if (mode != automatic)
            pulling = mode == pull;
        else if (everything)
            pulling = true;
        else if (settles || !pulling)
            pulling = arcs * (settles ? alpha : 1) >= unexplored && is_dense(pulling ? arcs * 64 : arcs);
        else
            pulling = size * beta >= num_vertices || size >= last_size;
        if (settles) unexplored = std::max<int64_t>(0, unexplored - arcs);
        last_size = size;
        return pulling;
    }
};

}  // namespace tgraph
