// The thread pool of the kernels, one per process.
//
// A parallel region is a function that the calling thread runs, joined by helpers as they become available. Threads
// take pieces of the work from a shared counter until none is left, so the caller alone would finish it, and there is
// no barrier at the start: a helper that arrives late finds the region closed, and the caller waits only for those that
// have joined.
#pragma once

#include <memory>

#include "threads/census.hpp"

namespace tgraph {

// Runs body(object, rank) on the calling thread, as rank 0, and on at most threads - 1 helpers with distinct ranks
// below `threads`. Returns when all of them have finished, and rethrows one of their exceptions. The caller works alone
// if `threads` is 1, if the pool is busy with a region of another thread, or if helpers have recently cost more time
// than they saved.
void run_region(int threads, void (*body)(const void* object, int rank), const void* object, Place place);

// Calls the interruption hook about ten times a second, on the main thread of the process only.
void poll_interruption();

// The hook throws to end the kernel.
void set_interruption_hook(void (*hook)());

bool on_main_thread();

// Calls body(rank) by `run_region`.
template <class Body>
void run_team(int threads, const Body& body, Place place = {}) {
    run_region(threads, [](const void* object, int rank) { (*static_cast<const Body*>(object))(rank); },
               std::addressof(body), place);
}

}  // namespace tgraph
