// The threads of the kernels: one team for the process, that helps whoever calls a kernel.
//
// A region is a function that the caller runs, and helpers with it as far as they come while it runs. It has to be
// written so that the caller alone would finish it: members take pieces of the work from a shared counter until there
// is none left. Then nobody waits for a thread that has no core: a helper that comes late finds the region closed, and
// the caller waits for those only that have taken something.
#pragma once

#include <memory>

#include "threads/census.hpp"

namespace tgraph {

// Runs body(object, rank) on the calling thread, as rank 0, and on at most threads - 1 helpers, under other ranks below
// `threads`. Returns when all who began have ended, and throws what one of them threw. Where the team is busy with
// another caller's region, or has cost more time of late than it saved, the caller works alone.
void run_region(int threads, void (*body)(const void* object, int rank), const void* object, Place place);

// Lets the caller be interrupted: asks the hook about ten times a second, on the main thread of the process alone.
void poll_interruption();

// What is to be asked; it throws to end the kernel.
void set_interruption_hook(void (*hook)());

// Whether this is the main thread of the process.
bool on_main_thread();

// Calls body(rank) as above.
template <class Body>
void run_team(int threads, const Body& body, Place place = {}) {
    if (threads <= 1) return body(0);
    run_region(threads, [](const void* object, int rank) { (*static_cast<const Body*>(object))(rank); },
               std::addressof(body), place);
}

}  // namespace tgraph
