// Huge pages for tensors: gathers from a large tensor in 4 KiB pages are bound by TLB misses, and a fresh tensor by
// page faults.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <memory>
#include <new>

#include <nanobind/ndarray.h>
#include "base/classes.hpp"
#include "base/memory.hpp"

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace tgraph {
namespace {

// Moves memory in use into huge pages (MADV_COLLAPSE, Linux 6.1): 0.2 ms per MB once, microseconds if it is there
// already. After ENOMEM (no free huge page, a slow search) there are no further attempts for `pause`; other errors,
// such as pinned pages, concern this memory alone and are ignored.
void collapse_pages([[maybe_unused]] Out<uint8_t> bytes) {
#ifdef __linux__
    using Clock = std::chrono::steady_clock;
    constexpr int collapse = 25;  // MADV_COLLAPSE, which older headers lack
    constexpr auto pause = std::chrono::seconds(10);
    static std::atomic<Clock::rep> not_before{Clock::duration::min().count()};
    const auto [first, size] = huge_pages_within(bytes.data(), bytes.shape(0));
    if (!size || Clock::now().time_since_epoch().count() < not_before) return;
    if (madvise(first, size, collapse) != 0 && errno == ENOMEM)
        not_before = (Clock::now().time_since_epoch() + pause).count();
#endif
}

// Memory of its own mapping, in huge pages where it is large. It is given back without the lock of the interpreter and
// piece by piece: to free hundreds of megabytes takes milliseconds, in which other threads wait for both.
struct Mapping {
    uint8_t* begin;
    std::size_t bytes;

    explicit Mapping(std::size_t size) : bytes(size + huge_page) {
#ifdef __linux__
        void* const found = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (found == MAP_FAILED) throw std::bad_alloc();
        begin = static_cast<uint8_t*>(found);
        advise_huge_pages(begin, bytes);
#else
        begin = static_cast<uint8_t*>(::operator new(bytes));
#endif
    }

    uint8_t* data() const {
        return reinterpret_cast<uint8_t*>((reinterpret_cast<std::uintptr_t>(begin) + huge_page - 1) & ~(huge_page - 1));
    }

    ~Mapping() {
        const nb::gil_scoped_release released;  // Python calls it, and does so with its lock
#ifdef __linux__
        constexpr std::size_t piece = 4 * huge_page;
        for (std::size_t at = 0; at < bytes; at += piece)
            madvise(begin + at, std::min(piece, bytes - at), MADV_DONTNEED);
        munmap(begin, bytes);
#else
        ::operator delete(begin);
#endif
    }
};

nb::object map_memory(std::size_t bytes) {
    auto mapping = std::make_unique<Mapping>(bytes);
    uint8_t* const data = mapping->data();
    nb::capsule owner(mapping.get(), [](void* held) noexcept { delete static_cast<Mapping*>(held); });
    mapping.release();
    return nb::cast(nb::ndarray<nb::numpy, uint8_t, nb::ndim<1>>(data, {bytes}, owner));
}

}  // namespace

void bind_pages(Module& module) {
    module.def("advise_huge_pages", [](Out<uint8_t> bytes) { advise_huge_pages(bytes.data(), bytes.shape(0)); },
               "bytes", Gil::held);
    python_module(module).def("map_memory", &map_memory, nb::arg("bytes"));
    module.def("collapse_pages", &collapse_pages, "bytes");
}

}  // namespace tgraph
