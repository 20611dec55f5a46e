// How many threads the kernels may use: as many as torch uses, and no more than the process may have processors.
#pragma once

#include <string>

namespace tgraph {

// What the system lets the process have.
struct Cpus {
    int online;     // processors of the machine
    int affinity;   // those that the main thread may run on
    double quota;   // processors' worth of time by control groups, 0 where they set no limit
    int demanded;   // TGRAPH_CPUS, 0 where it is not set: counts in place of the others
    int usable;
};

// Looks at the system, and remembers what is found for `thread_count`.
Cpus find_cpus();

// The least quota among the control group of the process and those around it, in processors; 0 where there is none.
// Files are read below `root`, "" for those of the system.
double cpu_quota(const std::string& root);

// Ends the threads of torch's OpenMP that serve the calling thread, until it needs them again. A child of a fork would
// wait for them for ever: they are not there, and OpenMP does not know.
void end_torch_threads();

// Lets torch compute on the calling thread alone until `release_torch`. Its threads wait for each other after each
// operation, on crowded processors for far longer than they compute, and then spin where helpers of the team would
// work. The kernels use as many threads as before. Returns how many torch had, for `release_torch`, and 0 where nothing
// was changed.
int hold_torch();
void release_torch(int threads);

// Lets the calling thread run where the main thread may, whoever has started it.
void follow_affinity();

// Threads for kernels that are called from this thread. As torch.set_num_threads says, whichever thread has called it.
int thread_count();

// Lets kernels that are called from this thread use at most so many; returns what the limit was.
int limit_threads(int count);

}  // namespace tgraph
