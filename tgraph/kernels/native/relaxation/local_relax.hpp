// Sequential relaxation within a block of consecutive rows, until its local fixpoint or a limit: in the order of the
// values (Dijkstra), or first in, first out for several columns. The caller schedules blocks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <queue>
#include <utility>
#include <vector>

#include "base/memory.hpp"
#include "base/neighbors.hpp"
#include "relaxation/relax_semiring.hpp"

namespace tgraph {

// Consecutive rows of a graph and their arcs: row i is that of the vertex first + i.
template <class V>
struct BlockRows {
    const int64_t* offset;  // [count + 1]
    Neighbors neighbors;
    const V* weights;  // per arc, or null
    V weight;          // of all arcs, if weights is null
    int64_t first, count;
    bool first_is_split, last_is_split;  // the row has arcs in other blocks, too

    bool is_elsewhere(int64_t vertex) const {
        const int64_t row = vertex - first;
        return row < 0 || row >= count || (row == 0 && first_is_split) || (row == count - 1 && last_is_split);
    }
};

// A row in the queue, with its value when it was queued.
template <class V>
struct Queued {
    V value;
    int64_t row;
};

// Best value first (Dijkstra): if no message is better than the value of its sender, each row is relaxed once.
template <class V>
class BestFirst {
public:
    explicit BestFirst(AnySemiring<V> semiring) : queue_(Worse{semiring}) {}
    void start(std::vector<Queued<V>> rows) {
        for (const Queued<V>& row : rows) queue_.push(row);
    }
    void push(Queued<V> row) { queue_.push(row); }
    bool empty() const { return queue_.empty(); }
    Queued<V> top() const { return queue_.top(); }
    void pop() { queue_.pop(); }

private:
    struct Worse {
        AnySemiring<V> semiring;
        bool operator()(const Queued<V>& a, const Queued<V>& b) const { return semiring.better(b.value, a.value); }
    };
    std::priority_queue<Queued<V>, std::vector<Queued<V>>, Worse> queue_;
};

// The same without a heap, for equal weights: rows relaxed in the order of their values improve others in that order,
// so a FIFO queue beside the sorted initial rows suffices.
template <class V>
class FirstInFirstOut {
public:
    explicit FirstInFirstOut(AnySemiring<V> semiring) : semiring_(semiring) {}
    void start(std::vector<Queued<V>> rows) {
        const auto before = [this](const Queued<V>& a, const Queued<V>& b) {
            return semiring_.better(a.value, b.value);
        };
        if (!std::is_sorted(rows.begin(), rows.end(), before)) std::sort(rows.begin(), rows.end(), before);
        first_ = std::move(rows);
    }
    void push(Queued<V> row) { line_.push_back(row); }
    bool empty() const { return next_ == first_.size() && line_.empty(); }
    Queued<V> top() const { return starts() ? first_[next_] : line_.front(); }
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

    AnySemiring<V> semiring_;
    std::vector<Queued<V>> first_;
    std::size_t next_ = 0;
    std::deque<Queued<V>> line_;
};

// A block stops early once all its queued values are worse than `value`, the best value queued elsewhere, and it has
// relaxed at least `arcs` arcs.
template <class V>
struct Limit {
    V value;
    int64_t arcs;
};

// reached : number of improved vertices with rows in other blocks. improved : number of improvements. arcs_left : arcs
// of the rows still queued. best : the best value of these.
template <class V>
struct Relaxed {
    int64_t reached = 0, improved = 0, arcs_left = 0;
    V best{};
};

// active : per row, whether it is queued. marked : per vertex, whether it is in `reached`; all false before and after.
// reached : improved vertices whose rows are, at least in part, in other blocks.
template <class V>
class LocalRelaxation {
public:
    LocalRelaxation(const BlockRows<V>& rows, V* values, int64_t columns, AnySemiring<V> semiring, bool* active,
                    bool* marked, int64_t* reached)
        : rows_(rows), values_(values), columns_(columns), semiring_(semiring), active_(active), marked_(marked),
          reached_(reached) {}

    Relaxed<V> run(const Limit<V>& limit) {
        if (columns_ > 1)
            run_columns();
        else if (rows_.weights)
            run_in_order(BestFirst<V>(semiring_), limit);
        else
            run_in_order(FirstInFirstOut<V>(semiring_), limit);
        for (int64_t i = 0; i < done_.reached; ++i) marked_[reached_[i]] = false;
        return done_;
    }

private:
    static constexpr int64_t ahead = 16;  // prefetch distance in arcs

    int64_t degree(int64_t row) const { return rows_.offset[row + 1] - rows_.offset[row]; }

    template <class Queue>
    void run_in_order(Queue queue, const Limit<V>& limit) {
        std::vector<Queued<V>> waiting;
        for (int64_t row = 0; row < rows_.count; ++row)
            if (active_[row]) {
                waiting.push_back({values_[rows_.first + row], row});
                done_.arcs_left += degree(row);
            }
        queue.start(std::move(waiting));
        for (int64_t relaxed = 0; !queue.empty();) {
            const auto [value, row] = queue.top();
            if (active_[row]) {  // else a stale entry
                if (relaxed >= limit.arcs && semiring_.better(limit.value, value)) {
                    done_.best = value;
                    return;
                }
                relaxed += degree(row);
                queue.pop();
                semiring_.is_min && semiring_.edge == Edge::add ? relax(row, queue, MinPlus<V>{})
                                                                : relax(row, queue, semiring_);
            } else {
                queue.pop();
            }
        }
    }

    template <class Queue, class Semiring>
    void relax(int64_t row, Queue& queue, const Semiring semiring) {
        const BlockRows<V> rows = rows_;
        const int64_t end = rows.offset[row + 1], last = end - 1;
        const V sent = values_[rows.first + row];
        active_[row] = false;
        done_.arcs_left -= degree(row);
        if (sent == semiring.identity()) return;
        const V same = semiring.send(sent, rows.weight);
        for (int64_t arc = rows.offset[row]; arc < end; ++arc) {
            fetch(values_ + rows.neighbors[std::min(arc + ahead, last)]);
            const int64_t vertex = rows.neighbors[arc];
            const V message = rows.weights ? semiring.send(sent, rows.weights[arc]) : same;
            if (!improve<false>(values_[vertex], message, semiring)) continue;
            reach(vertex);
            const int64_t other = vertex - rows.first;
            if (other < 0 || other >= rows.count || !degree(other)) continue;
            if (!active_[other]) done_.arcs_left += degree(other);
            active_[other] = true;
            queue.push({message, other});
        }
    }

    // Values of several columns are not ordered: a FIFO queue, each row in it at most once, without a limit.
    void run_columns() {
        std::deque<int64_t> line;
        for (int64_t row = 0; row < rows_.count; ++row)
            if (active_[row]) line.push_back(row);
        for (; !line.empty(); line.pop_front()) {
            const int64_t row = line.front();
            active_[row] = false;
            for (int64_t arc = rows_.offset[row]; arc < rows_.offset[row + 1]; ++arc) {
                const int64_t vertex = rows_.neighbors[arc];
                if (!relax_arc(rows_.first + row, vertex, rows_.weights ? rows_.weights[arc] : rows_.weight)) continue;
                reach(vertex);
                const int64_t other = vertex - rows_.first;
                if (other < 0 || other >= rows_.count || active_[other]) continue;
                active_[other] = true;
                line.push_back(other);
            }
        }
    }

    // Relaxes one arc; returns whether the receiver improved in any column.
    bool relax_arc(int64_t sender, int64_t receiver, V weight) {
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

    BlockRows<V> rows_;
    V* values_;
    int64_t columns_;
    AnySemiring<V> semiring_;
    bool* active_;
    bool* marked_;
    int64_t* reached_;
    Relaxed<V> done_;
};

}  // namespace tgraph
