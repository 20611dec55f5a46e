// Scratch buffers for O(V) and O(E) temporaries, huge page hints (madvise) and software prefetch.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <utility>

#include "base/simd.hpp"

namespace tgraph {

inline constexpr std::size_t huge_page = std::size_t{1} << 21;

#ifdef __linux__
struct HugePages {
    void* first;
    std::size_t bytes;  // 0 where there are none
};

HugePages huge_pages_within(void* data, std::size_t bytes);
#endif

// Requests huge pages for the untouched memory [data, data + bytes): a page fault per fresh 4 KiB page takes as long as
// the pass that fills them. A hint only: failure is ignored.
void advise_huge_pages(void* data, std::size_t bytes);

// Prefetches the cache line of an address, which need not be valid. Callers must be inlined too: GCC considers a
// function that only prefetches free of side effects and drops calls of it.
TGRAPH_INLINE void fetch(const void* address) { __builtin_prefetch(address); }

// Prefetches into the second-level cache, for data that L1 would evict again before it is read.
TGRAPH_INLINE void fetch_ahead(const void* address) { __builtin_prefetch(address, 0, 2); }

// Uninitialised bytes, freed on destruction; huge pages if they are many.
class ScratchBytes {
public:
    ScratchBytes() = default;
    explicit ScratchBytes(std::size_t bytes);
    ScratchBytes(ScratchBytes&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
    ScratchBytes& operator=(ScratchBytes&& other) noexcept {
        std::free(std::exchange(data_, std::exchange(other.data_, nullptr)));
        return *this;
    }
    ~ScratchBytes() { std::free(data_); }

    void* data() const { return data_; }

private:
    void* data_ = nullptr;
};

// Uninitialised memory for `count` items of a trivial type.
template <class T>
class Scratch {
public:
    Scratch() = default;
    explicit Scratch(std::size_t count) : bytes_(count * sizeof(T)) {}

    T* data() const { return static_cast<T*>(bytes_.data()); }
    explicit operator bool() const { return data(); }

private:
    ScratchBytes bytes_;
};

}  // namespace tgraph
