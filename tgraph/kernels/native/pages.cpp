// Huge pages for the memory of tensors. Rows that are gathered from all over a large tensor miss the processor's table
// of recent pages again and again where pages are small, and a fresh tensor is given to the process page by page.
#include <atomic>
#include <cerrno>

#include "bindings.hpp"
#include "memory.hpp"

namespace tgraph {
namespace {

// Moves memory that is in use into huge pages: a fifth of a millisecond for each megabyte once, microseconds where it
// is done. Linux does so since 6.1; a system that has had no huge page left is not asked again, for it looks long.
void collapse_pages([[maybe_unused]] Out<uint8_t> bytes) {
#ifdef __linux__
    constexpr int collapse = 25;  // MADV_COLLAPSE, which older headers lack
    static std::atomic<bool> none_left{false};
    const auto [first, size] = huge_pages_within(bytes.data(), bytes.shape(0));
    if (size && !none_left && madvise(first, size, collapse) != 0) none_left = errno != EINVAL;
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
