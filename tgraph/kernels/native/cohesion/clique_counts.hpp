// Cliques of k vertices whose last vertex in a degeneracy order is u, counted without listing them: every clique is a
// choice of `pivots`, each joined with all that follow, and of all that are held (Pivoter: Jain and Seshadhri, "The
// power of pivoting for exact clique counting", WSDM 2020). Up to three further vertices are counted by bits.
#pragma once

#include <stdexcept>
#include <vector>

#include "cohesion/local_graph.hpp"

namespace tgraph {

class CliqueCounter {
public:
    CliqueCounter(const Degenerate& graph, int64_t k) : local_(graph), k_(k) {}

    // The number of cliques, as a number that holds them all, and as one that wraps round.
    double estimate = 0;
    uint64_t total = 0;

    void count(int64_t u) {
        if (k_ == 1) return add(1);
        local_.build(u, false);
        if (local_.size < k_ - 1) return;
        if (k_ == 2) return add(local_.size);
        if (k_ == 3) return add(edges());
        sets_.assign(2 * local_.words * (local_.size + 2), 0);
        for (int64_t i = 0; i < local_.size; ++i) sets_[i >> 6] |= uint64_t{1} << (i & 63);
        if (k_ == 4) return add(triangles());
        fill_binomials();
        expand(0, 1, 0);
    }

private:
    LocalGraph local_;
    int64_t k_;
    std::vector<uint64_t> sets_, wrapped_;
    std::vector<double> choose_;  // C(pivots, j), as in wrapped_, in rows of k + 1
    int64_t known_ = 0;

    void add(int64_t amount) {
        total += static_cast<uint64_t>(amount);
        estimate += static_cast<double>(amount);
    }

    int64_t edges() {
        int64_t count = 0;
        for (int64_t i = 0; i < local_.size; ++i)
            for (int64_t k = 0; k < local_.words; ++k) count += std::popcount(local_.row(i)[k]);
        return count / 2;
    }

    int64_t triangles() {
        int64_t count = 0;
        for (int64_t i = 0; i < local_.size; ++i)
            each_bit(local_.row(i), local_.words, [&](int64_t j) {
                if (j < i) count += count_bits(local_.row(i), local_.row(j), (j + 63) / 64) -
                                    above(local_.row(i), local_.row(j), j);
            });
        return count;
    }

    // Common bits from j on in the word of j, which count_bits has counted.
    static int64_t above(const uint64_t* a, const uint64_t* b, int64_t j) {
        return j % 64 ? std::popcount(a[j >> 6] & b[j >> 6] & (~uint64_t{0} << (j & 63))) : 0;
    }

    // Row p of the tables for p = 0 .. size.
    void fill_binomials() {
        const int64_t width = k_ + 1;
        for (; known_ <= local_.size; ++known_) {
            choose_.resize((known_ + 1) * width);
            wrapped_.resize((known_ + 1) * width);
            for (int64_t j = 0; j <= k_; ++j) {
                const int64_t at = known_ * width + j;
                const bool inner = j > 0 && known_ > 0;
                choose_[at] = j == 0 ? 1 : inner ? choose_[at - width] + choose_[at - width - 1] : 0;
                wrapped_[at] = j == 0 ? 1 : inner ? wrapped_[at - width] + wrapped_[at - width - 1] : 0;
            }
        }
    }

    void expand(int64_t depth, int64_t held, int64_t pivots) {
        const int64_t words = local_.words;
        uint64_t* const set = sets_.data() + 2 * depth * words;
        uint64_t* const branches = set + words;
        int64_t size = 0;
        for (int64_t k = 0; k < words; ++k) size += std::popcount(set[k]);
        if (held > k_ || held + pivots + size < k_) return;
        if (!size || held == k_) {
            const int64_t at = pivots * (k_ + 1) + k_ - held;
            estimate += choose_[at];
            total += wrapped_[at];
            return;
        }
        int64_t most = -1, pivot = 0;
        each_bit(set, words, [&](int64_t i) {
            const int64_t joined = most < size - 1 ? count_bits(set, local_.row(i), words) : -1;
            if (joined > most) {
                most = joined;
                pivot = i;
            }
        });
        for (int64_t k = 0; k < words; ++k) branches[k] = set[k] & ~local_.row(pivot)[k];
        branches[pivot >> 6] &= ~(uint64_t{1} << (pivot & 63));
        enter(depth, pivot);
        expand(depth + 1, held, pivots + 1);
        set[pivot >> 6] &= ~(uint64_t{1} << (pivot & 63));
        for (int64_t k = 0; k < words; ++k)
            for (uint64_t left = branches[k]; left; left &= left - 1) {
                const int64_t v = 64 * k + std::countr_zero(left);
                enter(depth, v);
                expand(depth + 1, held + 1, pivots);
                set[k] &= ~(uint64_t{1} << (v & 63));
            }
    }

    void enter(int64_t depth, int64_t v) {
        const uint64_t *const set = sets_.data() + 2 * depth * local_.words, *const row = local_.row(v);
        uint64_t* const next = sets_.data() + 2 * (depth + 1) * local_.words;
        for (int64_t k = 0; k < local_.words; ++k) next[k] = set[k] & row[k];
    }
};

}  // namespace tgraph
