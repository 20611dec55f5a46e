// A profiler of parallel regions that estimates, from a run on one thread, their time on many.
//
// While it is on, the thread that started it runs its regions alone. The measured time of each chunk is assigned to the
// thread that would be free first (greedy list scheduling, as the team's shared counter does): the largest sum is the
// time of the region, if threads do not slow each other down. Time outside of chunks is divided evenly.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

namespace tgraph {

// The source location of a region: by default that of the call with this default argument.
struct Place {
    const char* file;
    int line;

    constexpr Place(const char* file = __builtin_FILE(), int line = __builtin_LINE()) : file(file), line(line) {}
};

// Totals of the regions of one source location.
struct PlaceCount {
    Place place;
    int64_t regions = 0, chunks = 0;
    int threads = 0;                                  // the largest number that a region requested
    double seconds = 0, most = 0, longest_chunk = 0;  // of all regions, of the longest one, of its longest chunk
    double spread = 0;                                // estimated time on their threads
};

inline std::atomic<bool> census_is_taken{false};

// Starts or ends the census for the calling thread, and clears the counts.
void take_census(bool taken);

std::vector<PlaceCount> census();

// Runs body(object, 0) and counts it as a region; returns false without running it if the census of this thread is off.
bool run_counted(int threads, void (*body)(const void*, int), const void* object, Place place);

// Records the end of a chunk on the calling thread.
void count_chunk();

}  // namespace tgraph
