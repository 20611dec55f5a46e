// Shortest paths drawn at random between random pairs of vertices, and how often each vertex is inside of one (Riondato
// and Kornaropoulos 2016), by breadth-first searches from both ends (Borassi and Natale, "KADABRA is an ADaptive
// Algorithm for Betweenness via Random Approximation", ESA 2016).
//
// Sample i draws its numbers from a stream of its own, and counts are integers: they depend on the seed alone.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/bindings.hpp"
#include "base/memory.hpp"
#include "base/neighbor.hpp"
#include "base/random.hpp"
#include "threads/parallel.hpp"

namespace tgraph {
namespace {

// Numbers of paths are rescaled level by level: only those of one level are ever compared.
constexpr double many_paths = 1e200;

// A search from one end: `along` are the arcs that it follows, `back` those that lead back to the end.
class End {
public:
    End(const int64_t* along, const Neighbor* along_to, const int64_t* back, const Neighbor* back_to, int64_t n)
        : along_(along), along_to_(along_to), back_(back), back_to_(back_to), level_(n, -1), paths_(n) {}

    void start(Neighbor vertex) {
        for (const Neighbor v : queue_) level_[v] = -1;
        queue_.assign(1, vertex);
        level_[vertex] = 0;
        paths_.data()[vertex] = 1;
        begin_ = depth_ = 0;
        arcs_ = along_[vertex + 1] - along_[vertex];
    }

    int64_t arcs() const { return arcs_; }
    bool is_exhausted() const { return begin_ == static_cast<int64_t>(queue_.size()); }
    bool has(Neighbor v) const { return level_[v] >= 0; }
    int32_t level(Neighbor v) const { return level_[v]; }
    double paths(Neighbor v) const { return paths_.data()[v]; }

    // Reaches the next level; returns whether one of its vertices was reached from the other end.
    bool advance(const End& other) {
        const auto end = static_cast<int64_t>(queue_.size());
        bool met = false;
        double most = 0;
        ++depth_;
        arcs_ = 0;
        for (int64_t i = begin_; i < end; ++i) {
            const Neighbor u = queue_[i];
            Neighbor before = -1;
            for (int64_t arc = along_[u]; arc < along_[u + 1]; ++arc) {
                const Neighbor v = along_to_[arc];
                if (v == before) continue;  // parallel arcs are adjacent
                before = v;
                if (level_[v] < 0) {
                    level_[v] = depth_;
                    paths_.data()[v] = 0;
                    queue_.push_back(v);
                    arcs_ += along_[v + 1] - along_[v];
                    met |= other.has(v);
                }
                if (level_[v] == depth_) most = std::max(most, paths_.data()[v] += paths_.data()[u]);
            }
        }
        begin_ = end;
        if (most > many_paths)
            for (std::size_t i = begin_; i < queue_.size(); ++i) paths_.data()[queue_[i]] /= most;
        return met;
    }

    // The vertices of the last level.
    const Neighbor* last_begin() const { return queue_.data() + begin_; }
    const Neighbor* last_end() const { return queue_.data() + queue_.size(); }

    // Walks from v to the end, along a random one of the paths, each as likely; calls visit for the vertices between.
    template <class Draw, class Visit>
    void walk_back(Neighbor v, const Draw& draw, const Visit& visit) const {
        while (level_[v] > 1) {
            double left = 0;
            each_before(v, [&](Neighbor u) { left += paths(u); return false; });
            left *= draw();
            Neighbor chosen = v;
            each_before(v, [&](Neighbor u) { chosen = u; return (left -= paths(u)) < 0; });
            visit(v = chosen);
        }
    }

private:
    // Calls visit for the neighbors a level nearer to the end until it returns true.
    template <class Visit>
    void each_before(Neighbor v, const Visit& visit) const {
        Neighbor before = -1;
        for (int64_t arc = back_[v]; arc < back_[v + 1]; ++arc) {
            const Neighbor u = back_to_[arc];
            if (u == before) continue;
            before = u;
            if (level_[u] == level_[v] - 1 && visit(u)) return;
        }
    }

    const int64_t* along_;
    const Neighbor* along_to_;
    const int64_t* back_;
    const Neighbor* back_to_;
    std::vector<int32_t> level_;
    Scratch<double> paths_;
    std::vector<Neighbor> queue_;
    int64_t begin_ = 0, arcs_ = 0;
    int32_t depth_ = 0;
};

struct Sampler {
    End source, target;
    int64_t n;

    Sampler(const int64_t* offset, const Neighbor* neighbors, const int64_t* in_offset, const Neighbor* in_neighbors,
            int64_t num_vertices)
        : source(offset, neighbors, in_offset, in_neighbors, num_vertices),
          target(in_offset, in_neighbors, offset, neighbors, num_vertices), n(num_vertices) {}

    // Calls visit for the vertices inside of a random shortest path between random vertices, where there is one.
    template <class Visit>
    void sample(int64_t key, int64_t number, const Visit& visit) {
        const auto own = static_cast<int64_t>(random_word(key, number));
        uint64_t drawn = 2;
        const auto draw = [&] { return random_uniform(own, drawn++); };
        const int64_t s = random_below(own, 0, n), other = random_below(own, 1, n - 1), t = other + (other >= s);
        source.start(static_cast<Neighbor>(s));
        target.start(static_cast<Neighbor>(t));
        bool met = false, forward = true;
        while (!met && !source.is_exhausted() && !target.is_exhausted()) {
            forward = source.arcs() <= target.arcs();
            met = forward ? source.advance(target) : target.advance(source);
        }
        if (!met) return;
        // All paths pass one vertex of the last level that the other end has reached.
        const End& last = forward ? source : target;
        double left = 0;
        each_meeting(last, [&](Neighbor, double paths) { left += paths; return false; });
        left *= draw();
        auto middle = static_cast<Neighbor>(-1);
        each_meeting(last, [&](Neighbor v, double paths) { middle = v; return (left -= paths) < 0; });
        if (source.level(middle) > 0 && target.level(middle) > 0) visit(middle);
        source.walk_back(middle, draw, visit);
        target.walk_back(middle, draw, visit);
    }

private:
    template <class Visit>
    void each_meeting(const End& last, const Visit& visit) const {
        for (const Neighbor* v = last.last_begin(); v != last.last_end(); ++v)
            if (source.has(*v) && target.has(*v) && visit(*v, source.paths(*v) * target.paths(*v))) return;
    }
};

void sample_paths(In<int64_t> offset, In<Neighbor> neighbors, In<int64_t> in_offset, In<Neighbor> in_neighbors,
                  int64_t key, int64_t first, int64_t count, Out<int64_t> inside) {
    constexpr int64_t at_once = 16;
    const auto n = static_cast<int64_t>(offset.shape(0)) - 1;
    const int threads = std::min(thread_count(), static_cast<int>(std::clamp<int64_t>(count / at_once, 1, 1 << 16)));
    std::vector<std::unique_ptr<Sampler>> samplers(threads);
    for_each_chunk((count + at_once - 1) / at_once, threads, [&](int64_t chunk, int rank) {
        if (!samplers[rank])
            samplers[rank] = std::make_unique<Sampler>(offset.data(), neighbors.data(), in_offset.data(),
                                                                 in_neighbors.data(), n);
        for (int64_t i = chunk * at_once; i < std::min(count, (chunk + 1) * at_once); ++i)
            samplers[rank]->sample(key, first + i, [&](Neighbor v) {
                std::atomic_ref<int64_t>(inside.data()[v]).fetch_add(1, std::memory_order_relaxed);
            });
    });
}

}  // namespace

void bind_sample_paths(Module& module) {
    module.def("sample_paths", &sample_paths, "offset, neighbors, in_offset, in_neighbors, key, first, count, inside");
}

}  // namespace tgraph
