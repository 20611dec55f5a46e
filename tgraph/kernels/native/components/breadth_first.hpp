// Breadth-first search that lists the vertices level by level, by push or by pull (Beamer, Asanovic and Patterson,
// "Direction-optimizing breadth-first search", SC 2012). Small levels stay on the calling thread, at the cost of their
// arcs alone, so that a graph may have as many levels and components as vertices.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/bindings.hpp"
#include "base/memory.hpp"
#include "base/neighbor.hpp"
#include "base/rows.hpp"
#include "threads/parallel.hpp"

namespace tgraph {

// The rows of a graph, not owned.
struct GraphRows {
    const int64_t* offset;
    const Neighbor* neighbors;
    int64_t num_vertices;

    GraphRows(const In<int64_t>& offset, const In<Neighbor>& neighbors)
        : offset(offset.data()), neighbors(neighbors.data()),
          num_vertices(static_cast<int64_t>(offset.shape(0)) - 1) {}

    int64_t size() const { return offset[num_vertices]; }
    int64_t degree(int64_t v) const { return offset[v + 1] - offset[v]; }
};

class BreadthFirst {
public:
    static constexpr Neighbor unseen = -1;

    // `out`, and `in`, its transpose. `depth`, [n]: a search enters vertices that are `unseen`, and leaves their level.
    BreadthFirst(GraphRows out, GraphRows in, Neighbor* depth)
        : out_(out), in_(in), depth_(depth), order_(out.num_vertices), unexplored_(out.size()),
          members_(thread_count()) {}

    // Appends what `root` reaches, and is unseen, to the order.
    void search(Neighbor root) {
        search(root, [](Range) { return true; });
    }

    // The same while `visit` is true of each level, a range of the order, once it is complete.
    template <class Visit>
    void search(Neighbor root, const Visit& visit) {
        begin_level();
        enter(root, 0);
        for (Neighbor level = 0; level_begin_.back() < count_; ++level) {
            const Range frontier{level_begin_.back(), count_};
            if (!visit(frontier)) return;
            const int64_t arcs = arcs_;
            begin_level();
            unexplored_ -= arcs;
            if (arcs < worth_sharing)
                for (int64_t i = frontier.begin; i < frontier.end; ++i) expand(order_.data()[i], level + 1);
            else if (4 * arcs > out_.num_vertices && arcs > unexplored_ / 15)
                pull(level + 1);
            else
                push(frontier, level + 1);
        }
        level_begin_.pop_back();
    }

    int64_t size() const { return count_; }
    const Neighbor* order() const { return order_.data(); }
    int64_t num_levels() const { return static_cast<int64_t>(level_begin_.size()); }
    Range level(int64_t i) const {
        return {level_begin_[i], i + 1 < num_levels() ? level_begin_[i + 1] : count_};
    }

private:
    static constexpr int64_t worth_sharing = worth_a_thread(1 << 14);

    struct alignas(64) Member {
        std::vector<Neighbor> found;
    };

    GraphRows out_, in_;
    Neighbor* depth_;
    Scratch<Neighbor> order_;
    int64_t count_ = 0, arcs_ = 0, unexplored_;  // vertices found, arcs of the level that is being found, and others
    std::vector<int64_t> level_begin_;
    std::vector<Member> members_;

    void begin_level() {
        level_begin_.push_back(count_);
        arcs_ = 0;
    }

    void enter(Neighbor v, Neighbor level) {
        depth_[v] = level;
        order_.data()[count_++] = v;
        arcs_ += out_.degree(v);
    }

    void expand(Neighbor v, Neighbor level) {
        for (int64_t i = out_.offset[v]; i < out_.offset[v + 1]; ++i)
            if (depth_[out_.neighbors[i]] == unseen) enter(out_.neighbors[i], level);
    }

    void push(Range frontier, Neighbor level) {
        constexpr int64_t some = 64;
        for_each_chunk((frontier.end - frontier.begin + some - 1) / some, thread_count(), [&](int64_t chunk, int rank) {
            std::vector<Neighbor>& found = members_[rank].found;
            const int64_t begin = frontier.begin + chunk * some;
            for (int64_t i = begin; i < std::min(begin + some, frontier.end); ++i) {
                const Neighbor v = order_.data()[i];
                for (int64_t arc = out_.offset[v]; arc < out_.offset[v + 1]; ++arc)
                    if (claim(out_.neighbors[arc], level)) found.push_back(out_.neighbors[arc]);
            }
        });
        collect();
    }

    bool claim(Neighbor v, Neighbor level) const {
        std::atomic_ref<Neighbor> place(depth_[v]);
        Neighbor old = place.load(std::memory_order_relaxed);
        return old == unseen && place.compare_exchange_strong(old, level, std::memory_order_relaxed);
    }

    void pull(Neighbor level) {
        const RowChunks chunks{in_.offset, in_.num_vertices};
        for_each_chunk(chunks.size(), thread_count(), [&](int64_t chunk, int rank) {
            std::vector<Neighbor>& found = members_[rank].found;
            const Range range = chunks[chunk];
            for (int64_t v = range.begin; v < range.end; ++v)
                if (depth_[v] == unseen && follows(v, level)) {
                    std::atomic_ref<Neighbor>(depth_[v]).store(level, std::memory_order_relaxed);
                    found.push_back(static_cast<Neighbor>(v));
                }
        });
        collect();
    }

    // Whether an arc leads from the level before to v.
    bool follows(int64_t v, Neighbor level) const {
        for (int64_t i = in_.offset[v]; i < in_.offset[v + 1]; ++i)
            if (std::atomic_ref<Neighbor>(depth_[in_.neighbors[i]]).load(std::memory_order_relaxed) == level - 1)
                return true;
        return false;
    }

    void collect() {
        for (Member& member : members_) {
            for (const Neighbor v : member.found) {
                order_.data()[count_++] = v;
                arcs_ += out_.degree(v);
            }
            member.found.clear();
        }
    }
};

}  // namespace tgraph
