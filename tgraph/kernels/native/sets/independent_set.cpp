// The maximal independent set that a greedy pass in random order finds, in parallel: a vertex joins once no neighbor
// before it is left that may join, and drops out once one has joined (Blelloch, Fineman and Shun, SPAA 2012). What each
// vertex becomes does not depend on when it is looked at.
#include <atomic>
#include <cstdint>
#include <vector>

#include "base/bindings.hpp"
#include "base/neighbor.hpp"
#include "base/random.hpp"
#include "base/scan.hpp"
#include "threads/parallel.hpp"

namespace tgraph {
namespace {

enum State : uint8_t { open, joined, dropped };

struct IndependentSet {
    const int64_t* offset;
    const Neighbor* neighbors;
    int64_t key;
    uint8_t* state;

    uint8_t read(int64_t v) const { return std::atomic_ref<uint8_t>(state[v]).load(std::memory_order_relaxed); }
    void write(int64_t v, uint8_t value) const {
        std::atomic_ref<uint8_t>(state[v]).store(value, std::memory_order_relaxed);
    }

    // Whether the vertex is still open.
    bool visit(int64_t v) const {
        if (read(v) != open) return false;
        const uint64_t mine = random_word(key, v);
        for (int64_t i = offset[v]; i < offset[v + 1]; ++i) {
            const int64_t u = neighbors[i];
            const uint8_t other = read(u);
            if (u == v || other == dropped) continue;
            if (other == joined) return write(v, dropped), false;
            const uint64_t word = random_word(key, u);
            if (word < mine || (word == mine && u < v)) return true;
        }
        write(v, joined);
        for (int64_t i = offset[v]; i < offset[v + 1]; ++i)
            if (neighbors[i] != v) write(neighbors[i], dropped);
        return false;
    }
};

void independent_set(In<int64_t> offset, In<Neighbor> neighbors, int64_t key, Out<uint8_t> state) {
    const auto n = static_cast<int64_t>(state.shape(0));
    const IndependentSet set{offset.data(), neighbors.data(), key, state.data()};
    fill(state.data(), n, uint8_t{open});
    std::vector<Neighbor> left(n), kept(n);
    for_each_entry(n, [&](int64_t v) { left[v] = static_cast<Neighbor>(v); });
    constexpr int64_t some = 1024;
    while (!left.empty()) {
        const int64_t size = std::ssize(left), chunks = (size + some - 1) / some;
        std::vector<int64_t> count(chunks);
        for_each_chunk(chunks, part_count(2 * size), [&](int64_t chunk) {
            int64_t next = chunk * some;
            for (int64_t k = chunk * some; k < std::min(size, (chunk + 1) * some); ++k)
                if (set.visit(left[k])) kept[next++] = left[k];
            count[chunk] = next - chunk * some;
        });
        int64_t next = 0;
        for (int64_t chunk = 0; chunk < chunks; ++chunk)
            for (int64_t k = 0; k < count[chunk]; ++k) left[next++] = kept[chunk * some + k];
        left.resize(next);
    }
}

}  // namespace

void bind_independent_set(Module& module) {
    module.def("independent_set", &independent_set, "offset, neighbors, key, state");
}

}  // namespace tgraph
