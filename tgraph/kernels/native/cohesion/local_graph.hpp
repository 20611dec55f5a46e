// The graph among the neighbors of a vertex u that come before it in a degeneracy order, as bits: at most as many as
// the degeneracy (Eppstein, Loeffler and Strash, "Listing all maximal cliques in large sparse graphs", JEA 2013).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "cohesion/inward.hpp"

namespace tgraph {

// Calls visit(i) for every bit i of a set, ascending, until it returns false where it returns a bool.
template <class Visit>
void each_bit(const uint64_t* set, int64_t words, const Visit& visit) {
    for (int64_t k = 0; k < words; ++k)
        for (uint64_t left = set[k]; left; left &= left - 1) visit(64 * k + std::countr_zero(left));
}

inline int64_t count_bits(const uint64_t* a, const uint64_t* b, int64_t words) {
    int64_t count = 0;
    for (int64_t k = 0; k < words; ++k) count += std::popcount(a[k] & b[k]);
    return count;
}

inline bool has_bit(const uint64_t* set, int64_t i) { return set[i >> 6] >> (i & 63) & 1; }

// A degeneracy order of an undirected simple graph, the last vertex first, and the rows towards smaller ranks.
struct Degenerate {
    StoredRows stored;
    Scratch<Neighbor> order, rank;
    InwardRows rows;

    Degenerate(const StoredRows& given, const int64_t* vertices)
        : stored(given), order(given.num_vertices), rank(given.num_vertices),
          rows(given, numbered(vertices), rank.data(), false) {}

private:
    const Neighbor* numbered(const int64_t* vertices) {
        for_each_entry(stored.num_vertices, [&](int64_t place) {
            order.data()[place] = static_cast<Neighbor>(vertices[place]);
            rank.data()[vertices[place]] = static_cast<Neighbor>(place);
        });
        return order.data();
    }
};

// The local graph of one vertex after the other, for one thread. Member i < size is the candidate candidates[i]; with
// `outer` members size, .. are the neighbors of larger rank that have neighbors among the candidates. row(i) are the
// candidates that member i is joined with.
class LocalGraph {
public:
    int64_t size = 0, words = 0, members = 0;
    std::vector<Neighbor> candidates;  // by rank

    explicit LocalGraph(const Degenerate& graph) : graph_(graph), mark_(graph.rows.num_vertices) {
        std::fill_n(mark_.data(), graph.rows.num_vertices, Neighbor{0});
    }

    uint64_t* row(int64_t i) { return bits_.data() + i * words; }

    void build(int64_t u, bool outer) {
        const InwardRows& rows = graph_.rows;
        candidates.assign(rows.heads.data() + rows.begin(u), rows.heads.data() + rows.end(u));
        size = members = std::ssize(candidates);
        words = (size + 63) / 64;
        bits_.assign(size * words, 0);
        for (int64_t i = 0; i < size; ++i) mark_.data()[candidates[i]] = static_cast<Neighbor>(i + 1);
        for (int64_t i = 0; i < size; ++i)
            each_candidate(candidates[i], [&](int64_t j) {
                row(i)[j >> 6] |= uint64_t{1} << (j & 63);
                row(j)[i >> 6] |= uint64_t{1} << (i & 63);
            });
        is_dominated = false;
        if (outer) add_outer(u);
        for (const Neighbor v : candidates) mark_.data()[v] = 0;
    }

    bool is_dominated = false;  // without candidates: whether there is an outer neighbor

private:
    const Degenerate& graph_;
    Scratch<Neighbor> mark_;
    std::vector<uint64_t> bits_;

    template <class Visit>
    void each_candidate(int64_t v, const Visit& visit) const {
        const InwardRows& rows = graph_.rows;
        for (int64_t i = rows.begin(v); i < rows.end(v); ++i)
            if (const Neighbor mark = mark_.data()[rows.head(i)]) visit(mark - 1);
    }

    void add_outer(int64_t u) {
        const int64_t vertex = graph_.order.data()[u];
        for (int64_t i = graph_.stored.offset[vertex]; i < graph_.stored.offset[vertex + 1]; ++i) {
            const int64_t x = graph_.rank.data()[graph_.stored.neighbors[i]];
            if (x < u) continue;
            is_dominated = true;
            if (!size) return;
            bits_.resize((members + 1) * words, 0);
            bool joined = false;
            each_candidate(x, [&](int64_t j) {
                row(members)[j >> 6] |= uint64_t{1} << (j & 63);
                joined = true;
            });
            members += joined;
            if (!joined) std::fill_n(row(members), words, 0);
        }
    }
};

}  // namespace tgraph
