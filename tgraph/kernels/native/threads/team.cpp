// The thread pool (team.hpp). One atomic word holds the number of the open region, the seats left in it and the helpers
// that joined; helpers join by compare-and-swap (acquire, paired with the release that opens the region), and spin
// briefly before they sleep on a futex.
#include "threads/team.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <cstddef>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "threads/clock.hpp"
#include "threads/cpus.hpp"
#include "threads/crowd.hpp"
#include "threads/futex.hpp"
#include "threads/relax.hpp"

#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif
#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#include <time.h>
#endif

namespace tgraph {
namespace {

using Nanoseconds = int64_t;

Nanoseconds now() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

// Spins until a condition holds, for `patience` at most; returns whether it does.
template <class Condition>
bool spin(Nanoseconds patience, const Condition& condition) {
    for (const Nanoseconds end = now() + patience;;) {
        for (int i = 0; i < 16; ++i) {
            if (condition()) return true;
            relax();
        }
        if (now() >= end) return false;
    }
}

// How long an idle helper, and a caller whose helpers have not finished, spin before they sleep. Waking takes tens of
// microseconds, while spinning occupies a core that the awaited thread, or torch between two regions, may need.
constexpr Nanoseconds idle_patience = 50'000, end_patience = 30'000;

// After a region that helpers slowed down, the caller works alone for this multiple of the time lost, so that at most a
// tenth of the time is lost to helpers that have no core.
constexpr int64_t caution = 10;
constexpr Nanoseconds longest_caution = 500'000'000;

class Pool {
public:
    void run(int threads, void (*body)(const void*, int), const void* object) {
        if (busy_.exchange(true, std::memory_order_acquire)) return body(object, 0);
        const Release release{busy_};
        threads = std::min(threads, most + 1);
        const bool torch_sleeps = crowd_.look();
        if (alone_for_ > 0) return run_alone(body, object);
        if (!torch_sleeps) end_torch_threads();  // they would spin for milliseconds on the helpers' cores
        start_helpers(threads - 1);
        body_ = body, object_ = object;
        failed_.store(false, std::memory_order_relaxed);
        open(std::min(threads - 1, num_helpers_));
        try {
            body(object, 0);
        } catch (...) {
            fail();
        }
        wait_for(close());
        if (failed_.load(std::memory_order_relaxed)) std::rethrow_exception(std::exchange(failure_, nullptr));
    }

private:
    static constexpr int most = 1 << 12;  // helpers, more than any machine has cores

    // Fields of `state_`: seats left, helpers that joined, and the number of the region, which avoids the ABA problem.
    static constexpr uint64_t seat = 1, member = 1 << 16, region = uint64_t{1} << 32;
    static int seats(uint64_t state) { return static_cast<int>(state % member); }
    static int members(uint64_t state) { return static_cast<int>(state / member % member); }

    struct Release {
        std::atomic<bool>& busy;
        ~Release() { busy.store(false, std::memory_order_release); }
    };

    void run_alone(void (*body)(const void*, int), const void* object) {
        struct Clock {
            Nanoseconds& left;
            Nanoseconds began = now();
            ~Clock() { left -= now() - began; }
        } clock{alone_for_};
        body(object, 0);
    }

    // If the system cannot create a thread, the region runs with those that exist.
    void start_helpers(int count) {
        for (; num_helpers_ < count; ++num_helpers_) {
            try {
                std::thread([this] { help(); }).detach();
            } catch (const std::system_error&) {
                return;
            } catch (const std::bad_alloc&) {
                return;
            }
        }
    }

    void open(int count) {
        left_.store(0, std::memory_order_relaxed);
        helped_.store(0, std::memory_order_relaxed);
        const uint64_t number = state_.load(std::memory_order_relaxed) / region + 1;
        state_.store(number * region + static_cast<uint64_t>(count) * seat, std::memory_order_release);
        calls_.fetch_add(1);
        const int awake = num_helpers_ - asleep_.load();
        if (count > awake) wake(calls_, count - awake);
    }

    // Clears the seats; returns how many helpers have joined.
    uint32_t close() { return members(state_.fetch_and(~(member - 1), std::memory_order_relaxed)); }

    void wait_for(uint32_t joined) {
        const auto done = [&] { return left_.load(std::memory_order_acquire) == joined; };
        if (done()) return;
        const Nanoseconds began = now();
        if (!spin(end_patience, done)) sleep_until_left(joined);
        // Waiting for a helper that runs is no loss: only the wait beyond the helpers' CPU time is, when they have no
        // core.
        const Nanoseconds lost = now() - began - helped_.load(std::memory_order_relaxed);
        if (lost > 0) alone_for_ = std::min(alone_for_ + caution * lost, longest_caution);
    }

    void sleep_until_left(uint32_t joined) {
        caller_sleeps_.store(true);
        for (uint32_t left; (left = left_.load()) != joined;) sleep_while(left_, left);
        caller_sleeps_.store(false, std::memory_order_relaxed);
    }

    void fail() {
        if (!failed_.exchange(true)) failure_ = std::current_exception();
    }

    void help() {
        limit_threads(1);
        follow_affinity();
        for (;;) {
            const uint32_t seen = calls_.load(std::memory_order_acquire);
            if (const int rank = join()) {
                take_part(rank);
            } else if (const auto called = [&] { return calls_.load(std::memory_order_relaxed) != seen; };
                       !spin(idle_patience, called)) {
                asleep_.fetch_add(1);
                sleep_while(calls_, seen);
                asleep_.fetch_sub(1);
            }
        }
    }

    // Joins the open region and returns the rank in it; 0 if there is none or it is full.
    int join() {
        uint64_t state = state_.load(std::memory_order_acquire);
        while (seats(state))
            if (state_.compare_exchange_weak(state, state - seat + member, std::memory_order_acquire))
                return members(state) + 1;
        return 0;
    }

    void take_part(int rank) {
        const Nanoseconds began = time_on_core();
        try {
            body_(object_, rank);
        } catch (...) {
            fail();
        }
        helped_.fetch_add(time_on_core() - began, std::memory_order_relaxed);
        left_.fetch_add(1);
        if (caller_sleeps_.load()) wake(left_, 1);
    }

    std::atomic<bool> busy_{false};
    int num_helpers_ = 0;
    Nanoseconds alone_for_ = 0;
    Crowd crowd_;
    void (*body_)(const void*, int) = nullptr;
    const void* object_ = nullptr;
    std::exception_ptr failure_;
    std::atomic<bool> failed_{false};
    alignas(64) std::atomic<uint64_t> state_{0};
    alignas(64) std::atomic<uint32_t> calls_{0};  // regions opened so far
    std::atomic<int> asleep_{0};
    alignas(64) std::atomic<uint32_t> left_{0};  // helpers that have finished
    std::atomic<bool> caller_sleeps_{false};
    std::atomic<Nanoseconds> helped_{0};  // CPU time of the helpers
};

// Never destroyed: helpers use it until the process ends.
alignas(Pool) std::byte memory[sizeof(Pool)];

Pool& pool() { return *std::launder(reinterpret_cast<Pool*>(memory)); }

thread_local signed char main_thread = -1;  // not known yet

void start_team() {
    new (memory) Pool;
}

// The child of a fork has only the forking thread, which becomes its main thread: start with a fresh pool.
void start_team_of_child() {
    start_team();
    main_thread = 1;
}

const bool started = [] {
    start_team();
#if defined(__unix__) || defined(__APPLE__)
    pthread_atfork(end_torch_threads, nullptr, start_team_of_child);
#endif
    return true;
}();

std::atomic<void (*)()> interruption_hook{nullptr};

}  // namespace

int64_t time_on_core() {
#ifdef CLOCK_THREAD_CPUTIME_ID
    timespec time{};
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0) return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
#endif
    return now();
}

void run_region(int threads, void (*body)(const void*, int), const void* object, Place place) {
    if (threads <= 1) return body(object, 0);
    if (census_is_taken.load(std::memory_order_relaxed) && run_counted(threads, body, object, place)) return;
    pool().run(threads, body, object);
}

void set_interruption_hook(void (*hook)()) { interruption_hook.store(hook); }

bool on_main_thread() {
#ifdef __linux__
    if (main_thread < 0) main_thread = syscall(SYS_gettid) == getpid();
#elif defined(__APPLE__)
    if (main_thread < 0) main_thread = pthread_main_np() != 0;
#endif
    return main_thread != 0;
}

void poll_interruption() {
    constexpr Nanoseconds interval = 100'000'000;
    static thread_local Nanoseconds next = 0;
    if (!on_main_thread()) return;
    const Nanoseconds time = now();
    if (time < next) return;
    next = time + interval;
    if (const auto hook = interruption_hook.load(std::memory_order_relaxed)) hook();
}

}  // namespace tgraph
