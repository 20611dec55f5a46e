// Shortest paths where weights may be negative: Bellman-Ford with a queue, and Tarjan's disassembly of subtrees (R. E.
// Tarjan, "Shortest paths", 1981), which finds a negative cycle as soon as it closes, and spares vertices whose
// distance is about to fall.
//
// Vertices of the tree are in a list in preorder, with their depths, so that a subtree is a stretch of the list. When
// the distance of v falls, its subtree leaves the tree and the queue: its distances depend on the old one. If it holds
// the new parent, there is a negative cycle. O(n m), inherently sequential.
#include <cstdint>
#include <deque>
#include <vector>

#include "paths/search.hpp"
#include "threads/team.hpp"

namespace tgraph {
namespace {

// Vertex : of int32 where vertices fit, which halves the memory of the tree.
template <class Vertex, class Value>
class BellmanFord {
public:
    BellmanFord(const PathRows<Value>& rows, Value* distance, int64_t* parent)
        : rows_(rows), distance_(distance), parent_(parent), place_(rows.num_vertices + 1),
          head_(static_cast<Vertex>(rows.num_vertices)), end_(head_) {}

    // The cycle of negative weight, in the order of its arcs; empty if there is none.
    std::vector<int64_t> run(const int64_t* sources, int64_t count) {
        place_[head_] = {head_, head_, 0, true, false};
        for (int64_t i = 0; i < count; ++i) {
            if (parent_[sources[i]] >= 0) continue;
            const auto v = static_cast<Vertex>(sources[i]);
            distance_[v] = 0;
            parent_[v] = v;
            attach(v, head_);
            queue_.push_back(v);
        }
        for (int64_t before_poll = 0; !queue_.empty();) {
            const Vertex u = queue_.front();
            queue_.pop_front();
            place_[u].is_queued = false;
            if (!place_[u].is_in_tree) continue;
            if (!scan(u)) return cycle(u);
            if ((before_poll -= rows_.degree(u) + 1) < 0) {
                poll_interruption();
                before_poll = 1 << 20;
            }
        }
        return {};
    }

private:
    struct Place {
        Vertex before, after, depth;  // in preorder
        bool is_in_tree, is_queued;
    };

    const PathRows<Value> rows_;
    Value* const distance_;
    int64_t* const parent_;
    Zeroed<Place> place_;
    std::deque<Vertex> queue_;
    const Vertex head_;  // of the list, with the roots as children
    Vertex end_;         // where the cycle was met

    // Returns false at a negative cycle.
    bool scan(Vertex u) {
        for (int64_t arc = rows_.offset[u]; arc < rows_.offset[u + 1]; ++arc) {
            const auto v = static_cast<Vertex>(rows_.neighbors[arc]);
            const Value through = distance_[u] + rows_.weight(arc);
            const bool is_new = parent_[v] < 0;
            // What has left the tree comes back at an equal distance: rounding may hide that it fell.
            if (!is_new && !(through < distance_[v]) && (place_[v].is_in_tree || through > distance_[v])) continue;
            if (!is_new && place_[v].is_in_tree && !detach(v, u)) {
                end_ = v;
                return false;
            }
            distance_[v] = through;
            parent_[v] = u;
            attach(v, u);
            if (!place_[v].is_queued) queue_.push_back(v);
            place_[v].is_queued = true;
        }
        return true;
    }

    void attach(Vertex v, Vertex parent) {
        Place& above = place_[parent];
        place_[v] = {parent, above.after, static_cast<Vertex>(above.depth + 1), true, place_[v].is_queued};
        place_[above.after].before = v;
        above.after = v;
    }

    // Takes v and its subtree out of the tree. Returns false, with nothing done, if the subtree holds `parent`.
    bool detach(Vertex v, Vertex parent) {
        if (v == parent) return false;
        Vertex next = place_[v].after;
        for (; next != head_ && place_[next].depth > place_[v].depth; next = place_[next].after)
            if (next == parent) return false;
        for (Vertex x = place_[v].after; x != next; x = place_[x].after) place_[x].is_in_tree = false;
        place_[place_[v].before].after = next;
        place_[next].before = place_[v].before;
        return true;
    }

    // From the vertex where it was met down the tree to u.
    std::vector<int64_t> cycle(Vertex u) const {
        return walk_back(u, [&](int64_t v) { return v == end_ ? -1 : parent_[v]; });
    }
};

template <class Weight>
std::vector<int64_t> bellman_ford(In<int64_t> offset, In<void> neighbors, In<Weight> weights, In<int64_t> sources,
                                  Out<Distance<Weight>> distance, Out<int64_t> parent) {
    const PathRows<Distance<Weight>> rows(offset, neighbors, weights);
    const auto count = static_cast<int64_t>(sources.shape(0));
    const auto run = [&](auto vertex) {
        BellmanFord<decltype(vertex), Distance<Weight>> search(rows, distance.data(), parent.data());
        return search.run(sources.data(), count);
    };
    return rows.neighbors.is_wide() ? run(int64_t{}) : run(int32_t{});
}

template <class Weight>
void bind(Module& module) {
    module.def("bellman_ford", &bellman_ford<Weight>, "offset, neighbors, weights, sources, distance, parent");
}

}  // namespace

void bind_bellman_ford(Module& module) {
    for_each_weight([&]<class Weight>() { bind<Weight>(module); });
}

}  // namespace tgraph
