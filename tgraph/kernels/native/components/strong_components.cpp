// Strongly connected components, each named by its smallest vertex.
//
// One search forward and one backward from a hub find the component that it is in, mostly the largest by far, on all
// threads (Fleischer, Hendrickson and Pinar, "On identifying strongly connected components in parallel", 2000).
// Tarjan's depth-first search ("Depth-first search and linear graph algorithms", 1972) finds the others: with the stack
// of Nuutila and Soisalon-Soininen (1994), to which vertices that are components by themselves never come.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "components/breadth_first.hpp"

namespace tgraph {
namespace {

class Tarjan {
public:
    // `label`, [n]: the component of vertices that are done, else -1.
    Tarjan(GraphRows arcs, Neighbor* label) : arcs_(arcs), label_(label), number_(arcs.num_vertices) {
        const Neighbor* const done = label;
        Neighbor* const number = number_.data();
        for_each_entry(arcs.num_vertices, [=](int64_t v) { number[v] = done[v] < 0 ? unseen : finished; });
    }

    void run() {
        for (int64_t v = 0; v < arcs_.num_vertices; ++v)
            if (number_.data()[v] == unseen) {
                if (v >> 12 != polled_) poll_interruption(), polled_ = v >> 12;
                search(static_cast<Neighbor>(v));
            }
    }

private:
    static constexpr Neighbor unseen = 0, finished = std::numeric_limits<Neighbor>::max();

    // A vertex on the path from the root of the search, its arcs that are left, and the smallest number it reaches.
    struct Frame {
        int64_t next, end;
        Neighbor vertex, number, low;
    };

    GraphRows arcs_;
    Neighbor* label_;
    Scratch<Neighbor> number_;  // in the order in which vertices are found, from 1
    Neighbor count_ = 0;
    int64_t polled_ = -1;
    std::vector<Frame> path_;
    std::vector<Neighbor> open_;  // vertices that are left, and whose component is not

    void search(Neighbor root) {
        enter(root);
        while (!path_.empty()) {
            Frame& frame = path_.back();
            const Neighbor child = advance(frame);
            if (child >= 0)
                enter(child);
            else
                leave();
        }
    }

    void enter(Neighbor v) {
        const int64_t begin = arcs_.offset[v], end = arcs_.offset[v + 1];
        for (int64_t i = begin; i < std::min(begin + ahead, end); ++i) fetch_later(arcs_.neighbors[i]);
        number_.data()[v] = ++count_;
        path_.push_back({begin, end, v, count_, count_});
    }

    // The next neighbor that is unseen, -1 where there is none.
    Neighbor advance(Frame& frame) const {
        const Neighbor* const neighbors = arcs_.neighbors;
        const Neighbor* const number = number_.data();
        Neighbor low = frame.low, child = -1;
        int64_t i = frame.next;
        for (const int64_t end = frame.end; i < end && child < 0; ++i) {
            if (i + ahead < end) fetch_later(neighbors[i + ahead]);
            const Neighbor found = number[neighbors[i]];
            if (found == unseen)
                child = neighbors[i];
            else
                low = std::min(low, found);
        }
        frame.next = i;
        frame.low = low;
        return child;
    }

    void leave() {
        const Frame frame = path_.back();
        path_.pop_back();
        if (!path_.empty()) path_.back().low = std::min(path_.back().low, frame.low);
        if (frame.low < frame.number)
            open_.push_back(frame.vertex);
        else
            close(frame);
    }

    // Names the component of which the vertex was found first.
    void close(const Frame& frame) {
        Neighbor* const number = number_.data();
        Neighbor least = frame.vertex;
        std::size_t first = open_.size();
        for (; first > 0 && number[open_[first - 1]] > frame.number; --first) least = std::min(least, open_[first - 1]);
        for (std::size_t i = first; i < open_.size(); ++i) finish(open_[i], least);
        open_.resize(first);
        finish(frame.vertex, least);
    }

    void finish(Neighbor v, Neighbor least) {
        number_.data()[v] = finished;
        label_[v] = least;
    }

    static constexpr int64_t ahead = 8;

    // What is read of a neighbor first, and where it is entered.
    TGRAPH_INLINE void fetch_later(Neighbor v) const {
        fetch(number_.data() + v);
        fetch(arcs_.offset + v);
    }
};

// Labels the component of a hub: what it reaches and is reached from.
void label_hub(GraphRows out, GraphRows in, Neighbor hub, Neighbor* label) {
    const int64_t n = out.num_vertices;
    const Scratch<Neighbor> forward(n), backward(n);
    Neighbor* const reached = forward.data();
    Neighbor* const both = backward.data();
    fill(reached, n, BreadthFirst::unseen);
    BreadthFirst(out, in, reached).search(hub);
    constexpr Neighbor barred = -2;
    for_each_entry(n, [=](int64_t v) { both[v] = reached[v] < 0 ? barred : BreadthFirst::unseen; });
    BreadthFirst search(in, out, both);
    search.search(hub);
    const Neighbor* const members = search.order();
    const Neighbor least = *std::min_element(members, members + search.size());
    for_each_entry(search.size(), [=](int64_t i) { label[members[i]] = least; });
}

// The vertex with the most paths of two arcs through it, the smallest of equals.
Neighbor find_hub(GraphRows out, GraphRows in) {
    int64_t most = -1;
    Neighbor hub = 0;
    for (int64_t v = 0; v < out.num_vertices; ++v) {
        const int64_t paths = out.degree(v) * in.degree(v);
        if (paths > most) most = paths, hub = static_cast<Neighbor>(v);
    }
    return hub;
}

// With the transpose the component of a hub is found first.
void label_strong(In<int64_t> offset, In<Neighbor> neighbors, In<int64_t> in_offset, In<Neighbor> in_neighbors,
                  Out<int64_t> component) {
    const GraphRows out(offset, neighbors);
    const int64_t n = out.num_vertices;
    const Scratch<Neighbor> label(n);
    fill(label.data(), n, Neighbor{-1});
    if (in_offset.is_valid() && in_neighbors.is_valid() && n > 0) {
        const GraphRows in(in_offset, in_neighbors);
        label_hub(out, in, find_hub(out, in), label.data());
    }
    Tarjan(out, label.data()).run();
    copy(label.data(), n, component.data());
}

}  // namespace

void bind_strong_components(Module& module) {
    module.def("label_strong", &label_strong, "offset, neighbors, in_offset?, in_neighbors?, component");
}

}  // namespace tgraph
