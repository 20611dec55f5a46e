// Huge pages for tensors: gathers from a large tensor in 4 KiB pages are bound by TLB misses, and a fresh tensor by
// page faults.
#include <atomic>
#include <cerrno>
#include <chrono>

#include "base/bindings.hpp"
#include "base/memory.hpp"

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

}  // namespace

void bind_pages(nb::module_& module) {
    using nb::arg;
    module.def(
        "advise_huge_pages", [](Out<uint8_t> bytes) { advise_huge_pages(bytes.data(), bytes.shape(0)); },
        arg("bytes").noconvert());
    module.def("collapse_pages", &collapse_pages, arg("bytes").noconvert(),
               nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace tgraph
