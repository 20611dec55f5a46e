// The largest clique whose last vertex in a degeneracy order is u: branch and bound, where a greedy colouring of the
// candidates bounds what they can add (San Segundo, Rodriguez-Losada and Jimenez, Computers and Operations Research
// 2011).
#pragma once

#include <vector>

#include "cohesion/local_graph.hpp"

namespace tgraph {

class LargestClique {
public:
    explicit LargestClique(const Degenerate& graph) : local_(graph) {}

    // A clique of more than `bound` vertices, which is the largest of u, as ranks; empty where there is none.
    const std::vector<Neighbor>& search(int64_t u, int64_t bound, int64_t degree) {
        found_.clear();
        bound_ = bound;
        if (degree + 1 <= bound) return found_;
        local_.build(u, false);
        clique_.assign(1, static_cast<Neighbor>(u));
        if (!local_.size) {
            found_ = clique_;
            return found_;
        }
        std::vector<uint64_t> all(local_.words, 0);
        for (int64_t i = 0; i < local_.size; ++i) all[i >> 6] |= uint64_t{1} << (i & 63);
        expand(all);
        return found_;
    }

private:
    LocalGraph local_;
    std::vector<Neighbor> clique_, found_;
    int64_t bound_ = 0;

    void expand(std::vector<uint64_t>& set) {
        std::vector<int32_t> order, color;
        colour(set, order, color);
        std::vector<uint64_t> next(local_.words);
        for (std::size_t i = order.size(); i-- > 0;) {
            if (std::ssize(clique_) + color[i] <= bound_) return;
            const int64_t v = order[i];
            clique_.push_back(local_.candidates[v]);
            uint64_t any = 0;
            for (int64_t k = 0; k < local_.words; ++k) any |= next[k] = set[k] & local_.row(v)[k];
            if (any) {
                expand(next);
            } else if (std::ssize(clique_) > bound_) {
                found_ = clique_;
                bound_ = std::ssize(clique_);
            }
            clique_.pop_back();
            set[v >> 6] &= ~(uint64_t{1} << (v & 63));
        }
    }

    // The candidates by colour, and the number of colours up to each of them.
    void colour(const std::vector<uint64_t>& set, std::vector<int32_t>& order, std::vector<int32_t>& color) {
        std::vector<uint64_t> left = set, free(set.size());
        for (int32_t number = 1;; ++number) {
            free = left;
            bool any = false;
            for (int64_t k = 0; k < local_.words; ++k)
                while (free[k]) {
                    const int64_t v = 64 * k + std::countr_zero(free[k]);
                    any = true;
                    left[k] &= ~(uint64_t{1} << (v & 63));
                    free[k] &= free[k] - 1;
                    for (int64_t j = k; j < local_.words; ++j) free[j] &= ~local_.row(v)[j];
                    order.push_back(static_cast<int32_t>(v));
                    color.push_back(number);
                }
            if (!any) return;
        }
    }
};

}  // namespace tgraph
