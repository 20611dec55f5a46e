// The softmax of the scores of edges by destination, and its gradient: one pass over the edges of each.
//
// The scores of a row lie arc after arc, `heads` numbers each. Taken in vectors of some lanes, vector i belongs to the
// same heads as vector i + period does, whatever the number of heads: maxima and sums are kept by phase, i % period.
#pragma once

#include <numeric>

#include "attention/edges.hpp"

namespace tgraph {

inline constexpr int softmax_lanes = 8;

template <class A>
TGRAPH_INLINE Vector<A, softmax_lanes> vector_at(const A* numbers, int64_t i) {
    return load<A, softmax_lanes>(numbers + i * softmax_lanes);
}

template <class A>
TGRAPH_INLINE void put(A* numbers, int64_t i, Vector<A, softmax_lanes> v) {
    store<A, softmax_lanes>(numbers + i * softmax_lanes, v);
}

template <class A>
TGRAPH_MULTIVERSION void largest_by_phase(const A* numbers, int64_t vectors, int64_t period, A* largest) {
    using Lanes = Vector<A, softmax_lanes>;
    for (int64_t phase = 0; phase < period; ++phase) {
        Lanes best = -std::numeric_limits<A>::infinity() + Lanes{};
        for (int64_t i = phase; i < vectors; i += period)
            best = Largest::apply(vector_at(numbers, i), best);
        put(largest, phase, best);
    }
}

// Turns scores into powers of e, of what they are below the largest of their head, and gives their sums.
template <class A>
TGRAPH_MULTIVERSION void powers_by_phase(A* numbers, int64_t vectors, int64_t period, const A* largest, A* sums) {
    using Lanes = Vector<A, softmax_lanes>;
    for (int64_t phase = 0; phase < period; ++phase) {
        const Lanes best = vector_at(largest, phase);
        Lanes sum{};
        for (int64_t i = phase; i < vectors; i += period) {
            const Lanes power = power_of_e<A, softmax_lanes>(vector_at(numbers, i) - best);
            put(numbers, i, power);
            sum += power;
        }
        put(sums, phase, sum);
    }
}

template <class A>
TGRAPH_MULTIVERSION void divide_by_phase(A* numbers, int64_t vectors, int64_t period, const A* sums) {
    using Lanes = Vector<A, softmax_lanes>;
    for (int64_t phase = 0; phase < period; ++phase) {
        const Lanes sum = vector_at(sums, phase);
        for (int64_t i = phase; i < vectors; i += period)
            put(numbers, i, vector_at(numbers, i) / sum);
    }
}

template <class A>
TGRAPH_MULTIVERSION void products_by_phase(const A* a, const A* b, int64_t vectors, int64_t period, A* sums) {
    using Lanes = Vector<A, softmax_lanes>;
    for (int64_t phase = 0; phase < period; ++phase) {
        Lanes sum{};
        for (int64_t i = phase; i < vectors; i += period)
            sum += vector_at(a, i) * vector_at(b, i);
        put(sums, phase, sum);
    }
}

// grad = alpha * (grad - sum)
template <class A>
TGRAPH_MULTIVERSION void centre_by_phase(const A* alpha, int64_t vectors, int64_t period, const A* sums, A* grad) {
    using Lanes = Vector<A, softmax_lanes>;
    for (int64_t phase = 0; phase < period; ++phase) {
        const Lanes sum = vector_at(sums, phase);
        for (int64_t i = phase; i < vectors; i += period) {
            const Lanes centred = vector_at(grad, i) - sum;
            put(grad, i, vector_at(alpha, i) * centred);
        }
    }
}

// The numbers of one row at a time, side by side, in memory that all rows of a thread share.
template <class A>
class SoftmaxRow {
public:
    SoftmaxRow(int64_t heads, int64_t most)
        : heads_(heads), period_(std::lcm<int64_t>(heads, softmax_lanes) / softmax_lanes),
          columns_(heads), largest_(period_ * softmax_lanes), sums_(period_ * softmax_lanes) {
        numbers_.reserve(padded(most)), others_.reserve(padded(most));
    }

    template <class Neighbor>
    void softmax(const EdgeRows<Neighbor>& rows, Range arcs, const A* score, A* out) {
        constexpr A least = -std::numeric_limits<A>::infinity();
        gather(rows, arcs, score, least, numbers_);
        largest_by_phase(numbers_.data(), vectors_, period_, largest_.data());
        fold(largest_, least, [](A a, A b) { return Largest::apply(a, b); });
        for (A& best : largest_) best = best == least ? A{0} : best;
        powers_by_phase(numbers_.data(), vectors_, period_, largest_.data(), sums_.data());
        fold(sums_, A{0}, [](A a, A b) { return a + b; });
        divide_by_phase(numbers_.data(), vectors_, period_, sums_.data());
        scatter(rows, arcs, numbers_, out);
    }

    template <class Neighbor>
    void gradient(const EdgeRows<Neighbor>& rows, Range arcs, const A* grad, const A* alpha, A* out) {
        gather(rows, arcs, grad, A{0}, numbers_);
        gather(rows, arcs, alpha, A{0}, others_);
        products_by_phase(numbers_.data(), others_.data(), vectors_, period_, sums_.data());
        fold(sums_, A{0}, [](A a, A b) { return a + b; });
        centre_by_phase(others_.data(), vectors_, period_, sums_.data(), numbers_.data());
        scatter(rows, arcs, numbers_, out);
    }

private:
    std::size_t padded(int64_t arcs) const {
        return static_cast<std::size_t>((arcs * heads_ + softmax_lanes - 1) / softmax_lanes * softmax_lanes);
    }

    template <class Neighbor>
    void gather(const EdgeRows<Neighbor>& rows, Range arcs, const A* from, A rest, std::vector<A>& to) {
        const int64_t count = arcs.end - arcs.begin;
        to.resize(padded(count));
        vectors_ = static_cast<int64_t>(to.size()) / softmax_lanes;
        if (!rows.number) {
            std::copy_n(from + arcs.begin * heads_, count * heads_, to.data());
        } else {
            A* next = to.data();
            for (int64_t arc = arcs.begin; arc < arcs.end; ++arc, next += heads_) {
                fetch(from + rows.number[rows.later(arc)] * heads_);
                copy_heads(from + rows.number[arc] * heads_, next);
            }
        }
        std::fill(to.begin() + count * heads_, to.end(), rest);
    }

    template <class Neighbor>
    void scatter(const EdgeRows<Neighbor>& rows, Range arcs, const std::vector<A>& from, A* to) const {
        if (!rows.number) {
            std::copy_n(from.data(), (arcs.end - arcs.begin) * heads_, to + arcs.begin * heads_);
            return;
        }
        const A* next = from.data();
        for (int64_t arc = arcs.begin; arc < arcs.end; ++arc, next += heads_)
            copy_heads(next, to + rows.number[arc] * heads_);
    }

    void copy_heads(const A* from, A* to) const {
        for (int64_t head = 0; head < heads_; ++head) to[head] = from[head];
    }

    // Puts what an operation makes of the numbers of each head in the place of all of them.
    template <class Operation>
    void fold(std::vector<A>& numbers, A neutral, Operation operation) {
        std::fill(columns_.begin(), columns_.end(), neutral);
        for (std::size_t begin = 0; begin < numbers.size(); begin += columns_.size())
            for (std::size_t head = 0; head < columns_.size(); ++head)
                columns_[head] = operation(numbers[begin + head], columns_[head]);
        for (std::size_t begin = 0; begin < numbers.size(); begin += columns_.size())
            std::copy(columns_.begin(), columns_.end(), numbers.begin() + begin);
    }

    int64_t heads_, period_, vectors_ = 0;
    std::vector<A> columns_, largest_, sums_, numbers_, others_;
};

// Calls visit(numbers, arcs) for every row that has arcs, with the numbers of the thread.
template <class A, class Neighbor, class Visit>
void each_softmax(const EdgeRows<Neighbor>& rows, int64_t heads, Visit visit) {
    int64_t most = 0;
    for (int64_t row = 0; row < rows.num_rows; ++row) most = std::max(most, rows.offset[row + 1] - rows.offset[row]);
    const RowChunks chunks{rows.offset, rows.num_rows, 1 << 11};
    const int threads = part_count(rows.num_arcs * heads);
    std::vector<SoftmaxRow<A>> numbers;
    numbers.reserve(threads);  // no copies, which would not keep the memory that is set aside
    for (int thread = 0; thread < threads; ++thread) numbers.emplace_back(heads, most);
    for_each_chunk(chunks.size(), threads, [&](int64_t chunk, int rank) {
        const Range within = chunks[chunk];
        for (int64_t row = within.begin; row < within.end; ++row)
            if (rows.offset[row] < rows.offset[row + 1])
                visit(numbers[rank], Range{rows.offset[row], rows.offset[row + 1]});
    });
}

}  // namespace tgraph
