// Minimum spanning forest of the rows of a binary matrix over candidate edges (Kruskal with union-find), sequential.
//
// It approximates the minimum spanning tree of the distance graph of the Compressed Binary Matrix format (Alves et al.,
// "Accelerating Graph Neural Networks Using a Novel Computation-Friendly Matrix Compression Format", IPDPS 2025,
// section III): one vertex per row, and the empty row as the root. The weight of an edge between rows is their Hamming
// distance plus `price`, that of an edge from the root the ones of the row. Hamming distances are symmetric, so that an
// undirected tree suffices.
#pragma once

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "compressed/compression/hamming.hpp"

namespace tgraph {

struct RowEdge {
    int32_t u, v, weight;
};

// Data of a row that searches read at random, in one cache line.
struct RowFacts {
    int32_t ones;
    int32_t branch;     // the tree of the row without the root, identified by its smallest row
    int32_t root_cost;  // the least ones of a row of that tree
};

class RowForest {
public:
    explicit RowForest(const BinaryRows& rows)
        : rows_(rows), facts_(rows.size) {
        for (int64_t row = 0; row < rows.size; ++row) {
            facts_[row].ones = static_cast<int32_t>(rows.ones(row));
            heaviest_ = std::max(heaviest_, rows.ones(row));
        }
        for (const auto& fact : facts_) cost_ += fact.ones;
        sort_rows();
        label_branches();
    }

    const RowFacts& operator[](int64_t row) const { return facts_[row]; }

    int64_t size() const { return rows_.size; }
    int64_t cost() const { return cost_; }

    // Computes the minimum spanning tree of the present one and the candidates (Kruskal 1956). Ties: edges of the root
    // first, then in order of arrival.
    void improve(std::vector<RowEdge>&& candidates) {
        candidates.insert(candidates.begin(), edges_.begin(), edges_.end());
        const std::vector<RowEdge> sorted = sort_edges(candidates);
        candidates = {};
        start_trees();
        edges_.clear();
        cost_ = 0;
        int64_t next_row = 0;
        auto join_root = [&](int64_t weight) {
            for (; next_row < rows_.size && rows_.ones(by_ones_[next_row]) <= weight; ++next_row)
                if (join(by_ones_[next_row], rows_.size)) cost_ += rows_.ones(by_ones_[next_row]);
        };
        for (const RowEdge& edge : sorted) {
            join_root(edge.weight);
            if (!join(edge.u, edge.v)) continue;
            edges_.push_back(edge);
            cost_ += edge.weight;
        }
        join_root(heaviest_);
        label_branches();
    }

    // The parent of each row, -1 for children of the root.
    void orient(int32_t* parent) const {
        std::vector<int64_t> offset(rows_.size + 1, 0);
        for (const auto& edge : edges_) ++offset[edge.u], ++offset[edge.v];
        std::exclusive_scan(offset.begin(), offset.end(), offset.begin(), int64_t{0});
        std::vector<int32_t> neighbor(2 * edges_.size());
        for (const auto& edge : edges_) neighbor[offset[edge.u]++] = edge.v, neighbor[offset[edge.v]++] = edge.u;
        // Filling has advanced every offset to the end of its row, the begin of the next.
        constexpr int32_t root = -1, unseen = -2;
        std::fill(parent, parent + rows_.size, unseen);
        std::vector<int32_t> queue;
        queue.reserve(rows_.size);
        for (int64_t i = 0; i < rows_.size; ++i) {  // the first row of a tree is its lightest
            if (parent[by_ones_[i]] != unseen) continue;
            parent[by_ones_[i]] = root;
            queue.assign(1, by_ones_[i]);
            for (std::size_t next = 0; next < queue.size(); ++next) {
                const int32_t row = queue[next];
                for (int64_t j = row ? offset[row - 1] : 0; j < offset[row]; ++j) {
                    if (parent[neighbor[j]] != unseen) continue;
                    parent[neighbor[j]] = row;
                    queue.push_back(neighbor[j]);
                }
            }
        }
    }

private:
    // Counting sort of the rows by ones.
    void sort_rows() {
        std::vector<int64_t> next(heaviest_ + 2, 0);
        for (int64_t row = 0; row < rows_.size; ++row) ++next[rows_.ones(row) + 1];
        std::partial_sum(next.begin(), next.end(), next.begin());
        by_ones_.resize(rows_.size);
        for (int64_t row = 0; row < rows_.size; ++row) by_ones_[next[rows_.ones(row)]++] = static_cast<int32_t>(row);
    }

    std::vector<RowEdge> sort_edges(const std::vector<RowEdge>& edges) const {
        std::vector<int64_t> next(heaviest_ + 2, 0);
        for (const auto& edge : edges) ++next[edge.weight + 1];
        std::partial_sum(next.begin(), next.end(), next.begin());
        std::vector<RowEdge> sorted(edges.size());
        for (const auto& edge : edges) sorted[next[edge.weight]++] = edge;
        return sorted;
    }

    void start_trees() {
        tree_.resize(rows_.size + 1);
        std::iota(tree_.begin(), tree_.end(), int32_t{0});
    }

    // Union by the smaller number, with path halving.
    int32_t find(int32_t v) {
        while (tree_[v] != v) v = tree_[v] = tree_[tree_[v]];
        return v;
    }

    bool join(int32_t u, int32_t v) {
        u = find(u), v = find(v);
        if (u == v) return false;
        tree_[std::max(u, v)] = std::min(u, v);
        return true;
    }

    // The trees without the root, and the cheapest edge from each to the root.
    void label_branches() {
        start_trees();
        for (const auto& edge : edges_) join(edge.u, edge.v);
        for (int64_t row = 0; row < rows_.size; ++row) {
            facts_[row].branch = find(static_cast<int32_t>(row));
            facts_[row].root_cost = facts_[row].ones;
        }
        // A tree is identified by its smallest row, which is visited first.
        for (int64_t row = 0; row < rows_.size; ++row) {
            int32_t& cost = facts_[facts_[row].branch].root_cost;
            cost = std::min(cost, facts_[row].ones);
        }
        for (auto& fact : facts_) fact.root_cost = facts_[fact.branch].root_cost;
    }

    const BinaryRows rows_;
    std::vector<RowFacts> facts_;
    std::vector<int32_t> tree_, by_ones_;
    std::vector<RowEdge> edges_;
    int64_t heaviest_ = 0, cost_ = 0;
};

}  // namespace tgraph
