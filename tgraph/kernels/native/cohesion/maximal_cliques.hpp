// Maximal cliques whose last vertex in a degeneracy order is u: Bron and Kerbosch's search with a pivot (Tomita, Tanaka
// and Takahashi, TCS 2006) on the local graph of u, whose sets are bits.
#pragma once

#include <vector>

#include "cohesion/local_graph.hpp"

namespace tgraph {

template <class Report>
class MaximalCliques {
public:
    // report(ranks) is called with the ranks of the vertices of each clique.
    MaximalCliques(const Degenerate& graph, Report& report) : local_(graph), report_(report) {}

    void search(int64_t u) {
        local_.build(u, true);
        clique_.assign(1, static_cast<Neighbor>(u));
        if (!local_.size) {
            if (!local_.is_dominated) report_(clique_);
            return;
        }
        const int64_t words = local_.words;
        sets_.assign(2 * words * (local_.size + 2), 0);
        excluded_.clear();
        for (int64_t i = 0; i < local_.size; ++i) sets_[i >> 6] |= uint64_t{1} << (i & 63);
        for (int64_t x = local_.size; x < local_.members; ++x) excluded_.push_back(x);
        expand(0, 0, std::ssize(excluded_));
    }

private:
    LocalGraph local_;
    Report& report_;
    std::vector<Neighbor> clique_;
    std::vector<uint64_t> sets_;     // candidates, and those to branch on, of each depth
    std::vector<int64_t> excluded_;  // a stack of lists of members

    // The members excluded_[begin:end] are joined with all of the clique, and of it and each candidate there is a list.
    void expand(int64_t depth, int64_t begin, int64_t end) {
        const int64_t words = local_.words;
        uint64_t* const set = sets_.data() + 2 * depth * words;
        uint64_t* const branches = set + words;
        if (!choose(set, branches, begin, end)) return;
        for (int64_t k = 0; k < words; ++k)
            for (uint64_t left = branches[k]; left; left &= left - 1) {
                const int64_t v = 64 * k + std::countr_zero(left);
                clique_.push_back(local_.candidates[v]);
                visit(depth, v, begin, end);
                clique_.pop_back();
                set[k] &= ~(uint64_t{1} << (v & 63));
                excluded_.resize(end);
                excluded_.push_back(v);
                ++end;
            }
    }

    void visit(int64_t depth, int64_t v, int64_t begin, int64_t end) {
        const int64_t words = local_.words;
        const uint64_t *const set = sets_.data() + 2 * depth * words, *const row = local_.row(v);
        uint64_t* const next = sets_.data() + 2 * (depth + 1) * words;
        uint64_t any = 0;
        for (int64_t k = 0; k < words; ++k) any |= next[k] = set[k] & row[k];
        if (!any) {
            for (int64_t i = begin; i < end; ++i)
                if (has_bit(local_.row(excluded_[i]), v)) return;
            return report_(clique_);
        }
        excluded_.resize(end);
        for (int64_t i = begin; i < end; ++i) {
            const int64_t x = excluded_[i];
            if (has_bit(local_.row(x), v) && meets(local_.row(x), next)) excluded_.push_back(x);
        }
        expand(depth + 1, end, std::ssize(excluded_));
        excluded_.resize(end);
    }

    bool meets(const uint64_t* a, const uint64_t* b) const {
        for (int64_t k = 0; k < local_.words; ++k)
            if (a[k] & b[k]) return true;
        return false;
    }

    // The candidates that are not joined with the pivot, of all members the one joined with most of them. False where
    // an excluded one is joined with all: no clique is maximal.
    bool choose(const uint64_t* set, uint64_t* branches, int64_t begin, int64_t end) {
        const int64_t words = local_.words;
        int64_t most = -1, pivot = 0, count = 0;
        for (int64_t k = 0; k < words; ++k) count += std::popcount(set[k]);
        const auto consider = [&](int64_t i) {
            const int64_t joined = count_bits(set, local_.row(i), words);
            if (joined > most) {
                most = joined;
                pivot = i;
            }
        };
        for (int64_t i = begin; i < end; ++i) consider(excluded_[i]);
        if (most == count) return false;
        each_bit(set, words, [&](int64_t i) {
            if (most < count - 1) consider(i);
        });
        const uint64_t* row = local_.row(pivot);
        for (int64_t k = 0; k < words; ++k) branches[k] = set[k] & ~row[k];
        return true;
    }
};

}  // namespace tgraph
