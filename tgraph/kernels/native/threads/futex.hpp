// Futex wait and wake. std::atomic::wait yields a few times before it sleeps, and on shared CPUs a yield costs a whole
// scheduler time slice.
#pragma once

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdint>

#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#else
#include <chrono>
#include <thread>
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

// Likewise for a number in memory that processes share, for some nanoseconds at most.
inline void sleep_among_processes(std::atomic<uint32_t>& number, uint32_t value, int64_t nanoseconds) {
#ifdef __linux__
    constexpr int64_t second = 1'000'000'000;
    const timespec most{static_cast<time_t>(nanoseconds / second), static_cast<long>(nanoseconds % second)};
    syscall(SYS_futex, &number, FUTEX_WAIT, value, &most, nullptr, 0);
#else
    const std::chrono::nanoseconds most(std::min<int64_t>(nanoseconds, 50'000));
    if (number.load() == value) std::this_thread::sleep_for(most);
#endif
}

// Wakes the processes that sleep so.
inline void wake_processes([[maybe_unused]] std::atomic<uint32_t>& number) {
#ifdef __linux__
    syscall(SYS_futex, &number, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
#endif
}

}  // namespace tgraph
