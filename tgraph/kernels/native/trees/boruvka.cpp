// Minimum spanning forest by Boruvka's rounds: every tree takes its lightest edge to another tree, and the trees that
// these join are merged; at most log n rounds. An edge precedes another by its weight, then by its smaller and its
// larger end, so that there is one minimum.
//
// A tree of a quarter of the vertices takes no edges any more: those that lead to it are seen from their other ends,
// and its vertices need not be looked at again.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "base/bindings.hpp"
#include "base/memory.hpp"
#include "base/scan.hpp"
#include "threads/parallel.hpp"

namespace tgraph {
namespace {

template <class Weight>
class Boruvka {
public:
    // weights may be null: all equal. chosen [m] : becomes 1 at one arc of each edge of the forest.
    Boruvka(const int64_t* offset, const int32_t* neighbors, const Weight* weights, int64_t num_vertices,
            uint8_t* chosen)
        : offset_(offset), neighbors_(neighbors), weights_(weights), num_vertices_(num_vertices), chosen_(chosen),
          threads_(part_count(offset[num_vertices])), tree_(num_vertices), parent_(num_vertices),
          lightest_(num_vertices), best_(num_vertices) {
        fill(chosen, offset[num_vertices], uint8_t{0});
        for_each_entry(num_vertices, [&](int64_t v) {
            tree_.data()[v] = parent_.data()[v] = static_cast<int32_t>(v);
            lightest_.data()[v] = best_.data()[v] = none;
        });
    }

    void run() {
        std::vector<int32_t> left(num_vertices_), roots;
        for (int64_t v = 0; v < num_vertices_; ++v) left[v] = static_cast<int32_t>(v);
        roots = left;
        while (!left.empty()) {
            poll_interruption();
            find_lightest(left);
            merge(roots);
            for_each_entry(num_vertices_, [&](int64_t v) { tree_.data()[v] = parent_.data()[tree_.data()[v]]; });
            if (passive_ == none) passive_ = large_tree();
            const int64_t passive = passive_ == none ? none : tree_.data()[passive_];
            std::erase_if(left, [&](int32_t v) {
                return lightest_.data()[v] == none || tree_.data()[v] == passive;
            });
        }
    }

private:
    static constexpr int64_t none = -1;
    const int64_t* offset_;
    const int32_t* neighbors_;
    const Weight* weights_;
    int64_t num_vertices_;
    uint8_t* chosen_;
    int threads_;
    Scratch<int32_t> tree_, parent_;  // the root of each vertex; the parent of each former root
    // The lightest arc of a vertex out of its tree; the vertex that has that of a root.
    Scratch<int64_t> lightest_, best_;
    int64_t passive_ = none;            // a vertex of the tree that takes no edges

    bool precedes(int64_t u, int64_t i, int64_t v, int64_t j) const {
        if (weights_ && weights_[i] != weights_[j]) return weights_[i] < weights_[j];
        const int64_t a = neighbors_[i], b = neighbors_[j];
        const int64_t low = std::min(u, a), other = std::min(v, b);
        return low != other ? low < other : std::max(u, a) < std::max(v, b);
    }

    bool is_same(int64_t u, int64_t i, int64_t v, int64_t j) const {
        return !precedes(u, i, v, j) && !precedes(v, j, u, i);
    }

    void find_lightest(const std::vector<int32_t>& left) {
        constexpr int64_t some = 256;
        const int64_t size = std::ssize(left);
        for_each_chunk((size + some - 1) / some, size < worth_a_thread(1 << 13) ? 1 : threads_, [&](int64_t chunk) {
            for (int64_t k = chunk * some; k < std::min(size, (chunk + 1) * some); ++k) {
                const int64_t v = left[k], arc = lightest_of(v);
                lightest_.data()[v] = arc;
                if (arc != none) offer(tree_.data()[v], v);
            }
        });
    }

    int64_t lightest_of(int64_t v) const {
        const int32_t tree = tree_.data()[v];
        int64_t found = none;
        for (int64_t i = offset_[v]; i < offset_[v + 1]; ++i) {
            if (found != none && !precedes(v, i, v, found)) continue;
            if (tree_.data()[neighbors_[i]] != tree) found = i;
        }
        return found;
    }

    void offer(int64_t root, int64_t v) {
        std::atomic_ref<int64_t> best(best_.data()[root]);
        int64_t held = best.load(std::memory_order_acquire);
        while (held == none || precedes(v, lightest_.data()[v], held, lightest_.data()[held]))
            if (best.compare_exchange_weak(held, v, std::memory_order_acq_rel)) return;
    }

    // Every root follows its lightest edge to another root, but for the smaller one of two that have the same edge;
    // then all lead to the last one on their way, and those that are still roots are kept.
    void merge(std::vector<int32_t>& roots) {
        const int64_t size = std::ssize(roots);
        for_each_entry(size, [&](int64_t k) { follow(roots[k]); });
        for_each_entry(size, [&](int64_t k) { best_.data()[roots[k]] = none; });
        for (std::atomic<bool> moved{true}; moved.load();) {
            moved.store(false);
            for_each_entry(size, [&](int64_t k) {
                std::atomic_ref<int32_t> parent(parent_.data()[roots[k]]);
                const int32_t near = parent.load(std::memory_order_relaxed);
                const int32_t far = std::atomic_ref<int32_t>(parent_.data()[near]).load(std::memory_order_relaxed);
                if (far == near) return;
                parent.store(far, std::memory_order_relaxed);
                moved.store(true, std::memory_order_relaxed);
            });
        }
        std::erase_if(roots, [&](int32_t v) { return parent_.data()[v] != v; });
    }

    void follow(int32_t root) {
        const int64_t v = best_.data()[root];
        if (v == none) return;
        const int64_t arc = lightest_.data()[v];
        const int32_t other = tree_.data()[neighbors_[arc]];
        const int64_t u = best_.data()[other];
        if (root < other && u != none && is_same(u, lightest_.data()[u], v, arc)) return;
        chosen_[arc] = 1;
        parent_.data()[root] = other;
    }

    // The root of a tree of a quarter of the vertices, or none: of the trees of an even sample the most frequent.
    int64_t large_tree() const {
        constexpr int64_t samples = 1024;
        std::vector<int64_t> tree(samples);
        for (int64_t i = 0; i < samples; ++i)
            tree[i] = tree_.data()[static_cast<int64_t>(static_cast<double>(i) / samples * num_vertices_)];
        std::sort(tree.begin(), tree.end());
        for (int64_t i = 0; i + samples / 4 < samples; ++i)
            if (tree[i] == tree[i + samples / 4]) return tree[i];
        return none;
    }
};

template <class Weight>
void spanning_forest(In<int64_t> offset, In<int32_t> neighbors, In<Weight> weights, Out<uint8_t> chosen) {
    const auto num_vertices = static_cast<int64_t>(offset.shape(0)) - 1;
    Boruvka<Weight>(offset.data(), neighbors.data(), weights.data(), num_vertices, chosen.data()).run();
}

// Calls visit(v) for every vertex, for some at a time.
template <class Visit>
void each_vertex(int64_t num_vertices, int threads, const Visit& visit) {
    constexpr int64_t some = 1024;
    for_each_chunk((num_vertices + some - 1) / some, threads, [&](int64_t chunk) {
        for (int64_t v = chunk * some; v < std::min(num_vertices, (chunk + 1) * some); ++v) visit(v);
    });
}

// Marks the reverse of each chosen arc with 2, and writes the offsets of the rows of all that are marked then. Parallel
// arcs have the order of their reverses. Returns how many are marked.
int64_t mark_both_ways(In<int64_t> offset, In<int32_t> neighbors, Out<uint8_t> chosen, Out<int64_t> new_offset) {
    const int64_t num_vertices = static_cast<int64_t>(offset.shape(0)) - 1, *const begin = offset.data();
    const int32_t* const to = neighbors.data();
    const int threads = part_count(begin[num_vertices]);
    each_vertex(num_vertices, threads, [&](int64_t v) {
        for (int64_t i = begin[v]; i < begin[v + 1]; ++i) {
            if (std::atomic_ref<uint8_t>(chosen.data()[i]).load(std::memory_order_relaxed) != 1) continue;
            int64_t first = i;
            while (first > begin[v] && to[first - 1] == to[i]) --first;
            const int64_t back = std::lower_bound(to + begin[to[i]], to + begin[to[i] + 1], v) - to + (i - first);
            std::atomic_ref<uint8_t>(chosen.data()[back]).store(2, std::memory_order_relaxed);
        }
    });
    int64_t* const out = new_offset.data();
    out[0] = 0;
    each_vertex(num_vertices, threads, [&](int64_t v) {
        out[v + 1] = std::count_if(chosen.data() + begin[v], chosen.data() + begin[v + 1], [](uint8_t c) { return c; });
    });
    scan(num_vertices + 1, out, int64_t{0}, [=](int64_t v) { return out[v]; });
    return out[num_vertices];
}

// The places of the marked arcs, row by row.
void list_marked(In<int64_t> offset, In<uint8_t> marked, In<int64_t> new_offset, Out<int64_t> places) {
    const int64_t num_vertices = static_cast<int64_t>(offset.shape(0)) - 1;
    each_vertex(num_vertices, part_count(offset.data()[num_vertices]), [&](int64_t v) {
        int64_t next = new_offset.data()[v];
        for (int64_t i = offset.data()[v]; i < offset.data()[v + 1]; ++i)
            if (marked.data()[i]) places.data()[next++] = i;
    });
}

template <class Weight>
void bind(Module& module) {
    module.def("spanning_forest", &spanning_forest<Weight>, "offset, neighbors, weights?, chosen");
}

}  // namespace

void bind_boruvka(Module& module) {
    bind<double>(module);
    bind<float>(module);
    bind<int32_t>(module);
    bind<int64_t>(module);
    module.def("mark_both_ways", &mark_both_ways, "offset, neighbors, chosen, new_offset");
    module.def("list_marked", &list_marked, "offset, marked, new_offset, places");
}

}  // namespace tgraph
