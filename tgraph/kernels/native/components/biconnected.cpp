// Biconnected components of an undirected graph (FAST-BCC: Dong, Wang, Gu and Sun, "Provably fast and space-efficient
// parallel biconnectivity", PPoPP 2023; the test of tree edges is that of Tarjan and Vishkin, 1985).
//
// A tree edge is a fence if no arc leads out of the subtree of its upper end from that of its lower end. Without fences
// what is connected, by tree edges and by others, is a component without its head, the parent of its topmost vertex. In
// trees of a breadth-first search an arc that is no tree edge joins neither end to an ancestor: all of them count.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "components/union_find.hpp"
#include "components/breadth_first.hpp"

namespace tgraph {
namespace {

class Biconnectivity {
public:
    explicit Biconnectivity(GraphRows arcs)
        : arcs_(arcs), depth_(arcs.num_vertices), parent_(arcs.num_vertices), first_(arcs.num_vertices),
          size_(arcs.num_vertices), search_(arcs, arcs, depth_.data()) {}

    // The smallest vertex of the component of each vertex, in which it is not the head, and the head; -1 at a root.
    void run(int64_t* component, int64_t* head) {
        grow();
        number();
        reach();
        join();
        name(component, head);
    }

private:
    // The numbers that the arcs of a subtree lead to.
    struct Reach {
        Neighbor low, high;
    };

    GraphRows arcs_;
    Scratch<Neighbor> depth_, parent_;
    Scratch<Neighbor> first_, size_;  // in preorder: the number of each vertex, and vertices in its subtree
    BreadthFirst search_;
    Scratch<Neighbor> label_;  // union-find, by number

    int64_t num_vertices() const { return arcs_.num_vertices; }

    // The vertex of largest degree is a root, and of other connected components the smallest vertex.
    void grow() {
        Neighbor* const depth = depth_.data();
        fill(depth, num_vertices(), BreadthFirst::unseen);
        int64_t hub = 0;
        for (int64_t v = 1; v < num_vertices(); ++v)
            if (arcs_.degree(v) > arcs_.degree(hub)) hub = v;
        if (num_vertices() > 0) search_.search(static_cast<Neighbor>(hub));
        for (int64_t v = 0; v < num_vertices(); ++v)
            if (depth[v] < 0) search_.search(static_cast<Neighbor>(v));
        each_row_of(arcs_, [this](int64_t v) { parent_.data()[v] = find_parent(v); });
    }

    template <class Visit>
    static void each_row_of(GraphRows arcs, const Visit& visit) {
        const RowChunks chunks{arcs.offset, arcs.num_vertices};
        for_each_chunk(chunks.size(), part_count(arcs.size()), [&](int64_t chunk) {
            const Range range = chunks[chunk];
            for (int64_t v = range.begin; v < range.end; ++v) visit(v);
        });
    }

    Neighbor find_parent(int64_t v) const {
        const Neighbor above = depth_.data()[v] - 1;
        if (above < 0) return -1;
        int64_t i = arcs_.offset[v];
        while (depth_.data()[arcs_.neighbors[i]] != above) ++i;
        return arcs_.neighbors[i];
    }

    void number() {
        const Neighbor* const order = search_.order();
        const Neighbor* const parent = parent_.data();
        Neighbor* const first = first_.data();
        Neighbor* const size = size_.data();
        fill(size, num_vertices(), Neighbor{1});
        for (int64_t i = num_vertices() - 1; i >= 0; --i) {
            if (i >= ahead) fetch(parent + order[i - ahead]);
            if (const Neighbor v = order[i]; parent[v] >= 0) size[parent[v]] += size[v];
        }
        // first[v] is where the next child of v begins, until all of them have.
        Neighbor roots = 0;
        for (int64_t i = 0; i < num_vertices(); ++i) {
            if (i + ahead < num_vertices()) fetch(parent + order[i + ahead]);
            const Neighbor v = order[i];
            Neighbor& next = parent[v] < 0 ? roots : first[parent[v]];
            const Neighbor own = next;
            next += size[v];
            first[v] = own + 1;
        }
        // A vertex is left with the number behind its subtree, plus one for itself.
        for_each_entry(num_vertices(), [=](int64_t v) { first[v] -= size[v]; });
    }

    static constexpr int64_t ahead = 16;

    bool holds(Neighbor v, Neighbor number) const {
        return number >= first_.data()[v] && number - first_.data()[v] < size_.data()[v];
    }

    // Finds the fences: what is no fence is joined in `label_`.
    void reach() {
        const Neighbor* const order = search_.order();
        const Neighbor* const parent = parent_.data();
        const Neighbor* const first = first_.data();
        const Scratch<Neighbor> top(num_vertices());  // the child of the root above each vertex
        const Scratch<Reach> reached(num_vertices());
        for (int64_t i = 0; i < num_vertices(); ++i) {
            const Neighbor v = order[i];
            top.data()[v] = depth_.data()[v] <= 1 ? v : top.data()[parent[v]];
        }
        each_row_of(arcs_, [&](int64_t v) { reached.data()[v] = reach_of(v, top.data()[v]); });
        label_ = Scratch<Neighbor>(num_vertices());
        for (int64_t i = num_vertices() - 1; i >= 0; --i) {
            const Neighbor v = order[i], above = parent[v];
            if (above < 0) continue;
            const Reach own = reached.data()[v];
            Reach& joined = reached.data()[above];
            joined = {std::min(joined.low, own.low), std::max(joined.high, own.high)};
            const bool fence = depth_.data()[v] == 1 || (holds(above, own.low) && holds(above, own.high));
            label_.data()[first[v]] = fence ? first[v] : -1;
        }
        for (int64_t i = 0; i < num_vertices(); ++i) {
            const Neighbor v = order[i];
            if (parent[v] < 0)
                label_.data()[first[v]] = first[v];
            else if (label_.data()[first[v]] < 0)
                label_.data()[first[v]] = label_.data()[first[parent[v]]];
        }
    }

    // Stops at an arc that leads out of all subtrees but that of the root.
    Reach reach_of(int64_t v, Neighbor top) const {
        Reach reach{first_.data()[v], first_.data()[v]};
        for (int64_t i = arcs_.offset[v]; i < arcs_.offset[v + 1]; ++i) {
            const Neighbor u = arcs_.neighbors[i];
            if (depth_.data()[u] == 0) continue;  // a child of the root is below a fence
            const Neighbor number = first_.data()[u];
            reach = {std::min(reach.low, number), std::max(reach.high, number)};
            if (!holds(top, number)) break;
        }
        return reach;
    }

    // Joins along the first two arcs of each vertex that are no tree edges, then along the others of vertices that are
    // not in the largest component so far (as in Afforest).
    void join() {
        constexpr int64_t sampled = 2;
        join_rows([](Neighbor) { return true; }, sampled);
        if (arcs_.size() <= sampled * num_vertices()) return;
        const Neighbor largest = frequent(label_.data(), num_vertices());
        const Forest<Neighbor> forest(label_.data());
        join_rows([=](Neighbor number) { return !forest.is_below(number, largest); },
                  std::numeric_limits<int64_t>::max());
    }

    template <class Chosen>
    void join_rows(const Chosen& chosen, int64_t width) {
        const RowChunks chunks{arcs_.offset, num_vertices()};
        const Forest<Neighbor> forest(label_.data());
        for_each_chunk(chunks.size(), part_count(arcs_.size()), [&](int64_t chunk) {
            const Range range = chunks[chunk];
            Joins<Neighbor> joins(forest);
            for (int64_t v = range.begin; v < range.end; ++v)
                if (const Neighbor own = first_.data()[v]; chosen(own)) join_row(joins, v, own, width);
        });
        for_each_entry(num_vertices(), [=](int64_t i) { forest.flatten(static_cast<Neighbor>(i)); });
    }

    void join_row(Joins<Neighbor>& joins, int64_t v, Neighbor own, int64_t width) const {
        const Neighbor* const parent = parent_.data();
        for (int64_t i = arcs_.offset[v]; i < arcs_.offset[v + 1] && width > 0; ++i) {
            const Neighbor u = arcs_.neighbors[i];
            if (parent[v] == u || parent[u] == v) continue;
            joins.add(own, first_.data()[u]);
            --width;
        }
    }

    // A label is the number of the topmost vertex, whose parent is the head.
    void name(int64_t* component, int64_t* head) {
        const Neighbor* const first = first_.data();
        const Neighbor* const label = label_.data();
        Neighbor* const least = size_.data();       // by label
        Neighbor* const above = depth_.data();      // the head, by label
        fill(least, num_vertices(), Neighbor{-1});
        for (int64_t v = 0; v < num_vertices(); ++v) {
            const Neighbor of = label[first[v]];
            if (least[of] < 0) least[of] = static_cast<Neighbor>(v);
            if (of == first[v]) above[of] = parent_.data()[v];
        }
        for_each_entry(num_vertices(), [=](int64_t v) {
            component[v] = least[label[first[v]]];
            head[v] = above[label[first[v]]];
        });
    }
};

void biconnect(In<int64_t> offset, In<Neighbor> neighbors, Out<int64_t> component, Out<int64_t> head) {
    Biconnectivity(GraphRows(offset, neighbors)).run(component.data(), head.data());
}

}  // namespace

void bind_biconnected(Module& module) {
    module.def("biconnect", &biconnect, "offset, neighbors, component, head");
}

}  // namespace tgraph
