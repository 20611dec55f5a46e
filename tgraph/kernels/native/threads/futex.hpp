// Futex wait and wake. std::atomic::wait yields a few times before it sleeps, and on shared CPUs a yield costs a whole
// scheduler time slice.
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

// Returns when the number is no longer `value`, or spuriously: check again.
inline void sleep_while(std::atomic<uint32_t>& number, uint32_t value) {
#ifdef __linux__
    syscall(SYS_futex, &number, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
#else
    number.wait(value);
#endif
}

// Wakes up to `count` sleeping threads.
inline void wake(std::atomic<uint32_t>& number, int count) {
#ifdef __linux__
    syscall(SYS_futex, &number, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
#else
    count > 1 ? number.notify_all() : number.notify_one();
#endif
}

}  // namespace tgraph
