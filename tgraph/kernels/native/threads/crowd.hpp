// Detection of CPUs that are shared with other processes.
//
// Idle OpenMP threads of torch spin for milliseconds before they sleep. On shared CPUs spinning uses up their scheduler
// time slice, so that they are preempted when the next parallel loop starts, and torch waits a time slice for them.
#pragma once

#include <atomic>
#include <cstdint>

namespace tgraph {

class Crowd {
public:
    // Measures, at most five times a second, whether other processes use the CPUs in the affinity mask. While they do,
    // and for a second after, idle OpenMP threads of torch sleep almost at once. Returns whether that is so. To be
    // called by one thread at a time; the object must live until the process ends.
    bool look();

private:
    using Nanoseconds = int64_t;

    void start_idle_team();
    void run_idle_team();

    Nanoseconds seen_ = 0, own_ = 0, all_ = 0;
    std::atomic<Nanoseconds> until_{0};
    std::atomic<bool> has_idle_team_{false};
};

// CPUs that other processes used at the last measurement.
double used_by_others();

}  // namespace tgraph
