// Shortest paths from one vertex to another: breadth-first search and Dijkstra's algorithm from both ends (Pohl,
// "Bi-directional search", 1971), and A* with lower bounds of the distances left (Hart, Nilsson, Raphael 1968).
//
// A search touches the memory of the vertices that it reaches, and no more. One thread: most queries end before another
// one would have begun.
#include <nanobind/stl/pair.h>

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "base/classes.hpp"
#include "base/memory.hpp"
#include "paths/search.hpp"
#include "threads/team.hpp"

namespace tgraph {
namespace {

template <class Value>
using Path = std::pair<std::vector<int64_t>, Value>;  // no vertices where there is no path

constexpr int64_t arcs_between_polls = 1 << 20;

// Joins the ways from the source to `left` and from `right` to the target, which may be the same vertex.
template <class Ends>
std::vector<int64_t> joined(const Ends& ends, int64_t left, int64_t right) {
    std::vector<int64_t> path = walk_back(left, [&](int64_t v) { return ends[0].above(v); });
    const std::vector<int64_t> rest = walk_back(right, [&](int64_t v) { return ends[1].above(v); });
    path.insert(path.end(), rest.rbegin() + (left == right), rest.rend());
    return path;
}

// Breadth-first search by whole levels from the end whose level has fewer arcs. The vertices within a hops of the
// source and those within b of the target are disjoint until the first meeting, which is therefore on a shortest path.
//
// Vertex : int32 where vertices fit, which halves the memory of the labels.
template <class Vertex>
class HopSearch {
public:
    HopSearch(const NeighborRows& ahead, const NeighborRows& behind) : ends_{End(ahead), End(behind)} {}

    // The arcs of a shortest path from the source to the target, -1 where there is none.
    int64_t run(int64_t source, int64_t target) {
        if (source == target) return 0;
        ends_[0].start(source);
        ends_[1].start(target);
        for (int64_t hops = 1; !ends_[0].is_done() && !ends_[1].is_done(); ++hops) {
            side_ = ends_[1].arcs < ends_[0].arcs;
            if (expand(ends_[side_], ends_[1 - side_])) return hops;
        }
        return -1;
    }

    // After run(), of a path of one arc or more: its vertices.
    std::vector<int64_t> path() const { return joined(ends_, side_ ? met_ : from_, side_ ? from_ : met_); }

private:
    struct End {
        NeighborRows rows;
        const Vertex* neighbors;
        KeptZeros<Vertex> parent;  // one more than the parent; one more than itself at the start
        std::vector<Vertex> reached;
        std::size_t level = 0;  // the place in `reached` where the level that is expanded next begins
        int64_t arcs = 0;       // of that level

        explicit End(const NeighborRows& rows)
            : rows(rows), neighbors(rows.neighbors.as<Vertex>()), parent(rows.num_vertices) {
            reached.reserve(256);
        }
        ~End() { parent.clear(reached); }

        bool is_done() const { return level == reached.size(); }
        void start(int64_t v) { reach(static_cast<Vertex>(v), static_cast<Vertex>(v)); }

        TGRAPH_INLINE void reach(Vertex v, Vertex from) {
            reached.push_back(v);
            parent[v] = from + 1;
            arcs += rows.degree(v);
        }

        int64_t above(int64_t v) const {
            const int64_t from = static_cast<int64_t>(parent[v]) - 1;
            return from == v ? -1 : from;
        }
    };

    End ends_[2];
    int side_ = 0;                 // the end that met the other
    Vertex from_{}, met_{};        // the arc between the two halves, as that end sees it

    TGRAPH_INLINE bool expand(End& end, const End& other) {
        poll_interruption();
        end.arcs = 0;
        const std::size_t size = end.reached.size();
        for (std::size_t i = std::exchange(end.level, size); i < size; ++i) {
            if (i + 4 < size) fetch(end.neighbors + end.rows.offset[end.reached[i + 4]]);
            const Vertex u = end.reached[i];
            for (int64_t arc = end.rows.offset[u]; arc < end.rows.offset[u + 1]; ++arc) {
                const Vertex v = end.neighbors[arc];
                if (other.parent[v]) return from_ = u, met_ = v, true;
                if (!end.parent[v]) end.reach(v, u);
            }
        }
        return false;
    }
};

// The distance and the parent of a vertex; zeros where it is not reached.
template <class Value>
struct Labels {
    struct Label {
        Value distance;
        int64_t parent;  // one more than the parent; one more than itself at the start
    };
    KeptZeros<Label> label;
    std::vector<int64_t> reached;

    explicit Labels(int64_t num_vertices) : label(num_vertices) {}
    ~Labels() { label.clear(reached); }

    bool is_reached(int64_t v) const { return label[v].parent != 0; }
    Value distance(int64_t v) const { return label[v].distance; }
    bool improves(int64_t v, Value distance) const { return !is_reached(v) || distance < label[v].distance; }
    void set(int64_t v, Value distance, int64_t from) {
        if (!is_reached(v)) reached.push_back(v);
        label[v] = {distance, from + 1};
    }

    int64_t above(int64_t v) const {
        const int64_t from = label[v].parent - 1;
        return from == v ? -1 : from;
    }
};

// Dijkstra's algorithm from both ends, the one with the shorter queue first, until what is left in the queues cannot be
// part of a shorter path than the best one seen.
template <class Value>
class DijkstraFromBothEnds {
public:
    DijkstraFromBothEnds(const PathRows<Value>& ahead, const PathRows<Value>& behind)
        : ends_{End(ahead), End(behind)} {}

    Path<Value> run(int64_t source, int64_t target) {
        if (source == target) return {{source}, 0};
        ends_[0].start(source);
        ends_[1].start(target);
        int64_t before_poll = arcs_between_polls;
        while (!ends_[0].queue.empty() && !ends_[1].queue.empty()) {
            if (met_ >= 0 && ends_[0].queue.top().key + ends_[1].queue.top().key >= best_) break;
            const int side = ends_[1].queue.size() < ends_[0].queue.size();
            if ((before_poll -= settle(ends_[side], ends_[1 - side])) < 0) {
                poll_interruption();
                before_poll = arcs_between_polls;
            }
        }
        if (met_ < 0) return {};
        return {joined(ends_, met_, met_), best_};
    }

private:
    struct End {
        PathRows<Value> rows;
        Labels<Value> labels;
        MinHeap<Value> queue;

        explicit End(const PathRows<Value>& rows) : rows(rows), labels(rows.num_vertices) {}

        int64_t above(int64_t v) const { return labels.above(v); }

        void start(int64_t v) {
            labels.set(v, 0, v);
            queue.push(0, v);
        }
    };

    End ends_[2];
    int64_t met_ = -1;
    Value best_{};

    // Returns how many arcs were relaxed.
    int64_t settle(End& end, const End& other) {
        const auto [distance, u] = end.queue.pop();
        if (end.labels.distance(u) < distance) return 1;  // it was reached on a shorter way since
        for (int64_t arc = end.rows.offset[u]; arc < end.rows.offset[u + 1]; ++arc) {
            const int64_t v = end.rows.neighbors[arc];
            const Value through = distance + end.rows.weight(arc);
            if (!end.labels.improves(v, through) || (met_ >= 0 && through >= best_)) continue;
            end.labels.set(v, through, u);
            end.queue.push(through, v);
            if (other.labels.is_reached(v) && (met_ < 0 || through + other.labels.distance(v) < best_)) {
                met_ = v;
                best_ = through + other.labels.distance(v);
            }
        }
        return end.rows.degree(u) + 1;
    }
};

template <class Number>
bool is_infinite(Number number) {
    return std::numeric_limits<Number>::has_infinity && number == std::numeric_limits<Number>::infinity();
}

// A vertex whose distance falls after it was settled is settled again, so that the bounds need not be consistent.
template <class Value>
Path<Value> search_with_bounds(const PathRows<Value>& rows, const Value* bound,
                                int64_t source, int64_t target) {
    Labels<Value> labels(rows.num_vertices);
    MinHeap<Value> queue;
    labels.set(source, 0, source);
    queue.push(bound[source], source);
    int64_t before_poll = arcs_between_polls;
    while (!queue.empty()) {
        const auto [key, u] = queue.pop();
        if (u == target) break;
        const Value distance = labels.distance(u);
        if (distance + bound[u] < key) continue;
        for (int64_t arc = rows.offset[u]; arc < rows.offset[u + 1]; ++arc) {
            const int64_t v = rows.neighbors[arc];
            const Value through = distance + rows.weight(arc);
            if (!labels.improves(v, through) || is_infinite(bound[v])) continue;
            labels.set(v, through, u);
            queue.push(through + bound[v], v);
        }
        if ((before_poll -= rows.degree(u) + 1) < 0) {
            poll_interruption();
            before_poll = arcs_between_polls;
        }
    }
    if (!labels.is_reached(target)) return {};
    return {walk_back(target, [&](int64_t v) { return labels.above(v); }), labels.distance(target)};
}

// The rows of a graph and those of its transpose, of which many paths are asked for. The caller keeps the arrays.
template <class Value>
class Routes {
public:
    Routes(const PathRows<Value>& ahead, const PathRows<Value>& behind) : ahead_(ahead), behind_(behind) {}

    // -1 where there is no path.
    int64_t hops(int64_t source, int64_t target) const {
        return with_search([&](auto search) { return search.run(source, target); });
    }

    std::vector<int64_t> fewest_hops(int64_t source, int64_t target) const {
        if (source == target) return {source};
        return with_search([&](auto search) {
            return search.run(source, target) < 0 ? std::vector<int64_t>() : search.path();
        });
    }

    Path<Value> shortest_path(int64_t source, int64_t target) const {
        return DijkstraFromBothEnds<Value>(ahead_, behind_).run(source, target);
    }

private:
    const PathRows<Value> ahead_, behind_;

    template <class Visit>
    auto with_search(const Visit& visit) const {
        if (ahead_.neighbors.is_wide()) return visit(HopSearch<int64_t>(ahead_, behind_));
        return visit(HopSearch<int32_t>(ahead_, behind_));
    }
};

// Vertices as the bytes of their numbers, of which torch makes a tensor in less time than of a list.
nb::bytearray as_bytes(const std::vector<int64_t>& path) {
    return nb::bytearray(path.data(), path.size() * sizeof(int64_t));
}

// What `search` returns, computed without the interpreter's lock.
template <class Search>
auto unlocked(const Search& search) {
    const nb::gil_scoped_release released;
    return search();
}

template <class Distance>
std::pair<nb::bytearray, Distance> as_bytes(const std::pair<std::vector<int64_t>, Distance>& path) {
    return {as_bytes(path.first), path.second};
}

template <class Value>
void bind_routes(Module& module, const char* name) {
    using Kept = Routes<Value>;
    bind_class<Kept>(module, name)
        .def("hops", &Kept::hops, nb::call_guard<nb::gil_scoped_release>())
        .def("fewest_hops", [](const Kept& kept, int64_t source, int64_t target) {
            return as_bytes(unlocked([&] { return kept.fewest_hops(source, target); }));
        })
        .def("shortest_path", [](const Kept& kept, int64_t source, int64_t target) {
            return as_bytes(unlocked([&] { return kept.shortest_path(source, target); }));
        });
}

template <class Weight>
void bind(Module& module) {
    using Read = PathRows<Distance<Weight>>;
    module.def("routes",
               [](In<int64_t> offset, In<void> neighbors, In<Weight> weights, In<int64_t> in_offset,
                  In<void> in_neighbors, In<Weight> in_weights) {
                   return Routes<Distance<Weight>>(Read(offset, neighbors, weights),
                                                   Read(in_offset, in_neighbors, in_weights));
               },
               "offset, neighbors, weights?, in_offset, in_neighbors, in_weights?", Gil::held);
    python_module(module).def(
        "astar_path",
        [](In<int64_t> offset, In<void> neighbors, In<Weight> weights, In<Distance<Weight>> bound, int64_t source,
           int64_t target) {
            const Read rows(offset, neighbors, weights);
            return as_bytes(unlocked([&] { return search_with_bounds(rows, bound.data(), source, target); }));
        },
        nb::arg("offset"), nb::arg("neighbors"), nb::arg("weights"), nb::arg("bound"), nb::arg("source"),
        nb::arg("target"));
}

}  // namespace

void bind_point_to_point(Module& module) {
    bind_routes<int64_t>(module, "RoutesInt64");
    bind_routes<double>(module, "RoutesFloat64");
    for_each_weight([&]<class Weight>() { bind<Weight>(module); });
}

}  // namespace tgraph
