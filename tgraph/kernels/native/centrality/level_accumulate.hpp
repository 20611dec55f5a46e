// Accumulation of sums along the levels of a breadth-first search, as in betweenness centrality (Brandes, "A faster
// algorithm for betweenness centrality", 2001), by push or pull per level. Parallel over searches if there are enough,
// else over the rows (pull) or target ranges (push) of a level, so that no atomics are needed.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "base/memory.hpp"
#include "base/neighbor.hpp"
#include "threads/parallel.hpp"

namespace tgraph {

struct Adjacency {
    const int64_t* offset;
    const Neighbor* neighbors;

    int64_t degree(int64_t row) const { return offset[row + 1] - offset[row]; }
};

// Items by level, in int32 where there are fewer than 2^31.
struct Order {
    const int32_t* narrow;
    const int64_t* wide;  // in place of `narrow`

    int64_t operator[](int64_t position) const { return narrow ? narrow[position] : wide[position]; }

    // The first position in an ascending range whose item is not below `item`.
    int64_t find(int64_t item, Range range) const {
        return narrow ? std::lower_bound(narrow + range.begin, narrow + range.end, item) - narrow
                      : std::lower_bound(wide + range.begin, wide + range.end, item) - wide;
    }
};

// Sums of numbers, or of logarithms (log-sum-exp) of numbers that would overflow or underflow.
struct Numbers {
    static constexpr double zero = 0;
    static double add(double a, double b) { return a + b; }
};

struct Logarithms {
    static constexpr double zero = -std::numeric_limits<double>::infinity();
    static double add(double a, double b) {
        const double larger = std::max(a, b), smaller = std::min(a, b);
        return smaller == zero ? larger : larger + std::log1p(std::exp(smaller - larger));
    }
};

// Data of the sweep of one search.
//
// values[v] = bias[v] + the sum of values[u] over the distinct neighbors u of v in the level before, in ascending order
// of u. A pull also adds neighbors on other levels, whose values are still zero: push and pull, and any number of
// threads, give the same bits.
template <class Kind>
struct Sweep {
    Adjacency pull, push;  // rows of the neighbors that are summed, and the transpose
    int64_t num_vertices;
    Order order;
    int64_t first_item;         // that of vertex 0
    std::vector<Range> levels;  // positions in the order
    const double* bias;
    double* sums;    // of the values of neighbors; zero before the first push
    double* values;  // zero on levels that are not processed yet

    int64_t vertex(int64_t position) const { return order[position] - first_item; }

    void pull_row(int64_t row) const {
        double sum = Kind::zero;
        Neighbor before = -1;
        for (int64_t i = pull.offset[row], end = pull.offset[row + 1]; i < end; ++i) {
            const Neighbor u = pull.neighbors[i];
            sum = Kind::add(sum, u == before ? Kind::zero : values[u]);  // parallel arcs are adjacent
            before = u;
        }
        sums[row] = sum;
    }

    // Prefetches the rows of the next vertices, which are at random addresses.
    TGRAPH_INLINE void fetch_ahead(const Adjacency& arcs, int64_t position, int64_t end) const {
        if (position + 16 < end) fetch(arcs.offset + vertex(position + 16));
        if (position + 8 < end) fetch(arcs.neighbors + arcs.offset[vertex(position + 8)]);
    }

    void pull_rows(Range part) const {
        for (int64_t i = part.begin; i < part.end; ++i) {
            fetch_ahead(pull, i, part.end);
            pull_row(vertex(i));
        }
    }

    // Adds the value of a vertex to the sums of its neighbors in [first, end). Neighbors on other levels receive it
    // too, which is harmless: their sums have been used already.
    void push_row(int64_t row, int64_t first, int64_t end) const {
        const Neighbor *u = push.neighbors + push.offset[row], *last = push.neighbors + push.offset[row + 1];
        const double value = values[row];
        if (first > 0) u = std::lower_bound(u, last, first);
        for (Neighbor before = -1; u < last && *u < end; before = *u++)
            if (*u != before) sums[*u] = Kind::add(sums[*u], value);
    }

    void push_rows(Range part, int64_t first, int64_t end) const {
        for (int64_t i = part.begin; i < part.end; ++i) {
            fetch_ahead(push, i, part.end);
            push_row(vertex(i), first, end);
        }
    }

    void write(Range part) const {
        for (int64_t i = part.begin; i < part.end; ++i) values[vertex(i)] = Kind::add(bias[vertex(i)], sums[vertex(i)]);
    }
};

// Runs a sweep with at most `threads` threads. Small levels are processed by the calling thread, large ones by the team
// in two steps: sums, then values.
template <class Kind>
class Sweeper {
public:
    Sweeper(Sweep<Kind> sweep, int threads)
        : sweep_(std::move(sweep)), threads_(threads), num_levels_(static_cast<int64_t>(sweep_.levels.size())) {
        pull_arcs_ = count_arcs(sweep_.pull);
        push_arcs_ = sweep_.push.offset == sweep_.pull.offset ? pull_arcs_ : count_arcs(sweep_.push);
    }

    void run() const {
        for (int64_t number = 0; number < num_levels_; ++number) {
            poll_interruption();
            threads_ == 1 || !is_big(number, threads_) ? do_alone(number) : do_big(number);
        }
    }

private:
    static constexpr int64_t big = 1 << 14, rows_per_chunk = 1 << 8;

    // The number of arcs of each level.
    std::vector<int64_t> count_arcs(const Adjacency& arcs) const {
        std::vector<int64_t> count(num_levels_);
        for (int64_t number = 0; number < num_levels_; ++number) {
            const Range level = sweep_.levels[number];
            const int parts = std::min(part_count(level.end - level.begin), threads_);
            for_each_part(parts, [&](int part) {
                const Range some = part_of(level.end - level.begin, part, parts);
                int64_t found = 0;
                for (int64_t i = some.begin; i < some.end; ++i) found += arcs.degree(sweep_.vertex(level.begin + i));
                std::atomic_ref<int64_t>(count[number]).fetch_add(found, std::memory_order_relaxed);
            });
        }
        return count;
    }

    int64_t rows(int64_t number) const { return sweep_.levels[number].end - sweep_.levels[number].begin; }

    // A push has twice the random accesses of a pull, and each thread searches every row of the level before for its
    // share of the arcs.
    int64_t push_work(int64_t number, int members) const {
        return 2 * push_arcs_[number - 1] + (members == 1 ? 1 : 8 * members) * rows(number - 1);
    }
    int64_t pull_work(int64_t number) const { return pull_arcs_[number] + rows(number); }
    bool pushes(int64_t number, int members) const { return push_work(number, members) < pull_work(number); }

    bool is_big(int64_t number, int members) const {
        return number > 0 && std::min(push_work(number, members), pull_work(number)) >= big;
    }

    void do_alone(int64_t number) const {
        if (number > 0 && pushes(number, 1))
            sweep_.push_rows(sweep_.levels[number - 1], 0, sweep_.num_vertices);
        else if (number > 0)
            sweep_.pull_rows(sweep_.levels[number]);
        sweep_.write(sweep_.levels[number]);
    }

    void do_big(int64_t number) const {
        const Range level = sweep_.levels[number];
        const int64_t size = level.end - level.begin;
        if (pushes(number, threads_))
            for_each_part(threads_, [&](int part) {
                sweep_.push_rows(sweep_.levels[number - 1], border(part), border(part + 1));
            });
        else
            for_each_chunk((size + rows_per_chunk - 1) / rows_per_chunk, threads_, [&](int64_t chunk) {
                const int64_t begin = chunk * rows_per_chunk;
                sweep_.pull_rows({level.begin + begin, level.begin + std::min(begin + rows_per_chunk, size)});
            });
        for_each_part(threads_, [&](int part) {
            const Range some = part_of(size, part, threads_);
            sweep_.write({level.begin + some.begin, level.begin + some.end});
        });
    }

    // The first target of a part of a push: parts are ranges of targets with equal numbers of arcs.
    int64_t border(int part) const {
        const int64_t *offset = sweep_.pull.offset, *end = offset + sweep_.num_vertices;
        if (part == threads_) return sweep_.num_vertices;
        return std::lower_bound(offset, end, part_of(*end, part, threads_).begin) - offset;
    }

    const Sweep<Kind> sweep_;
    const int threads_;
    const int64_t num_levels_;
    std::vector<int64_t> pull_arcs_, push_arcs_;
};

// Several searches over the same graph: item c * n + v is vertex v in search c.
template <class Kind>
struct Searches {
    Sweep<Kind> first;  // arrays of the first search, without levels
    int64_t count;
    const int64_t* level_offset;
    int64_t num_levels;
    bool descending;

    // Parallel over searches if there are at least as many as threads, else within one search after the other.
    void sweep() const {
        const int64_t arcs = first.pull.offset[first.num_vertices];
        const int threads = count * (arcs + first.num_vertices) < 2 * items_per_part ? 1 : thread_count();
        if (count >= threads)
            for_each_chunk(count, threads, [this](int64_t c) { Sweeper<Kind>(number(c), 1).run(); });
        else
            for (int64_t c = 0; c < count; ++c) Sweeper<Kind>(number(c), threads).run();
    }

private:
    Sweep<Kind> number(int64_t c) const {
        Sweep<Kind> own = first;
        const int64_t base = c * own.num_vertices;
        own.first_item = base;
        own.bias += base, own.sums += base, own.values += base;
        const auto position = [&](int64_t level, int64_t item) {
            return own.order.find(item, {level_offset[level], level_offset[level + 1]});
        };
        for (int64_t level = 0; level < num_levels; ++level)
            own.levels.push_back({position(level, base), position(level, base + own.num_vertices)});
        if (descending) std::reverse(own.levels.begin(), own.levels.end());
        return own;
    }
};

}  // namespace tgraph
