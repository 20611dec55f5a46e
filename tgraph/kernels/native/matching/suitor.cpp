// The matching that a greedy pass over the edges by descending weight finds, at least half of the largest weight: every
// vertex proposes to the best neighbor that has no better proposal, and who loses a place proposes again (Manne and
// Halappanavar, "New effective multithreaded matching algorithms", IPDPS 2014). Of equal weights the edge of the
// smaller ends comes first, or, without weights, random words decide; so there is one result.
#include <algorithm>
#include <atomic>
#include <cstdint>

#include "base/bindings.hpp"
#include "base/memory.hpp"
#include "base/random.hpp"
#include "base/rows.hpp"
#include "threads/parallel.hpp"

namespace tgraph {
namespace {

// Edges by weight; those that are not positive are left out.
template <class Weight>
struct Weighted {
    using Value = Weight;
    const Weight* weights;

    Weight operator()(int64_t i, int64_t, int64_t) const { return weights[i]; }
    bool leaves_out(int64_t i) const { return !(weights[i] > Weight{0}); }
};

// Edges in random order.
struct Random {
    using Value = uint64_t;
    int64_t key, num_vertices;

    uint64_t operator()(int64_t, int64_t u, int64_t v) const {
        return random_word(key, std::min(u, v) * num_vertices + std::max(u, v));
    }
    bool leaves_out(int64_t) const { return false; }
};

template <class Order>
class Suitor {
public:
    using Value = typename Order::Value;

    Suitor(const int64_t* offset, const int32_t* neighbors, int64_t num_vertices, const Order& order)
        : offset_(offset), neighbors_(neighbors), num_vertices_(num_vertices), order_(order), suitor_(num_vertices),
          value_(num_vertices), lock_(num_vertices) {
        for_each_entry(num_vertices, [&](int64_t v) {
            suitor_.data()[v] = none;
            value_.data()[v] = Value{};
            lock_.data()[v] = 0;
        });
    }

    void run(int64_t* mate) {
        const RowChunks chunks{offset_, num_vertices_};
        for_each_chunk(chunks.size(), part_count(offset_[num_vertices_]), [&](int64_t chunk) {
            const Range range = chunks[chunk];
            for (int64_t v = range.begin; v < range.end; ++v)
                for (int64_t u = v; u != none;) u = propose(u);
        });
        for_each_entry(num_vertices_, [&](int64_t v) { mate[v] = suitor_.data()[v]; });
    }

private:
    static constexpr int64_t none = -1;
    const int64_t* offset_;
    const int32_t* neighbors_;
    int64_t num_vertices_;
    Order order_;
    Scratch<int64_t> suitor_;
    Scratch<Value> value_;
    Scratch<uint8_t> lock_;

    int64_t suitor(int64_t v) const {
        return std::atomic_ref<int64_t>(suitor_.data()[v]).load(std::memory_order_relaxed);
    }
    // A suitor that is read after the value is that of it, or a later and better one.
    Value value(int64_t v) const {
        return std::atomic_ref<Value>(value_.data()[v]).load(std::memory_order_acquire);
    }

    // Whether the edge u - v of value a comes before the edge x - y of value b.
    static bool precedes(Value a, int64_t u, int64_t v, Value b, int64_t x, int64_t y) {
        if (a != b) return a > b;
        const int64_t low = std::min(u, v), other = std::min(x, y);
        return low != other ? low < other : std::max(u, v) < std::max(x, y);
    }

    // Whether v prefers u, of value a, to its suitor.
    bool prefers(int64_t v, int64_t u, Value a) const {
        const Value least = value(v);
        const int64_t held = suitor(v);
        return held == none || precedes(a, u, v, least, held, v);
    }

    // The proposal of u. Returns who lost a place by it, or -1.
    int64_t propose(int64_t u) {
        for (;;) {
            int64_t best = none;
            Value most{};
            for (int64_t i = offset_[u]; i < offset_[u + 1]; ++i) {
                const int64_t v = neighbors_[i];
                const Value a = order_(i, u, v);
                // Rows ascend: the first comes first.
                if (a <= most && (best != none || order_.leaves_out(i))) continue;
                if (v == u || !prefers(v, u, a)) continue;
                best = v;
                most = a;
            }
            if (best == none) return none;
            int64_t lost = none;
            if (replace(best, u, most, lost)) return lost;
        }
    }

    // Under the lock of v.
    bool replace(int64_t v, int64_t u, Value a, int64_t& lost) {
        std::atomic_ref<uint8_t> lock(lock_.data()[v]);
        while (lock.exchange(1, std::memory_order_acquire)) {}
        const bool better = prefers(v, u, a);
        if (better) {
            lost = suitor(v);
            std::atomic_ref<int64_t>(suitor_.data()[v]).store(u, std::memory_order_relaxed);
            std::atomic_ref<Value>(value_.data()[v]).store(a, std::memory_order_release);
        }
        lock.store(0, std::memory_order_release);
        return better;
    }
};

template <class Weight>
void heavy_matching(In<int64_t> offset, In<int32_t> neighbors, In<Weight> weights, Out<int64_t> mate) {
    const Weighted<Weight> order{weights.data()};
    Suitor(offset.data(), neighbors.data(), static_cast<int64_t>(mate.shape(0)), order).run(mate.data());
}

void random_matching(In<int64_t> offset, In<int32_t> neighbors, int64_t key, Out<int64_t> mate) {
    const auto n = static_cast<int64_t>(mate.shape(0));
    Suitor(offset.data(), neighbors.data(), n, Random{key, n}).run(mate.data());
}

template <class Weight>
void bind_heavy(Module& module) {
    module.def("heavy_matching", &heavy_matching<Weight>, "offset, neighbors, weights, mate");
}

}  // namespace

void bind_suitor(Module& module) {
    bind_heavy<double>(module);
    bind_heavy<float>(module);
    bind_heavy<int64_t>(module);
    bind_heavy<int32_t>(module);
    module.def("random_matching", &random_matching, "offset, neighbors, key, mate");
}

}  // namespace tgraph
