// The census of parallel regions (census.hpp): greedy list scheduling of measured chunk times.
#include "threads/census.hpp"

#include <algorithm>
#include <cstring>
#include <functional>

#include "threads/clock.hpp"

namespace tgraph {
namespace {

double between(int64_t begin, int64_t end) { return static_cast<double>(end - begin) * 1e-9; }

struct Region {
    std::vector<double> busy;  // simulated time of each thread, a min-heap
    int64_t began = time_on_core(), last = began;
    double in_chunks = 0, longest = 0;
    int64_t chunks = 0;

    explicit Region(int threads) : busy(threads) {}
};

thread_local bool is_counted = false;
thread_local Region* open_region = nullptr;
thread_local std::vector<PlaceCount> counts;

PlaceCount& count_of(Place place) {
    for (PlaceCount& count : counts)
        if (count.place.line == place.line && std::strcmp(count.place.file, place.file) == 0) return count;
    return counts.emplace_back(PlaceCount{place});
}

void add(const Region& region, Place place) {
    PlaceCount& count = count_of(place);
    const double seconds = between(region.began, time_on_core());
    const auto threads = static_cast<int>(region.busy.size());
    if (seconds > count.most) count.most = seconds, count.longest_chunk = region.longest;
    count.regions += 1;
    count.chunks += region.chunks;
    count.threads = std::max(count.threads, threads);
    count.seconds += seconds;
    count.spread += *std::max_element(region.busy.begin(), region.busy.end()) + (seconds - region.in_chunks) / threads;
}

}  // namespace

void take_census(bool taken) {
    counts.clear();
    is_counted = taken;
    census_is_taken.store(taken);
}

std::vector<PlaceCount> census() { return counts; }

bool run_counted(int threads, void (*body)(const void*, int), const void* object, Place place) {
    if (!is_counted) return false;
    if (open_region) return body(object, 0), true;  // nested: the team would be busy and the caller work alone
    struct Opened {
        Region region;
        Place place;
        Opened(int threads, Place place) : region(threads), place(place) { open_region = &region; }
        ~Opened() {
            open_region = nullptr;
            add(region, place);
        }
    } opened(threads, place);
    body(object, 0);
    return true;
}

void count_chunk() {
    if (!open_region) return;
    Region& region = *open_region;
    const int64_t now = time_on_core();
    const double seconds = between(region.last, now);
    region.last = now;
    region.in_chunks += seconds;
    region.longest = std::max(region.longest, seconds);
    ++region.chunks;
    std::pop_heap(region.busy.begin(), region.busy.end(), std::greater<>());
    region.busy.back() += seconds;
    std::push_heap(region.busy.begin(), region.busy.end(), std::greater<>());
}

}  // namespace tgraph
