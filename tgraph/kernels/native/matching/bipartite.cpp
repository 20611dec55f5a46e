// Maximum matching of a bipartite graph (Hopcroft and Karp, SIAM J. Computing 1973): a greedy matching, from vertices
// of small degree up, then phases that search all shortest augmenting paths by levels and take a maximal set of them.
// O(m sqrt(n)); sequential, since each path depends on those before it.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/bindings.hpp"
#include "base/memory.hpp"
#include "threads/parallel.hpp"

namespace tgraph {
namespace {

class HopcroftKarp {
public:
    // left [n] : not 0 for the vertices of the side from which paths start.
    HopcroftKarp(const int64_t* offset, const int32_t* neighbors, const uint8_t* left, int64_t num_vertices,
                 int64_t* mate)
        : offset_(offset), neighbors_(neighbors), num_vertices_(num_vertices), mate_(mate), level_(num_vertices),
          next_(num_vertices) {
        for (int64_t v = 0; v < num_vertices; ++v) {
            mate[v] = none;
            if (left[v]) left_.push_back(static_cast<int32_t>(v));
        }
    }

    // reached [n] : becomes 1 for the vertices on alternating paths from those of the left that stay alone.
    void run(uint8_t* reached) {
        match_greedily();
        while (find_levels()) {
            for (const int32_t v : left_) next_.data()[v] = offset_[v];
            for (const int32_t v : left_)
                if (mate_[v] == none) augment(v);
            poll_interruption();
        }
        std::fill_n(reached, num_vertices_, uint8_t{0});
        for (const int32_t v : left_) {
            if (level_.data()[v] == none) continue;
            reached[v] = 1;
            for (int64_t i = offset_[v]; i < offset_[v + 1]; ++i) reached[neighbors_[i]] = 1;
        }
    }

private:
    static constexpr int64_t none = -1;
    const int64_t* offset_;
    const int32_t* neighbors_;
    int64_t num_vertices_;
    int64_t* mate_;
    std::vector<int32_t> left_, queue_, path_;
    Scratch<int64_t> level_, next_;  // of the vertices on the left

    int64_t degree(int64_t v) const { return offset_[v + 1] - offset_[v]; }

    void match_greedily() {
        std::vector<int32_t> order = left_;
        std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return degree(a) < degree(b); });
        for (const int32_t v : order) {
            int64_t best = none;
            for (int64_t i = offset_[v]; i < offset_[v + 1]; ++i) {
                const int64_t u = neighbors_[i];
                if (mate_[u] == none && (best == none || degree(u) < degree(best))) best = u;
            }
            if (best != none) join(v, best);
        }
    }

    void join(int64_t v, int64_t u) {
        mate_[v] = u;
        mate_[u] = v;
    }

    // The levels of the left side by alternating paths from those alone; whether an augmenting path was met.
    bool find_levels() {
        queue_.clear();
        for (const int32_t v : left_) {
            level_.data()[v] = mate_[v] == none ? 0 : none;
            if (mate_[v] == none) queue_.push_back(v);
        }
        int64_t last = INT64_MAX;  // the level from which paths end
        for (std::size_t k = 0; k < queue_.size(); ++k) {
            const int64_t v = queue_[k];
            if (level_.data()[v] > last) break;
            for (int64_t i = offset_[v]; i < offset_[v + 1]; ++i) {
                const int64_t w = mate_[neighbors_[i]];
                if (w == none) {
                    last = level_.data()[v];
                } else if (level_.data()[w] == none) {
                    level_.data()[w] = level_.data()[v] + 1;
                    queue_.push_back(static_cast<int32_t>(w));
                }
            }
        }
        return last != INT64_MAX;
    }

    // Follows arcs to the next level from v on, and exchanges the matching along the path if one ends at a free vertex.
    void augment(int64_t start) {
        path_.assign(1, static_cast<int32_t>(start));
        while (!path_.empty()) {
            const int64_t v = path_.back();
            int64_t& next = next_.data()[v];
            bool advanced = false;
            for (; next < offset_[v + 1]; ++next) {
                const int64_t w = mate_[neighbors_[next]];
                if (w == none) return exchange();
                if (level_.data()[w] == level_.data()[v] + 1) {
                    path_.push_back(static_cast<int32_t>(w));
                    advanced = true;
                    break;
                }
            }
            if (advanced) continue;
            level_.data()[v] = dead;
            path_.pop_back();
            if (!path_.empty()) ++next_.data()[path_.back()];
        }
    }

    // Each vertex of the path takes the neighbor that its arc leads to.
    void exchange() {
        for (const int32_t v : path_) {
            join(v, neighbors_[next_.data()[v]]);
            level_.data()[v] = dead;
        }
    }

    static constexpr int64_t dead = INT64_MIN / 2;  // left alone for the rest of the phase
};

void bipartite_matching(In<int64_t> offset, In<int32_t> neighbors, In<uint8_t> left, Out<int64_t> mate,
                        Out<uint8_t> reached) {
    const auto num_vertices = static_cast<int64_t>(mate.shape(0));
    HopcroftKarp(offset.data(), neighbors.data(), left.data(), num_vertices, mate.data()).run(reached.data());
}

}  // namespace

void bind_bipartite(Module& module) {
    module.def("bipartite_matching", &bipartite_matching, "offset, neighbors, left, mate, reached");
}

}  // namespace tgraph
