// Huge pages, and the allocation of scratch buffers (memory.hpp).
#include "base/memory.hpp"

#include <cstdint>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace tgraph {

#ifdef __linux__
HugePages huge_pages_within(void* data, std::size_t bytes) {
    const auto first = (reinterpret_cast<std::uintptr_t>(data) + huge_page - 1) & ~(huge_page - 1);
    const auto last = (reinterpret_cast<std::uintptr_t>(data) + bytes) & ~(huge_page - 1);
    return {reinterpret_cast<void*>(first), first < last ? last - first : 0};
}
#endif

void advise_huge_pages([[maybe_unused]] void* data, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (const auto [first, size] = huge_pages_within(data, bytes); size) madvise(first, size, MADV_HUGEPAGE);
#endif
}

ScratchBytes::ScratchBytes(std::size_t bytes) {
    if (bytes < huge_page)
        data_ = std::malloc(bytes ? bytes : 1);
    else if (posix_memalign(&data_, huge_page, bytes))
        data_ = nullptr;
    if (!data_) throw std::bad_alloc();
    advise_huge_pages(data_, bytes);
}

}  // namespace tgraph
