// Processors that others compute on as well.
//
// The threads of torch's OpenMP look for the next loop for milliseconds before they sleep. Where others want the
// processors that uses up the time that the scheduler gives them, so that they have none when there is a loop: torch
// then waits for them, for a slice of the scheduler each time.
#pragma once

#include <atomic>
#include <cstdint>

namespace tgraph {

class Crowd {
public:
    // Looks, a few times a second at most, whether others compute on the processors that the process may use. While
    // they do, and for a second after, torch's threads sleep soon after each loop. Returns whether that is so. Called
    // by one thread at a time; the object has to last as long as the process.
    bool look();

private:
    using Nanoseconds = int64_t;

    void let_torch_sleep();
    void be_idle_team();

    Nanoseconds seen_ = 0, own_ = 0, all_ = 0;
    std::atomic<Nanoseconds> until_{0};
    std::atomic<bool> team_is_there_{false};
};

// How many processors others were using when one last looked.
double used_by_others();

}  // namespace tgraph
