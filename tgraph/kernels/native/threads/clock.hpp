// How long a thread has had a core.
#pragma once

#include <cstdint>

namespace tgraph {

// Nanoseconds for which the calling thread has had a core; of time where the system does not tell.
int64_t time_on_core();

}  // namespace tgraph
