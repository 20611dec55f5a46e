// The arcs of each vertex whose reverse is stored, too. Each pair is looked up once, from its smaller end, in the
// ascending row of the larger one, so that no transpose is needed.
#include <algorithm>
#include <atomic>
#include <cstdint>

#include "base/bindings.hpp"
#include "base/rows.hpp"
#include "threads/parallel.hpp"

namespace tgraph {
namespace {

void add(int64_t& total, int64_t count) {
    if (count) std::atomic_ref<int64_t>(total).fetch_add(count, std::memory_order_relaxed);
}

// Whether the target occurs in an ascending range.
template <class Neighbor>
bool holds(const Neighbor* begin, int64_t size, Neighbor target) {
    if (!size || begin[0] > target || begin[size - 1] < target) return false;
    while (size > 1) {
        const int64_t half = size / 2;
        begin += begin[half] <= target ? half : 0;
        size -= half;
    }
    return *begin == target;
}

// Counts of different arcs that are no self-loops; zeros on entry.
template <class Neighbor>
void count_mutual(In<int64_t> offset, In<Neighbor> neighbors, Out<int64_t> mutual, Out<int64_t> distinct) {
    const auto n = static_cast<int64_t>(mutual.shape(0)), m = static_cast<int64_t>(neighbors.shape(0));
    const int64_t* first = offset.data();
    const Neighbor* ends = neighbors.data();
    constexpr int64_t some = 1 << 13;
    for_each_chunk((m + some - 1) / some, part_count(4 * m), [&](int64_t chunk) {
        each_row(first, n, {chunk * some, std::min(m, (chunk + 1) * some)}, [&](int64_t u, Range arcs) {
            int64_t different = 0, answered = 0;
            for (int64_t i = arcs.begin; i < arcs.end; ++i) {
                const int64_t v = ends[i];
                if (v == u || (i > first[u] && ends[i - 1] == ends[i])) continue;
                ++different;
                if (v < u || !holds(ends + first[v], first[v + 1] - first[v], static_cast<Neighbor>(u))) continue;
                ++answered;
                add(mutual.data()[v], 1);
            }
            add(mutual.data()[u], answered);
            add(distinct.data()[u], different);
        });
    });
}

template <class Neighbor>
void bind(nb::module_& module) {
    using nb::arg;
    module.def("count_mutual", &count_mutual<Neighbor>, arg("offset").noconvert(), arg("neighbors").noconvert(),
               arg("mutual").noconvert(), arg("distinct").noconvert(), nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace

void bind_mutual(nb::module_& module) {
    bind<int32_t>(module);
    bind<int64_t>(module);
}

}  // namespace tgraph
