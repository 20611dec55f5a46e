// Approximate nearest rows of a binary matrix by Hamming distance, in O(n) memory per thread; parallel over chunks of
// rows.
//
// For one row at a time, a search counts the rows that share some of its columns, by the inverted lists of these
// columns, and computes the Hamming distances of the most similar ones; A A^T is never stored. The number of columns
// and the length of each list are limited, so that the work is linear in the ones of the matrix.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <vector>

#include "base/memory.hpp"
#include "compressed/compression/row_forest.hpp"
#include "base/rows.hpp"

namespace tgraph {

inline constexpr int candidates_per_row = 4;

// Limits on the list entries that a search reads: per one of the row, in addition for any row, and per list.
struct SearchLimits {
    int64_t per_one = 48, at_least = 256, per_list = 512;
};

// Scope of a search: rows of other trees of the forest, at most one candidate per tree.
struct OtherBranches {
    const RowForest& forest;

    Range reach(int64_t) const { return {0, forest.size()}; }
    int32_t group(int64_t row) const { return forest[row].branch; }
    // Only lighter edges can improve the forest.
    int64_t limit(int64_t x, int64_t y) const { return std::max(forest[x].root_cost, forest[y].root_cost); }
};

// Scope of a search: earlier rows of the same block, delimited by adjacent bounds.
struct EarlierRows {
    const RowForest& forest;
    std::vector<int64_t> bounds;

    Range reach(int64_t row) const { return {*--std::upper_bound(bounds.begin(), bounds.end(), row), row}; }
    int32_t group(int64_t row) const { return static_cast<int32_t>(row); }
    int64_t limit(int64_t x, int64_t) const { return forest[x].ones; }
};

class SimilarRows {
public:
    // `columns` : the rows of the transpose. The weight of an edge is the distance plus `price`.
    SimilarRows(const BinaryRows& rows, const BinaryRows& columns, int64_t price)
        : rows_(rows), columns_(columns), price_(price) {}

    // Candidate edges from each row to close rows of the scope. `round` varies the columns sampled.
    template <class Scope>
    std::vector<RowEdge> search(const Scope& scope, uint64_t round) const {
        const RowChunks chunks{rows_.offset, rows_.size};
        std::vector<std::vector<RowEdge>> found(chunks.size());
        Chunks left(chunks.size());
        run_team(rows_.offset[rows_.size] < items_per_part ? 1 : thread_count(), [&](int) {
            Search<Scope> search(*this, scope);
            left.each([&](int64_t chunk) {
                const Range range = chunks[chunk];
                for (int64_t row = range.begin; row < range.end; ++row) search.run(row, round, found[chunk]);
            });
        });
        std::vector<RowEdge> all;
        for (auto& part : found) {
            all.insert(all.end(), part.begin(), part.end());
            part = {};
        }
        return all;
    }

private:
    struct Candidate {
        int64_t distance;  // estimated
        int32_t row, group;

        bool operator<(const Candidate& other) const {
            return distance != other.distance ? distance < other.distance : row < other.row;
        }
    };

    // The state of one thread.
    template <class Scope>
    class Search {
    public:
        Search(const SimilarRows& of, const Scope& scope)
            : rows_(of.rows_), columns_(of.columns_), price_(of.price_), scope_(scope), count_(of.rows_.size, 0) {}

        void run(int64_t row, uint64_t round, std::vector<RowEdge>& edges) {
            if (rows_.ones(row) <= price_) return;  // no parent saves anything
            count(row, round);
            choose(row);
            for (int i = 0; i < size_; ++i) {
                const int64_t other = best_[i].row, limit = scope_.limit(row, other);
                const int64_t weight = hamming(rows_, row, other, limit - price_) + price_;
                if (weight >= limit) continue;
                edges.push_back({static_cast<int32_t>(row), best_[i].row, static_cast<int32_t>(weight)});
            }
        }

    private:
        // Counts shared columns with other rows, over a sample of the columns.
        void count(int64_t row, uint64_t round) {
            constexpr SearchLimits limits;
            const int64_t ones = rows_.ones(row);
            int64_t budget = limits.per_one * ones + limits.at_least;
            const uint64_t mixed = static_cast<uint64_t>(row) * 0x9e3779b97f4a7c15u + round * 0xbf58476d1ce4e5b9u;
            auto position = static_cast<int64_t>((mixed >> 20) % static_cast<uint64_t>(ones));
            for (looked_at_ = 0; looked_at_ < std::min<int64_t>(ones, most_counted) && budget > 0; ++looked_at_) {
                const int32_t column = rows_.begin(row)[position];
                position = position + 1 == ones ? 0 : position + 1;
                const int32_t *first = columns_.begin(column), *last = columns_.end(column);
                if (last - first > limits.per_list) narrow(first, last, row, limits.per_list);
                budget -= last - first;
                for (; first != last; ++first)
                    if (count_[*first]++ == 0) touched_.push_back(*first);
            }
        }

        // Limits a long list to the entries around the row: in many graphs vertices with close ids are similar.
        static void narrow(const int32_t*& first, const int32_t*& last, int64_t row, int64_t width) {
            const int32_t* middle = std::lower_bound(first, last, static_cast<int32_t>(row));
            const int32_t* begin = middle - std::min<int64_t>(middle - first, width / 2);
            last = begin + std::min<int64_t>(last - begin, width);
            first = begin;
        }

        // Keeps the rows of the least estimated distance, in order, one per group.
        void choose(int64_t row) {
            size_ = 0;
            const Range reach = scope_.reach(row);
            const int32_t group = scope_.group(row);
            const int64_t ones = rows_.ones(row), fewest = looked_at_ / 8 + 1;
            int64_t enough = fewest;  // rows that share fewer of the sampled columns cannot be among the closest
            for (const int32_t other : touched_) {
                const int64_t shared = std::exchange(count_[other], 0);
                if (shared < enough || other < reach.begin || other >= reach.end) continue;
                const RowFacts& facts = scope_.forest[other];
                if (scope_.group(other) == group) continue;
                if (std::abs(ones - facts.ones) + price_ >= scope_.limit(row, other)) continue;
                const int64_t common = std::min<int64_t>({shared * ones / looked_at_, ones, facts.ones});
                insert({ones + facts.ones - 2 * common, other, scope_.group(other)});
                // The distance is at least ones - common.
                if (size_ == candidates_per_row)
                    enough = std::max(fewest, (ones - best_[size_ - 1].distance) * looked_at_ / ones);
            }
            touched_.clear();
        }

        void insert(const Candidate& candidate) {
            int place = 0;
            while (place < size_ && best_[place].group != candidate.group) ++place;
            if (place == size_ && size_ < candidates_per_row)
                ++size_;
            else if (!(candidate < best_[place = std::min(place, size_ - 1)]))
                return;
            for (; place > 0 && candidate < best_[place - 1]; --place) best_[place] = best_[place - 1];
            best_[place] = candidate;
        }

        static constexpr int64_t most_counted = std::numeric_limits<uint16_t>::max();

        const BinaryRows rows_, columns_;
        const int64_t price_;
        const Scope& scope_;
        std::vector<uint16_t> count_;
        std::vector<int32_t> touched_;
        int64_t looked_at_ = 0;
        int size_ = 0;
        Candidate best_[candidates_per_row];
    };

    const BinaryRows rows_, columns_;
    const int64_t price_;
};

}  // namespace tgraph
