// Searches that go on one vertex at a time, in the order of a queue (breadth first), of a heap (Dijkstra 1959) or from
// both ends in turns: what they return depends on the order in which the rows list their neighbors.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <span>
#include <tuple>
#include <vector>

#include "base/bindings.hpp"
#include "base/memory.hpp"
#include "base/zeroed.hpp"
#include "paths/search.hpp"
#include "threads/team.hpp"

namespace tgraph {
namespace {

constexpr int64_t visits_between_polls = 1 << 16;

// Writes the vertices in the order in which they are found, and for each of them who found it, -1 for a source, unless
// `parent` is null, and its depth. Returns how many these are. It touches the memory of the vertices that it reaches,
// and no more.
int64_t search_from(const NeighborRows& rows, std::span<const int64_t> sources, int64_t max_depth, int64_t* order,
                    int64_t* parent, int64_t* depth) {
    const int64_t* const start = rows.offset;
    KeptZeros<uint8_t> seen(rows.num_vertices);
    int64_t found = 0;
    const auto find = [&](int64_t v, int64_t from, int64_t hops) {
        if (seen[v]) return;
        seen[v] = 1;
        order[found] = v;
        if (parent != nullptr) parent[found] = from;
        depth[found++] = hops;
    };
    for (const int64_t source : sources) find(source, -1, 0);
    for (int64_t head = 0; head < found && found < rows.num_vertices; ++head) {
        if (head % visits_between_polls == 0) poll_interruption();
        if (head + 4 < found) rows.neighbors.fetch_from(start[order[head + 4]]);
        const int64_t v = order[head], next = depth[head] + 1;
        if (next > max_depth) break;
        for (int64_t i = start[v]; i < start[v + 1]; ++i) find(rows.neighbors[i], v, next);
    }
    seen.clear(std::span(order, found));
    return found;
}

int64_t breadth_first(In<int64_t> offset, In<void> neighbors, In<int64_t> sources, int64_t max_depth,
                      Out<int64_t> order, Out<int64_t> parent, Out<int64_t> depth) {
    return search_from({offset, neighbors}, {sources.data(), sources.shape(0)}, max_depth, order.data(), parent.data(),
                       depth.data());
}

// A search from each source by itself, one behind the other; `ends` are where they end.
void breadth_first_each(In<int64_t> offset, In<void> neighbors, In<int64_t> sources, int64_t max_depth,
                        Out<int64_t> order, Out<int64_t> depth, Out<int64_t> ends) {
    const NeighborRows rows(offset, neighbors);
    int64_t end = 0;
    for (std::size_t i = 0; i < sources.shape(0); ++i) {
        end += search_from(rows, {sources.data() + i, 1}, max_depth, order.data() + end, nullptr, depth.data() + end);
        ends.data()[i] = end;
    }
}

// The vertices of equal distance leave the heap in the order in which they entered it; they are written to `order` as
// they leave it, and to `met` as they first enter it. `distance` is -1 for a vertex
// not reached, and final once `settled`. Ends at the `target`. Returns the number of vertices in the order, or -1 where
// a vertex would come nearer after it is settled, which takes a negative weight.
template <class Weight>
int64_t dijkstra(In<int64_t> offset, In<void> neighbors, In<Weight> weights, In<int64_t> sources, Weight cutoff,
                 int64_t target, Out<int64_t> order, Out<int64_t> met, Out<int64_t> parent, Out<Weight> distance) {
    using Entry = std::tuple<Weight, int64_t, int64_t>;  // distance, number of the entry, vertex
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> heap;
    const NeighborRows rows(offset, neighbors);
    std::vector<bool> seen(rows.num_vertices), settled(rows.num_vertices);
    std::fill_n(parent.data(), rows.num_vertices, -1);
    std::fill_n(distance.data(), rows.num_vertices, Weight{-1});
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
        if (settled[v]) continue;
        settled[v] = true;
        order.data()[found++] = v;
        if (found % visits_between_polls == 0) poll_interruption();
        if (v == target) break;
        for (int64_t i = rows.offset[v]; i < rows.offset[v + 1]; ++i) {
            const int64_t w = rows.neighbors[i];
            const Weight far = near + weights.data()[i];
            if (far > cutoff) continue;
            if (settled[w]) {
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

// One end of a search from both: the vertices that it has found, and by whom.
template <class Vertex>
struct End {
    const NeighborRows rows;
    KeptZeros<Vertex> found_by;  // one more than the vertex; one more than itself at the start
    std::vector<Vertex> found;
    std::size_t level = 0;  // the place in `found` where the level that is expanded next begins

    End(const NeighborRows& rows, int64_t start) : rows(rows), found_by(rows.num_vertices) {
        add(static_cast<Vertex>(start), static_cast<Vertex>(start));
    }
    ~End() { found_by.clear(found); }

    std::size_t width() const { return found.size() - level; }

    int64_t above(int64_t v) const {
        const int64_t from = static_cast<int64_t>(found_by[v]) - 1;
        return from == v ? -1 : from;
    }

    void add(Vertex v, Vertex from) {
        found.push_back(v);
        found_by[v] = from + 1;
    }

    // Finds the next level; returns the first vertex that the other end has found as well, or -1.
    int64_t expand(const End& other) {
        for (const std::size_t end = found.size(); level < end; ++level) {
            if (level + 4 < end) rows.neighbors.fetch_from(rows.offset[found[level + 4]]);
            const Vertex v = found[level];
            for (int64_t i = rows.offset[v]; i < rows.offset[v + 1]; ++i) {
                const auto w = static_cast<Vertex>(rows.neighbors[i]);
                if (!found_by[w]) add(w, v);
                if (other.found_by[w]) return w;
            }
        }
        return -1;
    }
};

// A path of fewest arcs from `source` to `target`, empty where there is none: the end with the smaller level goes on.
template <class Vertex>
std::vector<int64_t> meet_between(const NeighborRows& ahead, const NeighborRows& behind, int64_t source,
                                  int64_t target) {
    if (source == target) return {source};
    End<Vertex> forward(ahead, source), backward(behind, target);
    while (forward.width() > 0 && backward.width() > 0) {
        poll_interruption();
        const bool onward = forward.width() <= backward.width();
        const int64_t met = onward ? forward.expand(backward) : backward.expand(forward);
        if (met < 0) continue;
        std::vector<int64_t> path = walk_back(met, [&](int64_t v) { return forward.above(v); });
        const std::vector<int64_t> rest = walk_back(met, [&](int64_t v) { return backward.above(v); });
        path.insert(path.end(), rest.rbegin() + 1, rest.rend());
        return path;
    }
    return {};
}

std::vector<int64_t> meet(In<int64_t> offset, In<void> neighbors, In<int64_t> in_offset, In<void> in_neighbors,
                          int64_t source, int64_t target) {
    const NeighborRows ahead(offset, neighbors), behind(in_offset, in_neighbors);
    return ahead.neighbors.is_wide() ? meet_between<int64_t>(ahead, behind, source, target)
                                     : meet_between<int32_t>(ahead, behind, source, target);
}

template <class Weight>
void bind_dijkstra(Module& module) {
    module.def("dijkstra", &dijkstra<Weight>,
               "offset, neighbors, weights, sources, cutoff, target, order, met, parent, distance");
}

}  // namespace

void bind_search(Module& module) {
    module.def("breadth_first", &breadth_first, "offset, neighbors, sources, max_depth, order, parent, depth");
    module.def("breadth_first_each", &breadth_first_each, "offset, neighbors, sources, max_depth, order, depth, ends");
    module.def("meet", &meet, "offset, neighbors, in_offset, in_neighbors, source, target");
    bind_dijkstra<int64_t>(module);
    bind_dijkstra<double>(module);
}

}  // namespace tgraph
