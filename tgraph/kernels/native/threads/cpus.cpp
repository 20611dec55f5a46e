// CPU affinity, cgroup quotas (v1 and v2) and torch's thread settings, by system files and dlsym.
#include "threads/cpus.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "threads/team.hpp"

#ifdef __linux__
#include <sched.h>
#endif
#if defined(__unix__) || defined(__APPLE__)
#include <dlfcn.h>
#include <unistd.h>
#endif

namespace tgraph {
namespace {

// A cgroup hierarchy: its mount point, the group that is mounted there, and the group of the process.
struct Hierarchy {
    std::string mount, top, group;
    bool unified;  // version 2
};

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::istringstream in(text);
    for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
    return parts;
}

bool has_item(const std::string& list, const std::string& item) {
    const auto items = split(list, ',');
    return std::find(items.begin(), items.end(), item) != items.end();
}

// The groups of the process: of the cpu controller in version 1, and of version 2.
std::vector<Hierarchy> groups_of_process(const std::string& root) {
    std::vector<Hierarchy> found;
    std::ifstream file(root + "/proc/self/cgroup");
    for (std::string line; std::getline(file, line);) {  // number:controllers:group
        const auto first = line.find(':'), second = line.find(':', first + 1);
        if (second == std::string::npos) continue;
        const std::string controllers = line.substr(first + 1, second - first - 1);
        if (controllers.empty() || has_item(controllers, "cpu"))
            found.push_back({"", "", line.substr(second + 1), controllers.empty()});
    }
    return found;
}

// Finds the mount points. Fields of a line before " - ": id, parent, device, top, mount point, ...; after it: type,
// source, options.
void find_mounts(const std::string& root, std::vector<Hierarchy>& hierarchies) {
    std::ifstream file(root + "/proc/self/mountinfo");
    for (std::string line; std::getline(file, line);) {
        const auto middle = line.find(" - ");
        if (middle == std::string::npos) continue;
        const auto left = split(line.substr(0, middle), ' '), right = split(line.substr(middle + 3), ' ');
        if (left.size() < 5 || right.size() < 3) continue;
        for (Hierarchy& hierarchy : hierarchies)
            if (hierarchy.unified ? right[0] == "cgroup2" : right[0] == "cgroup" && has_item(right[2], "cpu"))
                hierarchy.top = left[3], hierarchy.mount = left[4];
    }
}

// The quota of one group, in CPUs.
std::optional<double> quota_of(const std::string& folder, bool unified) {
    double period = 0;
    std::string quota;
    if (unified) {
        std::ifstream(folder + "/cpu.max") >> quota >> period;
    } else {
        std::ifstream(folder + "/cpu.cfs_quota_us") >> quota;
        std::ifstream(folder + "/cpu.cfs_period_us") >> period;
    }
    const double time = std::strtod(quota.c_str(), nullptr);  // 0 for "max", negative for no quota
    if (time <= 0 || period <= 0) return std::nullopt;
    return time / period;
}

int online_cpus() {
#ifdef _SC_NPROCESSORS_ONLN
    return std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
#else
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
#endif
}

int allowed_cpus() {
#ifdef __linux__
    cpu_set_t allowed;
    if (sched_getaffinity(getpid(), sizeof allowed, &allowed) == 0) return std::max(1, CPU_COUNT(&allowed));
#endif
    return online_cpus();
}

int environment_number(const char* name) {
    const char* value = std::getenv(name);
    return value ? std::max(0, std::atoi(value)) : 0;
}

int64_t milliseconds_now() {
    using namespace std::chrono;
    return duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
}

std::atomic<int> usable{0};
std::atomic<int64_t> usable_until{0};

int usable_cpus() {
    if (milliseconds_now() >= usable_until.load(std::memory_order_relaxed)) find_cpus();
    return usable.load(std::memory_order_relaxed);
}

// Functions of torch and its OpenMP, found at run time: at::get_num_threads; at::init_num_threads, which copies the
// process-wide number into the calling thread; omp_pause_resource_all, which ends the threads that wait for work; and
// omp_set_num_threads.
struct TorchThreads {
    int (*get)() = nullptr;
    void (*take_over)() = nullptr;
    int (*pause)(int) = nullptr;
    void (*set)(int) = nullptr;

    TorchThreads() {
#if defined(__unix__) || defined(__APPLE__)
#ifdef __APPLE__
        void* library = dlopen("@rpath/libtorch_cpu.dylib", RTLD_LAZY | RTLD_NOLOAD);
#else
        void* library = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
#endif
        if (!library) library = RTLD_DEFAULT;
        get = reinterpret_cast<int (*)()>(dlsym(library, "_ZN2at15get_num_threadsEv"));
        take_over = reinterpret_cast<void (*)()>(dlsym(library, "_ZN2at16init_num_threadsEv"));
        pause = reinterpret_cast<int (*)(int)>(dlsym(library, "omp_pause_resource_all"));
        set = reinterpret_cast<void (*)(int)>(dlsym(library, "omp_set_num_threads"));
#endif
    }
};

const TorchThreads& torch_threads() {
    static const TorchThreads found;
    return found;
}

thread_local int held_threads = 0;  // torch's number of threads before `hold_torch`, 0 if it is not held

// The number of threads that torch is set to.
int torch_thread_count() {
    if (held_threads) return held_threads;
    const TorchThreads& torch = torch_threads();
    if (!torch.get) {
        static const int found = environment_number("OMP_NUM_THREADS");
        return found ? found : online_cpus();
    }
    if (torch.take_over && !on_main_thread()) torch.take_over();
    return torch.get();
}

thread_local int thread_limit = std::numeric_limits<int>::max();

}  // namespace

double cpu_quota(const std::string& root) {
    std::vector<Hierarchy> hierarchies = groups_of_process(root);
    find_mounts(root, hierarchies);
    std::optional<double> least;
    for (const Hierarchy& at : hierarchies) {
        if (at.mount.empty()) continue;
        // In a container only its own group is visible, mounted as the top of the hierarchy.
        std::string group = at.group;
        if (at.top != "/") group = group.starts_with(at.top) ? group.substr(at.top.size()) : "";
        for (;; group.resize(std::min(group.rfind('/'), group.size()))) {
            if (const auto quota = quota_of(root + at.mount + group, at.unified))
                least = std::min(*quota, least.value_or(*quota));
            if (group.empty()) break;
        }
    }
    return least.value_or(0);
}

Cpus find_cpus() {
    Cpus found{online_cpus(), allowed_cpus(), cpu_quota(""), environment_number("TGRAPH_CPUS"), 0};
    found.usable = found.affinity;
    if (found.quota > 0) found.usable = std::min(found.usable, static_cast<int>(std::ceil(found.quota - 1e-6)));
    if (found.demanded) found.usable = found.demanded;
    found.usable = std::max(found.usable, 1);
    usable.store(found.usable, std::memory_order_relaxed);
    usable_until.store(milliseconds_now() + 1000, std::memory_order_relaxed);
    return found;
}

void end_torch_threads() {
    constexpr int soft = 1;  // omp_pause_soft: threads are restarted on demand
    if (torch_threads().pause) torch_threads().pause(soft);
}

int hold_torch() {
    if (!torch_threads().set || held_threads) return 0;
    const int threads = torch_thread_count();
    if (threads < 2) return 0;
    torch_threads().set(1);
    return held_threads = threads;
}

void release_torch(int threads) {
    if (!threads) return;
    held_threads = 0;
    torch_threads().set(threads);
}

void follow_affinity() {
#ifdef __linux__
    cpu_set_t allowed;
    if (sched_getaffinity(getpid(), sizeof allowed, &allowed) == 0) sched_setaffinity(0, sizeof allowed, &allowed);
#endif
}

int thread_count() {
    if (thread_limit == 1) return 1;
    return std::max(1, std::min({torch_thread_count(), usable_cpus(), thread_limit}));
}

int limit_threads(int count) { return std::exchange(thread_limit, count); }

}  // namespace tgraph
