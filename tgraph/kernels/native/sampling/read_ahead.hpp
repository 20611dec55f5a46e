// Pages of memory-mapped files, asked for before they are read: a thread that reads a page that is not in memory waits
// for the device, one page at a time, while the device answers many requests at once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/memory.hpp"

#ifdef __linux__
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace tgraph {

#ifdef __linux__
inline void* page_of(const void* address) {
    static const auto size = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(address) & ~(size - 1));
}

// Whether reading the address would wait for a device.
inline bool is_absent(const void* address) {
    unsigned char state = 1;
    return mincore(page_of(address), 1, &state) == 0 && !(state & 1);
}

// Starts reading the pages of so many bytes in the background. What is not asked for is read by a fault, which may
// read megabytes around it.
inline void read_ahead(const void* address, std::size_t bytes) {
    char* const page = static_cast<char*>(page_of(address));
    madvise(page, static_cast<std::size_t>(static_cast<const char*>(address) - page) + bytes, MADV_WILLNEED);
}
#else
inline bool is_absent(const void*) { return false; }
inline void read_ahead(const void*, std::size_t) {}
#endif

// Prefetches the line of the cache of a value, or, if `from_file`, its pages.
template <class T>
TGRAPH_INLINE void fetch_from(bool from_file, const T* value, std::size_t count = 1) {
    if (from_file) [[unlikely]]
        read_ahead(value, count * sizeof(T));
    else
        fetch(value);
}

}  // namespace tgraph
