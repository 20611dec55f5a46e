// Sleeping until a number changes. std::atomic's own wait gives the core away a few times before it sleeps; where
// others want the core, it then comes back a slice of the scheduler later.
#pragma once

#include <atomic>
#include <climits>
#include <cstdint>

#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace tgraph {

// Returns once the number is another, if not before: look again.
inline void sleep_while(std::atomic<uint32_t>& number, uint32_t value) {
#ifdef __linux__
    syscall(SYS_futex, &number, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
#else
    number.wait(value);
#endif
}

// Wakes so many of those who sleep, or as many as there are.
inline void wake(std::atomic<uint32_t>& number, int count) {
#ifdef __linux__
    syscall(SYS_futex, &number, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
#else
    count > 1 ? number.notify_all() : number.notify_one();
#endif
}

}  // namespace tgraph
