// The number of threads of a kernel: torch's setting, limited by the CPUs that this process may use (affinity, cgroup
// quota, TGRAPH_CPUS).
#pragma once

#include <string>

namespace tgraph {

struct Cpus {
    int online;     // CPUs of the machine
    int affinity;   // CPUs in the affinity mask of the main thread
    double quota;   // cgroup quota in CPUs, 0 for no limit
    int demanded;   // TGRAPH_CPUS, 0 if not set: overrides affinity and quota
    int usable;
};

// Queries the system, and caches the result for `thread_count`.
Cpus find_cpus();

// The smallest quota of the cgroup of the process and its ancestors, in CPUs; 0 for no limit. Files are read below
// `root`, "" for those of the system.
double cpu_quota(const std::string& root);

// Ends the OpenMP threads of torch that serve the calling thread; OpenMP restarts them on demand. Necessary before a
// fork: the child would wait forever for threads that exist only in the parent.
void end_torch_threads();

// Restricts torch to the calling thread until `release_torch`. Torch's threads meet at a barrier after each operation,
// which on oversubscribed CPUs takes far longer than the operation, and then spin on cores that the team needs. Kernels
// keep their number of threads. Returns torch's previous number, for `release_torch`, or 0 if nothing was changed.
int hold_torch();
void release_torch(int threads);

// Gives the calling thread the affinity mask of the main thread, in place of that of the thread that started it.
void follow_affinity();

// Threads for kernels called from this thread; follows torch.set_num_threads from any thread.
int thread_count();

// Limits the threads of kernels called from this thread; returns the previous limit.
int limit_threads(int count);

}  // namespace tgraph
