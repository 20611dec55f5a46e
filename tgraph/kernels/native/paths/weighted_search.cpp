// Shortest paths one vertex at a time: Bellman and Ford's algorithm with a queue (Moore 1959), whose weights may be
// negative, and Dijkstra's from both ends. What they return depends on the order in which the rows list their
// neighbors.

#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/bindings.hpp"
#include "paths/search.hpp"
#include "threads/team.hpp"

namespace tgraph {
namespace {

constexpr int64_t visits_between_polls = 1 << 16;

// A queue of vertices, in which each is once at most.
class Queue {
public:
    explicit Queue(int64_t num_vertices) : queued_(num_vertices) {}

    bool contains(int64_t v) const { return queued_[v]; }
    bool empty() const { return vertices_.empty(); }

    bool push(int64_t v) {
        if (queued_[v]) return false;
        queued_[v] = true;
        vertices_.push_back(v);
        return true;
    }

    int64_t pop() {
        const int64_t v = vertices_.front();
        vertices_.pop_front();
        queued_[v] = false;
        return v;
    }

private:
    std::deque<int64_t> vertices_;
    std::vector<bool> queued_;
};

// Relaxes the arcs of queued vertices, except of those one of whose predecessors is queued, too. `met` has the vertices
// as they are first reached; `before` and `after` the arcs (u, v) on shortest paths by v, in the order found. Returns
// whether there is no negative cycle: a vertex is queued n times, or, with `early`, updated by a path that it is on.
template <class Weight>
class BellmanFord {
public:
    BellmanFord(In<int64_t> offset, In<void> neighbors, In<Weight> weights, bool early)
        : rows_(offset, neighbors), weights_(weights.data()), num_vertices_(rows_.num_vertices), early_(early),
          queue_(num_vertices_),
          before_(num_vertices_), updated_by_(num_vertices_, -1), update_(num_vertices_, {-1, -1}),
          queued_(num_vertices_), reached_(num_vertices_) {}

    bool run(In<int64_t> sources, Weight* distance, std::vector<int64_t>& met) {
        for (std::size_t i = 0; i < sources.shape(0); ++i) {
            const int64_t source = sources.data()[i];
            if (!queue_.push(source)) continue;
            reached_[source] = true;
            distance[source] = 0;
            met.push_back(source);
        }
        for (int64_t visits = 1; !queue_.empty(); ++visits) {
            if (visits % visits_between_polls == 0) poll_interruption();
            const int64_t u = queue_.pop();
            if (is_outdated(u)) continue;
            for (int64_t i = rows_.offset[u]; i < rows_.offset[u + 1]; ++i)
                if (!relax(u, rows_.neighbors[i], distance[u] + weights_[i], distance, met)) return false;
        }
        return true;
    }

    const std::vector<int64_t>& before(int64_t v) const { return before_[v]; }

private:
    const NeighborRows rows_;
    const Weight* weights_;
    int64_t num_vertices_;
    bool early_;
    Queue queue_;
    std::vector<std::vector<int64_t>> before_;
    std::vector<int64_t> updated_by_;
    std::vector<std::pair<int64_t, int64_t>> update_;  // the arc that the last change of a distance began with
    std::vector<int64_t> queued_;                      // how often
    std::vector<bool> reached_;

    bool is_outdated(int64_t u) const {
        for (const int64_t v : before_[u])
            if (queue_.contains(v)) return true;
        return false;
    }

    bool relax(int64_t u, int64_t v, Weight far, Weight* distance, std::vector<int64_t>& met) {
        if (reached_[v] && !(far < distance[v])) {
            if (far == distance[v]) before_[v].push_back(u);
            return true;
        }
        if (early_) {
            if (update_[u].first == v || update_[u].second == v) return false;
            update_[v] = updated_by_[v] == u ? update_[u] : std::pair{u, v};
        }
        if (queue_.push(v) && ++queued_[v] == num_vertices_) return false;
        if (!reached_[v]) met.push_back(v);
        reached_[v] = true;
        distance[v] = far;
        before_[v].assign(1, u);
        updated_by_[v] = u;
        return true;
    }
};

// (the vertices met, for each of them the number of vertices before it and these); the first is empty where there is a
// negative cycle.
template <class Weight>
std::pair<std::vector<int64_t>, std::vector<std::vector<int64_t>>> bellman_ford(
    In<int64_t> offset, In<void> neighbors, In<Weight> weights, In<int64_t> sources, bool early,
    Out<Weight> distance) {
    BellmanFord<Weight> search(offset, neighbors, weights, early);
    std::vector<int64_t> met;
    std::vector<std::vector<int64_t>> before;
    if (!search.run(sources, distance.data(), met)) return {};
    for (const int64_t v : met) before.push_back(search.before(v));
    return {std::move(met), std::move(before)};
}

// One end of Dijkstra's algorithm from both.
template <class Weight>
struct End {
    using Entry = std::tuple<Weight, int64_t, int64_t>;  // distance, number of the entry, vertex
    const NeighborRows rows;
    const Weight* weights;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> heap;
    std::unordered_map<int64_t, Weight> settled, seen;
    std::unordered_map<int64_t, int64_t> parent;

    End(In<int64_t> offset, In<void> neighbors, In<Weight> weights, int64_t start, int64_t entry)
        : rows(offset, neighbors), weights(weights.data()) {
        heap.emplace(Weight{0}, entry, start);
        seen[start] = 0;
        parent[start] = -1;
    }
};

// (a shortest path, its length, whether no settled vertex would come nearer): the ends settle a vertex in turns, until
// one settles what the other has. The path is empty where there is none.
template <class Weight>
std::tuple<std::vector<int64_t>, Weight, bool> meet_weighted(
    In<int64_t> offset, In<void> neighbors, In<Weight> weights, In<int64_t> in_offset, In<void> in_neighbors,
    In<Weight> in_weights, int64_t source, int64_t target) {
    End<Weight> ends[2] = {{offset, neighbors, weights, source, 0},
                                     {in_offset, in_neighbors, in_weights, target, 1}};
    int64_t entries = 2, met = -1;
    Weight least{};
    for (int side = 0; !ends[0].heap.empty() && !ends[1].heap.empty(); side = 1 - side) {
        End<Weight>&here = ends[side], &there = ends[1 - side];
        const auto [near, entry, v] = here.heap.top();
        here.heap.pop();
        if (entries % visits_between_polls == 0) poll_interruption();
        if (!here.settled.emplace(v, near).second) continue;
        if (there.settled.contains(v)) {
            std::vector<int64_t> path;
            for (int64_t w = met; w >= 0; w = ends[0].parent[w]) path.push_back(w);
            std::vector<int64_t> whole(path.rbegin(), path.rend());
            for (int64_t w = ends[1].parent[met]; w >= 0; w = ends[1].parent[w]) whole.push_back(w);
            return {std::move(whole), least, true};
        }
        for (int64_t i = here.rows.offset[v]; i < here.rows.offset[v + 1]; ++i) {
            const int64_t w = here.rows.neighbors[i];
            const Weight far = near + here.weights[i];
            if (const auto done = here.settled.find(w); done != here.settled.end()) {
                if (far < done->second) return {{}, least, false};
                continue;
            }
            const auto [known, fresh] = here.seen.emplace(w, far);
            if (!fresh && !(far < known->second)) continue;
            known->second = far;
            here.heap.emplace(far, entries++, w);
            here.parent[w] = v;
            if (const auto other = there.seen.find(w); other != there.seen.end())
                if (met < 0 || least > far + other->second) {
                    least = far + other->second;
                    met = w;
                }
        }
    }
    return {{}, least, true};
}

template <class Weight>
void bind(Module& module) {
    module.def("bellman_ford_in_order", &bellman_ford<Weight>, "offset, neighbors, weights, sources, early, distance");
    module.def("meet_weighted", &meet_weighted<Weight>,
               "offset, neighbors, weights, in_offset, in_neighbors, in_weights, source, target");
}

}  // namespace

void bind_weighted_search(Module& module) {
    bind<int64_t>(module);
    bind<double>(module);
}

}  // namespace tgraph
