// A relaxation inside of a block of rows, until nothing in it improves any more, or what is left may wait.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <queue>
#include <utility>
#include <vector>

#include "base/memory.hpp"
#include "relaxation/relax_semiring.hpp"

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

// A row that waits, with the value that it has waited with since.
template <class V>
struct Waiting {
    V value;
    int64_t row;
};

// The best value first (Dijkstra): where no message is better than its sender's value, each row is relaxed once.
template <class V, class Semiring>
class BestFirst {
public:
    explicit BestFirst(Semiring semiring) : queue_(Worse{semiring}) {}
    void start(std::vector<Waiting<V>> rows) {
        for (const Waiting<V>& row : rows) queue_.push(row);
    }
    void push(Waiting<V> row) { queue_.push(row); }
    bool empty() const { return queue_.empty(); }
    Waiting<V> top() const { return queue_.top(); }
    void pop() { queue_.pop(); }

private:
    struct Worse {
        Semiring semiring;
        bool operator()(const Waiting<V>& a, const Waiting<V>& b) const { return semiring.better(b.value, a.value); }
    };
    std::priority_queue<Waiting<V>, std::vector<Waiting<V>>, Worse> queue_;
};

// The same without a heap where all arcs weigh the same: rows that are relaxed in the order of their values improve
// others in that order, so these wait in a line beside the sorted rows of the start.
template <class V, class Semiring>
class InLine {
public:
    explicit InLine(Semiring semiring) : semiring_(semiring) {}
    void start(std::vector<Waiting<V>> rows) {
        const auto before = [this](const Waiting<V>& a, const Waiting<V>& b) {
            return semiring_.better(a.value, b.value);
        };
        if (!std::is_sorted(rows.begin(), rows.end(), before)) std::sort(rows.begin(), rows.end(), before);
        first_ = std::move(rows);
    }
    void push(Waiting<V> row) { line_.push_back(row); }
    bool empty() const { return next_ == first_.size() && line_.empty(); }
    Waiting<V> top() const { return starts() ? first_[next_] : line_.front(); }
    void pop() {
        if (starts())
            ++next_;
        else
            line_.pop_front();
    }

private:
    bool starts() const {
        return next_ < first_.size() && (line_.empty() || !semiring_.better(line_.front().value, first_[next_].value));
    }

    Semiring semiring_;
    std::vector<Waiting<V>> first_;
    std::size_t next_ = 0;
    std::deque<Waiting<V>> line_;
};

// When a block may stop early: once what waits in it is worse than `value`, the best that waits elsewhere, and it has
// crossed so many `arcs`.
template <class V>
struct Limit {
    V value;
    int64_t arcs;
};

// What came of it: `reached` vertices improved whose rows are elsewhere, values improved so often, and the rows that
// still wait have so many arcs; `best` is the best value of these.
template <class V>
struct Relaxed {
    int64_t reached = 0, improved = 0, arcs_left = 0;
    V best{};
};

// active : of each row, whether it waits. marked : of each vertex, whether it is in `reached` already; all false before
// and after. reached : the vertices improved whose rows are, at least in part, in other blocks.
template <class V, class Neighbor, class Semiring>
class LocalRelaxation {
public:
    LocalRelaxation(const BlockRows<V, Neighbor>& rows, V* values, int64_t columns, Semiring semiring, bool* active,
                    bool* marked, int64_t* reached)
        : rows_(rows), values_(values), columns_(columns), semiring_(semiring), active_(active), marked_(marked),
          reached_(reached) {}

    Relaxed<V> run(const Limit<V>& limit) {
        if (columns_ > 1)
            run_columns();
        else if (rows_.weights)
            run_in_order(BestFirst<V, Semiring>(semiring_), limit);
        else
            run_in_order(InLine<V, Semiring>(semiring_), limit);
        for (int64_t i = 0; i < done_.reached; ++i) marked_[reached_[i]] = false;
        return done_;
    }

private:
    static constexpr int64_t ahead = 16;  // so many arcs ahead the values of neighbours are sent for

    int64_t degree(int64_t row) const { return rows_.offset[row + 1] - rows_.offset[row]; }

    template <class Queue>
    void run_in_order(Queue queue, const Limit<V>& limit) {
        std::vector<Waiting<V>> waiting;
        for (int64_t row = 0; row < rows_.count; ++row)
            if (active_[row]) {
                waiting.push_back({values_[rows_.first + row], row});
                done_.arcs_left += degree(row);
            }
        queue.start(std::move(waiting));
        for (int64_t crossed = 0; !queue.empty();) {
            const auto [value, row] = queue.top();
            if (active_[row]) {  // else it had been queued with a value that was not as good
                if (crossed >= limit.arcs && semiring_.better(limit.value, value)) {
                    done_.best = value;
                    return;
                }
                crossed += degree(row);
                queue.pop();
                relax(row, queue);
            } else {
                queue.pop();
            }
        }
    }

    template <class Queue>
    void relax(int64_t row, Queue& queue) {
        const int64_t end = rows_.offset[row + 1], last = end - 1;
        const V sent = values_[rows_.first + row];
        active_[row] = false;
        done_.arcs_left -= degree(row);
        if (sent == semiring_.identity()) return;
        const V same = semiring_.send(sent, rows_.weight);
        for (int64_t arc = rows_.offset[row]; arc < end; ++arc) {
            fetch(values_ + rows_.neighbors[std::min(arc + ahead, last)]);
            const auto vertex = static_cast<int64_t>(rows_.neighbors[arc]);
            const V message = rows_.weights ? semiring_.send(sent, rows_.weights[arc]) : same;
            if (!improve<false>(values_[vertex], message, semiring_)) continue;
            reach(vertex);
            const int64_t other = vertex - rows_.first;
            if (other < 0 || other >= rows_.count || !degree(other)) continue;
            if (!active_[other]) done_.arcs_left += degree(other);
            active_[other] = true;
            queue.push({message, other});
        }
    }

    // Values of several columns have no order: their rows wait in line, each once, and there is no limit.
    void run_columns() {
        std::deque<int64_t> line;
        for (int64_t row = 0; row < rows_.count; ++row)
            if (active_[row]) line.push_back(row);
        for (; !line.empty(); line.pop_front()) {
            const int64_t row = line.front();
            active_[row] = false;
            for (int64_t arc = rows_.offset[row]; arc < rows_.offset[row + 1]; ++arc) {
                const auto vertex = static_cast<int64_t>(rows_.neighbors[arc]);
                if (!cross(rows_.first + row, vertex, rows_.weights ? rows_.weights[arc] : rows_.weight)) continue;
                reach(vertex);
                const int64_t other = vertex - rows_.first;
                if (other < 0 || other >= rows_.count || active_[other]) continue;
                active_[other] = true;
                line.push_back(other);
            }
        }
    }

    // Whether the neighbour improved in any column.
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
        ++done_.improved;
        if (!rows_.is_elsewhere(vertex) || marked_[vertex]) return;
        marked_[vertex] = true;
        reached_[done_.reached++] = vertex;
    }

    BlockRows<V, Neighbor> rows_;
    V* values_;
    int64_t columns_;
    Semiring semiring_;
    bool* active_;
    bool* marked_;
    int64_t* reached_;
    Relaxed<V> done_;
};

}  // namespace tgraph
