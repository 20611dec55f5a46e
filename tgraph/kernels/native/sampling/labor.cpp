// The arcs of each row whose sources have the smallest random words: see kernels/operators/sampling/labor.py.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/bindings.hpp"
#include "base/memory.hpp"
#include "base/random.hpp"
#include "threads/parallel.hpp"

namespace tgraph {
namespace {

using Candidate = std::pair<uint64_t, int64_t>;  // (word, arc)

// The `count` smallest of the arcs begin..end - 1, ascending by arc.
template <class Neighbor>
void find_least(const Neighbor* neighbors, int64_t begin, int64_t end, int64_t count, int64_t key,
                std::vector<Candidate>& heap) {
    heap.clear();
    for (int64_t arc = begin; arc < end; ++arc) {
        const Candidate candidate{random_word(key, static_cast<uint64_t>(neighbors[arc])) >> 11, arc};
        if (static_cast<int64_t>(heap.size()) == count) {
            if (!(candidate < heap.front())) continue;
            std::pop_heap(heap.begin(), heap.end());
            heap.back() = candidate;
        } else {
            heap.push_back(candidate);
        }
        std::push_heap(heap.begin(), heap.end());
    }
    std::sort(heap.begin(), heap.end(), [](const Candidate& a, const Candidate& b) { return a.second < b.second; });
}

// Writes the arcs of each row [k, count], and how many there are.
template <class Neighbor>
void least_arcs(In<int64_t> offset, In<Neighbor> neighbors, In<int64_t> rows, int64_t count, int64_t key,
                Out<int64_t> arcs, Out<int64_t> found) {
    constexpr int64_t together = 16, ahead = 4;
    const auto size = static_cast<int64_t>(rows.shape(0));
    for_each_chunk((size + together - 1) / together, part_count(64 * size), [&](int64_t chunk) {
        const int64_t last = std::min(size, (chunk + 1) * together);
        thread_local std::vector<Candidate> heap;
        for (int64_t i = chunk * together; i < last; ++i) fetch(offset.data() + rows.data()[i]);
        for (int64_t i = chunk * together; i < last; ++i) {
            if (i + ahead < last) fetch(neighbors.data() + offset.data()[rows.data()[i + ahead]]);
            const int64_t begin = offset.data()[rows.data()[i]], end = offset.data()[rows.data()[i] + 1];
            int64_t* out = arcs.data() + i * count;
            found.data()[i] = std::min(count, end - begin);
            if (end - begin <= count) {
                for (int64_t arc = begin; arc < end; ++arc) *out++ = arc;
                continue;
            }
            if (count == 0) continue;
            find_least(neighbors.data(), begin, end, count, key, heap);
            for (const Candidate& candidate : heap) *out++ = candidate.second;
        }
    });
}

template <class Neighbor>
void bind(Module& module) {
    module.def("least_arcs", &least_arcs<Neighbor>, "offset, neighbors, rows, count, key, arcs, found");
}

}  // namespace

void bind_least_arcs(Module& module) {
    bind<int32_t>(module);
    bind<int64_t>(module);
}

}  // namespace tgraph
