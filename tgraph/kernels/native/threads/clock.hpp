// CPU time of a thread.
#pragma once

#include <cstdint>

namespace tgraph {

// CPU time of the calling thread in nanoseconds; wall clock time if the system does not report it.
int64_t time_on_core();

}  // namespace tgraph
