// Topological generations of a directed graph (Kahn, "Topological sorting of large networks", 1962), and longest paths
// in its order.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "components/breadth_first.hpp"

namespace tgraph {
namespace {

class Kahn {
public:
    // `left`: the arcs that lead to each vertex; the search counts them down.
    Kahn(GraphRows arcs, Neighbor* left, int64_t* generation)
        : arcs_(arcs), left_(left), generation_(generation), members_(thread_count()) {}

    // The vertices that no arc of the rest leads to are a generation, until none is left, or none is found. Returns how
    // many are in one: all, unless there is a cycle.
    int64_t run() {
        std::vector<Neighbor> current, next;
        for (int64_t v = 0; v < arcs_.num_vertices; ++v)
            if (left_[v] == 0) current.push_back(static_cast<Neighbor>(v));
        int64_t count = 0;
        for (int64_t number = 0; !current.empty(); ++number) {
            count += static_cast<int64_t>(current.size());
            next.clear();
            remove(current, next, number);
            current.swap(next);
        }
        return count;
    }

private:
    struct alignas(64) Member {
        std::vector<Neighbor> found;
    };

    GraphRows arcs_;
    Neighbor* left_;
    int64_t* generation_;
    std::vector<Member> members_;

    void remove(const std::vector<Neighbor>& current, std::vector<Neighbor>& next, int64_t number) {
        constexpr int64_t some = 64, worth_sharing = worth_a_thread(1 << 12);
        const auto count = static_cast<int64_t>(current.size());
        if (count < worth_sharing) {
            for (const Neighbor v : current) remove_vertex<false>(v, number, next);
            return;
        }
        for_each_chunk((count + some - 1) / some, thread_count(), [&](int64_t chunk, int rank) {
            for (int64_t i = chunk * some; i < std::min((chunk + 1) * some, count); ++i)
                remove_vertex<true>(current[i], number, members_[rank].found);
        });
        for (Member& member : members_) {
            next.insert(next.end(), member.found.begin(), member.found.end());
            member.found.clear();
        }
    }

    template <bool shared>
    void remove_vertex(Neighbor v, int64_t number, std::vector<Neighbor>& found) {
        constexpr int64_t ahead = 16;
        generation_[v] = number;
        const int64_t end = arcs_.offset[v + 1];
        for (int64_t i = arcs_.offset[v]; i < end; ++i) {
            if (i + ahead < end) fetch(left_ + arcs_.neighbors[i + ahead]);
            const Neighbor u = arcs_.neighbors[i];
            if (lower<shared>(left_[u]) == 0) found.push_back(u);
        }
    }

    template <bool shared>
    static Neighbor lower(Neighbor& left) {
        if constexpr (!shared) return --left;
        return std::atomic_ref<Neighbor>(left).fetch_sub(1, std::memory_order_relaxed) - 1;
    }
};

int64_t topological_levels(In<int64_t> offset, In<Neighbor> neighbors, In<int64_t> in_degree,
                           Out<int64_t> generation) {
    const GraphRows arcs(offset, neighbors);
    const Scratch<Neighbor> left(arcs.num_vertices);
    copy(in_degree.data(), arcs.num_vertices, left.data());
    fill(generation.data(), arcs.num_vertices, int64_t{-1});
    return Kahn(arcs, left.data(), generation.data()).run();
}

// For each vertex the largest sum of weights of a path that ends there, at least 0, and the vertex before it on such a
// path, the smallest one, -1 where the path begins.
template <class Weight, class Sum>
void longest(In<int64_t> offset, In<Neighbor> neighbors, In<Weight> weights, In<int64_t> order, Out<Sum> length,
             Out<int64_t> before) {
    const GraphRows arcs(offset, neighbors);
    Sum* const best = length.data();
    int64_t* const from = before.data();
    const Weight* const weight = weights.data();
    fill(best, arcs.num_vertices, Sum{0});
    fill(from, arcs.num_vertices, int64_t{-1});
    constexpr int64_t ahead = 16;
    for (int64_t i = 0; i < static_cast<int64_t>(order.shape(0)); ++i) {
        const int64_t v = order.data()[i], end = arcs.offset[v + 1];
        if (i % 4096 == 0) poll_interruption();
        const Sum own = best[v];
        for (int64_t arc = arcs.offset[v]; arc < end; ++arc) {
            if (arc + ahead < end) fetch(best + arcs.neighbors[arc + ahead]);
            const Neighbor u = arcs.neighbors[arc];
            const Sum sum = own + (weight ? static_cast<Sum>(weight[arc]) : Sum{1});
            if (sum > best[u] || (sum == best[u] && (from[u] < 0 || v < from[u]))) best[u] = sum, from[u] = v;
        }
    }
}

template <class Weight>
void bind_longest(Module& module) {
    using Sum = std::conditional_t<std::is_integral_v<Weight>, int64_t, double>;
    module.def("longest", &longest<Weight, Sum>, "offset, neighbors, weights?, order, length, before");
}

}  // namespace

void bind_topological(Module& module) {
    module.def("topological_levels", &topological_levels, "offset, neighbors, in_degree, generation");
    bind_longest<int64_t>(module);
    bind_longest<int32_t>(module);
    bind_longest<float>(module);
    bind_longest<double>(module);
}

}  // namespace tgraph
