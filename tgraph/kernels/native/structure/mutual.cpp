// The arcs of each vertex whose reverse is stored, too. Each pair is looked up once, from its smaller end, in the
// ascending row of the larger one, which needs no transpose.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "base/bindings.hpp"
#include "threads/parallel.hpp"

namespace tgraph {
namespace {

// Counts of different arcs that are no self-loops; zeros on entry. A part takes its rows in ascending order, and so
// meets the entries of the row of each target in ascending order, too: `met` is how far.
template <class Neighbor>
void count_mutual(In<int64_t> offset, In<Neighbor> neighbors, Out<int64_t> mutual, Out<int64_t> distinct) {
    const auto n = static_cast<int64_t>(mutual.shape(0)), m = static_cast<int64_t>(neighbors.shape(0));
    const int64_t* first = offset.data();
    const Neighbor* ends = neighbors.data();
    const int parts = part_count(2 * m);
    const auto row_of_part = [&](int part) {
        return part == parts ? n : std::lower_bound(first, first + n, part_of(m, part, parts).begin) - first;
    };
    for_each_part(parts, [&](int part) {
        const int64_t begin = row_of_part(part), end = row_of_part(part + 1);
        std::vector<int64_t> met(first, first + n), answered(n);
        for (int64_t v = begin; v < n && begin; ++v)
            met[v] = std::lower_bound(ends + first[v], ends + first[v + 1], begin) - ends;
        for (int64_t u = begin; u < end; ++u) {
            int64_t different = 0, own = 0;
            for (int64_t i = first[u]; i < first[u + 1]; ++i) {
                const int64_t v = ends[i];
                if (v == u || (i > first[u] && ends[i - 1] == v)) continue;
                ++different;
                if (v < u) continue;
                int64_t next = met[v];
                const int64_t row_end = first[v + 1];
                while (next < row_end && ends[next] < u) ++next;
                met[v] = next;
                const bool is_mutual = next < row_end && ends[next] == u;
                own += is_mutual;
                answered[v] += is_mutual;
            }
            answered[u] += own;
            distinct.data()[u] = different;
        }
        for (int64_t v = begin; v < n; ++v) {
            if (!answered[v]) continue;
            std::atomic_ref<int64_t>(mutual.data()[v]).fetch_add(answered[v], std::memory_order_relaxed);
        }
    });
}

template <class Neighbor>
void bind(Module& module) {
    module.def("count_mutual", &count_mutual<Neighbor>, "offset, neighbors, mutual, distinct");
}

}  // namespace

void bind_mutual(Module& module) {
    bind<int32_t>(module);
    bind<int64_t>(module);
}

}  // namespace tgraph
