// Scratch buffers for O(V) and O(E) temporaries, huge page hints (madvise) and software prefetch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "base/simd.hpp"

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace tgraph {

inline constexpr std::size_t huge_page = std::size_t{1} << 21;

#ifdef __linux__
struct HugePages {
    void* first;
    std::size_t bytes;  // 0 where there are none
};

inline HugePages huge_pages_within(void* data, std::size_t bytes) {
    const auto first = (reinterpret_cast<std::uintptr_t>(data) + huge_page - 1) & ~(huge_page - 1);
    const auto last = (reinterpret_cast<std::uintptr_t>(data) + bytes) & ~(huge_page - 1);
    return {reinterpret_cast<void*>(first), first < last ? last - first : 0};
}
#endif

// Requests huge pages for the untouched memory [data, data + bytes): a page fault per fresh 4 KiB page takes as long as
// the pass that fills them. A hint only: failure is ignored.
inline void advise_huge_pages([[maybe_unused]] void* data, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (const auto [first, size] = huge_pages_within(data, bytes); size) madvise(first, size, MADV_HUGEPAGE);
#endif
}

// Prefetches the cache line of an address, which need not be valid. Callers must be inlined too: GCC considers a
// function that only prefetches free of side effects and drops calls of it.
TGRAPH_INLINE void fetch(const void* address) { __builtin_prefetch(address); }

// Prefetches into the second-level cache, for data that L1 would evict again before it is read.
TGRAPH_INLINE void fetch_ahead(const void* address) { __builtin_prefetch(address, 0, 2); }

// Uninitialised memory for `count` items of a trivial type, freed on destruction.
template <class T>
class Scratch {
public:
    Scratch() = default;
    explicit Scratch(std::size_t count) {
        const std::size_t bytes = count * sizeof(T);
        const std::align_val_t alignment{bytes < huge_page ? alignof(std::max_align_t) : huge_page};
        data_ = Memory(static_cast<T*>(::operator new(bytes, alignment)), Free{alignment});
        advise_huge_pages(data_.get(), bytes);
    }

    T* data() const { return data_.get(); }
    explicit operator bool() const { return static_cast<bool>(data_); }

private:
    struct Free {
        std::align_val_t alignment{};
        void operator()(T* data) const { ::operator delete(data, alignment); }
    };
    using Memory = std::unique_ptr<T[], Free>;
    Memory data_;
};

}  // namespace tgraph
