// Whether a graph has a cycle of arcs, or one of odd length, by a search that gives up after some thousand arcs where
// all would take long: most graphs that have one show it near any vertex.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/zeroed.hpp"
#include "components/breadth_first.hpp"

namespace tgraph {
namespace {

enum Found : int { unknown = -1, none = 0, some = 1 };

constexpr int64_t most_arcs = 1 << 14;

// Vertices whose states stay in the cache, so that one thread takes no longer than all threads that count arcs down.
constexpr int64_t few_vertices = 1 << 19;

// Breadth-first search that colours by the parity of depth, along the first arcs of each row, since hubs have too many.
// Two vertices of equal parity that one search reached, along arcs in whichever direction, close an odd cycle with
// their ways to its root. Arcs that lead to an earlier search tell nothing.
Found odd_cycle(const GraphRows& arcs, const KeptZeros<int32_t>& colour, std::vector<Neighbor>& order,
                bool complete) {
    constexpr int64_t most_of_row = 64;
    int64_t left = most_arcs;
    for (int64_t root = 0; root < arcs.num_vertices; ++root) {
        if (colour[root]) continue;
        const auto first = static_cast<int32_t>(2 * root + 2);  // roots are below most_arcs
        std::size_t next = order.size();
        order.push_back(static_cast<Neighbor>(root));
        colour[root] = first;
        for (; next < order.size(); ++next) {
            const Neighbor v = order[next];
            const int32_t own = colour[v], other = own ^ 1;
            const int64_t count = std::min(arcs.degree(v), most_of_row), begin = arcs.offset[v];
            complete = complete && count == arcs.degree(v);
            for (int64_t i = begin; i < begin + count; ++i) {
                const Neighbor u = arcs.neighbors[i];
                if (colour[u] == own) return some;
                if (colour[u]) continue;
                colour[u] = other;
                order.push_back(u);
            }
            if ((left -= count + 1) < 0) return unknown;
        }
    }
    return complete ? none : unknown;
}

// Depth-first search, which meets a vertex of its own path where there is a cycle. Of few vertices it takes all arcs.
Found cycle(const GraphRows& arcs, const KeptZeros<int8_t>& state, std::vector<Neighbor>& touched) {
    constexpr int8_t on_path = 1, done = 2;
    std::vector<std::pair<Neighbor, int64_t>> path;  // vertices and the arcs that are next
    constexpr std::size_t vertices_between_polls = 1 << 14;
    int64_t left = arcs.num_vertices <= few_vertices ? arcs.size() + 2 * arcs.num_vertices : most_arcs;
    const auto enter = [&](Neighbor v) {
        state[v] = on_path;
        touched.push_back(v);
        path.emplace_back(v, arcs.offset[v]);
    };
    for (int64_t root = 0; root < arcs.num_vertices; ++root) {
        if (state[root]) continue;
        enter(static_cast<Neighbor>(root));
        while (!path.empty()) {
            const Neighbor v = path.back().first;
            const int64_t begin = path.back().second, end = arcs.offset[v + 1];
            int64_t next = begin;
            while (next < end && state[arcs.neighbors[next]] == done) ++next;
            if ((left -= next - begin + 1) < 0) return unknown;
            if (next == end) {
                state[v] = done;
                path.pop_back();
                continue;
            }
            const Neighbor u = arcs.neighbors[next];
            if (state[u] == on_path) return some;
            path.back().second = next + 1;
            enter(u);
            if (touched.size() % vertices_between_polls == 0) poll_interruption();
        }
    }
    return none;
}

// 1 where an odd cycle is found, 0 where there is none, -1 where the search gave up. `mirrored`: each edge is stored
// both ways; of other rows it cannot tell that there is none.
int probe_odd_cycle(In<int64_t> offset, In<Neighbor> neighbors, bool mirrored) {
    const GraphRows arcs(offset, neighbors);
    KeptZeros<int32_t> colour(arcs.num_vertices);
    std::vector<Neighbor> order;
    const Found found = odd_cycle(arcs, colour, order, mirrored);
    colour.clear(order);
    return found;
}

// The same of cycles along the arcs.
int probe_cycle(In<int64_t> offset, In<Neighbor> neighbors) {
    const GraphRows arcs(offset, neighbors);
    KeptZeros<int8_t> state(arcs.num_vertices);
    std::vector<Neighbor> touched;
    const Found found = cycle(arcs, state, touched);
    state.clear(touched);
    return found;
}

}  // namespace

void bind_cycles(Module& module) {
    module.def("probe_odd_cycle", &probe_odd_cycle, "offset, neighbors, mirrored");
    module.def("probe_cycle", &probe_cycle, "offset, neighbors");
}

}  // namespace tgraph
