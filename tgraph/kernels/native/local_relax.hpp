// A relaxation inside of a block of rows, until nothing in it improves any more.
#pragma once

#include <cstdint>
#include <deque>
#include <queue>
#include <utility>
#include <vector>

#include "relax_semiring.hpp"

namespace tgraph {

// Consecutive rows of a graph and their arcs: row i is that of the vertex first + i.
template <class V, class Neighbor>
struct BlockRows {
    const int64_t* offset;  // [count + 1]
    const Neighbor* neighbors;
    const V* weights;  // of each arc, or null
    V weight;          // of all, where null
    int64_t first, count;
    bool first_is_split, last_is_split;  // they have arcs in other blocks, too

    bool is_elsewhere(int64_t vertex) const {
        const int64_t row = vertex - first;
        return row < 0 || row >= count || (row == 0 && first_is_split) || (row == count - 1 && last_is_split);
    }
};

// Rows wait in the order of their values, the best one first (Dijkstra): where no message is better than its sender's
// value, a row is then relaxed once. Values of several columns have no order, and their rows wait in line.
//
// active : of each row, whether it waits; none does in the end. marked : of each vertex, whether it is in `reached`
// already; all false before. reached : the vertices improved whose rows are, at least in part, in other blocks.
template <class V, class Neighbor, class Semiring>
class LocalRelaxation {
public:
    LocalRelaxation(const BlockRows<V, Neighbor>& rows, V* values, int64_t columns, Semiring semiring, bool* active,
                    bool* marked, int64_t* reached)
        : rows_(rows), values_(values), columns_(columns), semiring_(semiring), active_(active), marked_(marked),
          reached_(reached), best_first_(Later{semiring}) {}

    // (how many vertices were reached, how often a value improved)
    std::pair<int64_t, int64_t> run() {
        for (int64_t row = 0; row < rows_.count; ++row)
            if (active_[row]) wait(row);
        if (columns_ == 1) {
            while (!best_first_.empty()) {
                const int64_t row = best_first_.top().second;
                best_first_.pop();
                if (active_[row]) relax(row);  // else it had been queued with a value that was not as good
            }
        } else {
            for (; !line_.empty(); line_.pop_front()) relax(line_.front());
        }
        for (int64_t i = 0; i < num_reached_; ++i) marked_[reached_[i]] = false;
        return {num_reached_, improved_};
    }

private:
    using Entry = std::pair<V, int64_t>;
    struct Later {
        Semiring semiring;
        bool operator()(const Entry& a, const Entry& b) const { return semiring.better(b.first, a.first); }
    };

    void wait(int64_t row) {
        if (columns_ == 1)
            best_first_.emplace(values_[rows_.first + row], row);
        else
            line_.push_back(row);
    }

    void relax(int64_t row) {
        active_[row] = false;
        for (int64_t arc = rows_.offset[row]; arc < rows_.offset[row + 1]; ++arc) {
            const auto vertex = static_cast<int64_t>(rows_.neighbors[arc]);
            if (cross(rows_.first + row, vertex, rows_.weights ? rows_.weights[arc] : rows_.weight)) reach(vertex);
        }
    }

    // Whether the neighbour improved.
    bool cross(int64_t sender, int64_t receiver, V weight) {
        bool better = false;
        for (int64_t c = 0; c < columns_; ++c) {
            const V sent = values_[sender * columns_ + c];
            if (sent == semiring_.identity()) continue;
            better |= improve<false>(values_[receiver * columns_ + c], semiring_.send(sent, weight), semiring_);
        }
        return better;
    }

    void reach(int64_t vertex) {
        ++improved_;
        const int64_t row = vertex - rows_.first;
        if (rows_.is_elsewhere(vertex) && !marked_[vertex]) {
            marked_[vertex] = true;
            reached_[num_reached_++] = vertex;
        }
        if (row < 0 || row >= rows_.count) return;
        if (columns_ == 1 || !active_[row]) wait(row);
        active_[row] = true;
    }

    BlockRows<V, Neighbor> rows_;
    V* values_;
    int64_t columns_;
    Semiring semiring_;
    bool* active_;
    bool* marked_;
    int64_t* reached_;
    int64_t num_reached_ = 0, improved_ = 0;
    std::priority_queue<Entry, std::vector<Entry>, Later> best_first_;
    std::deque<int64_t> line_;
};

}  // namespace tgraph
