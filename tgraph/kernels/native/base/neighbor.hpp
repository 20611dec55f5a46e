// The type of vertices in the rows of a graph.
#pragma once

#include <cstdint>

namespace tgraph {

// Graphs have neighbors of int64 from 2^31 vertices on, which kernels that are compiled for int32 alone leave to the
// portable backend.
using Neighbor = int32_t;

}  // namespace tgraph
