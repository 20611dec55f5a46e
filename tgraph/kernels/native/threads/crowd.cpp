// Measures the CPU use of other processes from /proc/stat, and makes torch's OpenMP oversubscribed on purpose while
// there is any (crowd.hpp).
#include "threads/crowd.hpp"

#ifdef __linux__
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <string>
#include <thread>
#endif

namespace tgraph {
namespace {

std::atomic<double> others{0};

#ifdef __linux__

constexpr int64_t second = 1'000'000'000;

// The counters of /proc/stat tick in hundredths of a second: shorter intervals measure noise.
constexpr int64_t interval = second / 5;

// CPUs in use from which the machine counts as shared: background activity uses less, a busy process one CPU.
constexpr double least = 0.3;

// How long the idle team outlasts the last measurement of other load, so that short pauses do not end it.
constexpr int64_t stays = second;

int64_t read(clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    return int64_t{time.tv_sec} * second + time.tv_nsec;
}

// Busy time of the CPUs in the affinity mask, by all processes, including time stolen by the hypervisor.
int64_t busy_time() {
    cpu_set_t allowed;
    if (sched_getaffinity(getpid(), sizeof allowed, &allowed)) return 0;
    const int64_t tick = second / sysconf(_SC_CLK_TCK);
    int64_t total = 0;
    std::ifstream file("/proc/stat");
    for (std::string line; std::getline(file, line) && line.starts_with("cpu");) {
        int cpu = 0;
        long long user, nice, system, idle, waiting, interrupts, soft, stolen;
        constexpr const char* format = "cpu%d %lld %lld %lld %lld %lld %lld %lld %lld";
        const int fields = std::sscanf(line.c_str(), format, &cpu, &user, &nice, &system, &idle, &waiting, &interrupts,
                                       &soft, &stolen);
        if (fields == 9 && cpu < CPU_SETSIZE && CPU_ISSET(cpu, &allowed))
            total += tick * (user + nice + system + interrupts + soft + stolen);
    }
    return total;
}

using Parallel = void (*)(void (*)(void*), void*, unsigned threads, unsigned flags);

// GOMP_parallel of the OpenMP runtime that torch uses, null if that is not GNU's.
Parallel parallel() {
    static const auto found = [] {
        void* torch = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
        return torch ? reinterpret_cast<Parallel>(dlsym(torch, "GOMP_parallel")) : nullptr;
    }();
    return found;
}

// libgomp aborts the process if it cannot create a thread, so check that one can be created.
bool has_room_for_threads() {
    constexpr std::size_t bytes = std::size_t{64} << 20;
    void* const room = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) return false;
    munmap(room, bytes);
    try {
        std::thread([] {}).join();
    } catch (const std::exception&) {
        return false;
    }
    return true;
}

#endif

}  // namespace

double used_by_others() { return others.load(std::memory_order_relaxed); }

#ifdef __linux__

bool Crowd::look() {
    const int64_t time = read(CLOCK_MONOTONIC);
    if (time - seen_ >= interval) {
        const int64_t own = read(CLOCK_PROCESS_CPUTIME_ID), all = busy_time();
        const double used = static_cast<double>(all - all_ - (own - own_)) / static_cast<double>(time - seen_);
        if (seen_) others.store(used, std::memory_order_relaxed);
        if (seen_ && used >= least && parallel()) {
            until_.store(time + stays);
            start_idle_team();
        }
        seen_ = time, own_ = own, all_ = all;
    }
    return time < until_.load(std::memory_order_relaxed);
}

void Crowd::start_idle_team() {
    if (has_idle_team_.exchange(true)) return;
    try {
        std::thread([this] { run_idle_team(); }).detach();
    } catch (const std::exception&) {  // no thread, or no memory for one: torch keeps spinning
        has_idle_team_.store(false);
    }
}

// libgomp reduces the spin time of idle threads once its managed threads outnumber the CPUs. An idle team of two, kept
// by this thread, brings them above that number.
void Crowd::run_idle_team() {
    pthread_setname_np(pthread_self(), "tgraph idle");  // its helper, too, takes the name
    if (has_room_for_threads()) parallel()([](void*) {}, nullptr, 2, 0);
    for (int64_t time; (time = read(CLOCK_MONOTONIC)) < until_.load();)
        std::this_thread::sleep_for(std::chrono::nanoseconds(until_.load() - time));
    has_idle_team_.store(false);
}

#else

bool Crowd::look() { return false; }
void Crowd::start_idle_team() {}
void Crowd::run_idle_team() {}

#endif

}  // namespace tgraph
