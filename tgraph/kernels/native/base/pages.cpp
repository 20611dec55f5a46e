// Huge pages for the memory of tensors. Rows that are gathered from all over a large tensor miss the processor's table
// of recent pages again and again where pages are small, and a fresh tensor is given to the process page by page.
#include <atomic>
#include <cerrno>
#include <chrono>

#include "base/bindings.hpp"
#include "base/memory.hpp"

namespace tgraph {
namespace {

// Moves memory that is in use into huge pages: a fifth of a millisecond for each megabyte once, microseconds where it
// is done. Linux does so since 6.1. A system that has no huge page left is not asked again for a while, for it looks
// long. Any other failure, such as pages that are in use just now, is one of this memory alone.
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
