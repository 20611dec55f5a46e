// The time by which loops return to Python.
#pragma once

#include <chrono>

namespace tgraph {

inline double seconds_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace tgraph
