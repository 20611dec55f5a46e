// A census of parallel regions: what they would take on many threads, told from one.
//
// While it is taken, the thread that asked for it runs its regions alone. The time of each chunk is given to whichever
// of the threads would be free first, in the order in which members of a team take chunks: the longest sum is what the
// region would take, on a machine whose threads do not slow each other down. What a region does outside of chunks, each
// member for itself, is divided evenly.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

namespace tgraph {

// Where a region stands in the source: by default where the call is written whose argument this is.
struct Place {
    const char* file;
    int line;

    constexpr Place(const char* file = __builtin_FILE(), int line = __builtin_LINE()) : file(file), line(line) {}
};

// The regions of one place.
struct PlaceCount {
    Place place;
    int64_t regions = 0, chunks = 0;
    int threads = 0;                                    // the most that a region asked for
    double seconds = 0, most = 0, longest_chunk = 0;  // of all regions, of the longest one, of its longest chunk
    double spread = 0;                                  // what they would take on their threads
};

inline std::atomic<bool> census_is_taken{false};

// Begins a census of the regions of the calling thread, or ends it; forgets those counted before.
void take_census(bool taken);

// What has been counted.
std::vector<PlaceCount> census();

// Runs body(object, 0) and counts it as a region; false, and nothing done, where the thread is not counted.
bool run_counted(int threads, void (*body)(const void*, int), const void* object, Place place);

// Tells that the calling thread has done a chunk of the region that it runs.
void count_chunk();

}  // namespace tgraph
