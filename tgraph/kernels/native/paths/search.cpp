// Searches that go on one vertex at a time, in the order of a queue (breadth first), of a heap (Dijkstra 1959) or from
// both ends in turns: what they return depends on the order in which the rows list their neighbors.
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <functional>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/bindings.hpp"
#include "threads/team.hpp"

namespace tgraph {
namespace {

constexpr int64_t visits_between_polls = 1 << 16;

// Writes the vertices in the order in which they are found; parent and depth are those of vertices, -1 before. Returns
// the number of vertices found.
template <class Neighbor>
int64_t breadth_first(In<int64_t> offset, In<Neighbor> neighbors, In<int64_t> sources, int64_t max_depth,
                      Out<int64_t> order, Out<int64_t> parent, Out<int64_t> depth) {
    const auto num_vertices = static_cast<int64_t>(offset.shape(0)) - 1;
    const int64_t* const start = offset.data();
    int64_t found = 0;
    for (std::size_t i = 0; i < sources.shape(0); ++i) {
        const int64_t source = sources.data()[i];
        if (depth.data()[source] >= 0) continue;
        depth.data()[source] = 0;
        order.data()[found++] = source;
    }
    for (int64_t head = 0; head < found && found < num_vertices; ++head) {
        if (head % visits_between_polls == 0) poll_interruption();
        const int64_t v = order.data()[head], next = depth.data()[v] + 1;
        if (next > max_depth) break;
        for (int64_t i = start[v]; i < start[v + 1]; ++i) {
            const int64_t w = neighbors.data()[i];
            if (depth.data()[w] >= 0) continue;
            depth.data()[w] = next;
            parent.data()[w] = v;
            order.data()[found++] = w;
        }
    }
    return found;
}

// The vertices of equal distance leave the heap in the order in which they entered it; they are written to `order` as
// they leave it, and to `met` as they first enter it. `distance` is -1 for a vertex
// not reached, and final once `settled`. Ends at the `target`. Returns the number of vertices in the order, or -1 where
// a vertex would come nearer after it is settled, which takes a negative weight.
template <class Neighbor, class Weight>
int64_t dijkstra(In<int64_t> offset, In<Neighbor> neighbors, In<Weight> weights, In<int64_t> sources, Weight cutoff,
                 int64_t target, Out<int64_t> order, Out<int64_t> met, Out<int64_t> parent, Out<Weight> distance,
                 Out<bool> settled) {
    using Entry = std::tuple<Weight, int64_t, int64_t>;  // distance, number of the entry, vertex
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> heap;
    const auto num_vertices = static_cast<int64_t>(offset.shape(0)) - 1;
    std::vector<bool> seen(num_vertices);
    int64_t entries = 0, found = 0, num_met = 0;
    for (std::size_t i = 0; i < sources.shape(0); ++i) {
        const int64_t source = sources.data()[i];
        if (!seen[source]) met.data()[num_met++] = source;
        seen[source] = true;
        distance.data()[source] = 0;
        heap.emplace(Weight{0}, entries++, source);
    }
    while (!heap.empty()) {
        const auto [near, entry, v] = heap.top();
        heap.pop();
        if (settled.data()[v]) continue;
        settled.data()[v] = true;
        order.data()[found++] = v;
        if (found % visits_between_polls == 0) poll_interruption();
        if (v == target) break;
        for (int64_t i = offset.data()[v]; i < offset.data()[v + 1]; ++i) {
            const int64_t w = neighbors.data()[i];
            const Weight far = near + weights.data()[i];
            if (far > cutoff) continue;
            if (settled.data()[w]) {
                if (far < distance.data()[w]) return -1;
            } else if (!seen[w] || far < distance.data()[w]) {
                if (!seen[w]) met.data()[num_met++] = w;
                seen[w] = true;
                distance.data()[w] = far;
                parent.data()[w] = v;
                heap.emplace(far, entries++, w);
            }
        }
    }
    return found;
}

// One end of a search from both: the level to expand, and who found each vertex.
template <class Neighbor>
struct End {
    const int64_t* offset;
    const Neighbor* neighbors;
    std::vector<int64_t> level;
    std::unordered_map<int64_t, int64_t> found_by;

    // Finds the next level; returns the first vertex that the other end has found as well, or -1.
    int64_t expand(const End& other) {
        std::vector<int64_t> next;
        for (const int64_t v : level)
            for (int64_t i = offset[v]; i < offset[v + 1]; ++i) {
                const int64_t w = neighbors[i];
                if (found_by.emplace(w, v).second) next.push_back(w);
                if (other.found_by.contains(w)) return w;
            }
        level = std::move(next);
        return -1;
    }
};

// A path of fewest arcs from `source` to `target`, empty where there is none: the end with the smaller level goes on.
template <class Neighbor>
std::vector<int64_t> meet(In<int64_t> offset, In<Neighbor> neighbors, In<int64_t> in_offset,
                          In<Neighbor> in_neighbors, int64_t source, int64_t target) {
    if (source == target) return {source};
    End<Neighbor> forward{offset.data(), neighbors.data(), {source}, {{source, -1}}};
    End<Neighbor> backward{in_offset.data(), in_neighbors.data(), {target}, {{target, -1}}};
    while (!forward.level.empty() && !backward.level.empty()) {
        poll_interruption();
        const bool onward = forward.level.size() <= backward.level.size();
        const int64_t met = onward ? forward.expand(backward) : backward.expand(forward);
        if (met < 0) continue;
        std::vector<int64_t> path;
        for (int64_t v = met; v >= 0; v = forward.found_by[v]) path.insert(path.begin(), v);
        for (int64_t v = backward.found_by[met]; v >= 0; v = backward.found_by[v]) path.push_back(v);
        return path;
    }
    return {};
}

template <class Neighbor, class Weight>
void bind_weighted(nb::module_& module) {
    using nb::arg;
    module.def("dijkstra", &dijkstra<Neighbor, Weight>, arg("offset").noconvert(), arg("neighbors").noconvert(),
               arg("weights").noconvert(), arg("sources").noconvert(), arg("cutoff"), arg("target"),
               arg("order").noconvert(), arg("met").noconvert(), arg("parent").noconvert(),
               arg("distance").noconvert(), arg("settled").noconvert(), nb::call_guard<nb::gil_scoped_release>());
}

template <class Neighbor>
void bind(nb::module_& module) {
    using nb::arg;
    module.def("breadth_first", &breadth_first<Neighbor>, arg("offset").noconvert(), arg("neighbors").noconvert(),
               arg("sources").noconvert(), arg("max_depth"), arg("order").noconvert(), arg("parent").noconvert(),
               arg("depth").noconvert(), nb::call_guard<nb::gil_scoped_release>());
    module.def("meet", &meet<Neighbor>, arg("offset").noconvert(), arg("neighbors").noconvert(),
               arg("in_offset").noconvert(), arg("in_neighbors").noconvert(), arg("source"), arg("target"),
               nb::call_guard<nb::gil_scoped_release>());
    bind_weighted<Neighbor, int64_t>(module);
    bind_weighted<Neighbor, double>(module);
}

}  // namespace

void bind_search(nb::module_& module) {
    bind<int32_t>(module);
    bind<int64_t>(module);
}

}  // namespace tgraph
