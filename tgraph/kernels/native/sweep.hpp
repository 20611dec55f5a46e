// Sums that pass from level to level of a search, by push or by pull.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "parallel.hpp"

namespace tgraph {

template <class Neighbor>
struct Adjacency {
    const int64_t* offset;
    const Neighbor* neighbors;

    int64_t degree(int64_t row) const { return offset[row + 1] - offset[row]; }
};

// What a sweep reads and writes. Item c * n + v is vertex v in copy number c of the graph.
//
// values[v] = bias[v] + the sum of values[u] over the distinct neighbours u of v in the level before. Sums are added in
// ascending order of the neighbours. A pull adds the neighbours on other levels too, where the values are still 0: both
// ways give the same bits, and so does any number of threads.
template <class Neighbor, class Item>
struct Sweep {
    Adjacency<Neighbor> pull, push;  // the neighbours that are summed, and the transpose
    int64_t num_vertices;
    const Item* order;
    const int64_t* level_offset;
    int64_t num_levels;
    bool descending;
    const double* bias;
    double* sums;    // of the neighbours' values; 0 where nothing was pushed yet
    double* values;  // 0 where a level was not reached yet

    // Level number `number` in the order of the sweep, as positions in `order`.
    Range level(int64_t number) const {
        const int64_t at = descending ? num_levels - 1 - number : number;
        return {level_offset[at], level_offset[at + 1]};
    }

    int64_t vertex(Item item) const { return item < num_vertices ? item : item % num_vertices; }

    void pull_item(Item item) const {
        const int64_t row = vertex(item);
        const double* const copy = values + (item - row);
        double sum = 0;
        Neighbor before = -1;
        for (int64_t i = pull.offset[row], end = pull.offset[row + 1]; i < end; ++i) {
            const Neighbor u = pull.neighbors[i];
            sum += u == before ? 0.0 : copy[u];  // parallel arcs lie side by side
            before = u;
        }
        sums[item] = sum;
    }

    // Adds the value of an item to the sums of its neighbours in [first, end). Those on other levels get it too: their
    // sums have been used already.
    void push_item(Item item, int64_t first, int64_t end) const {
        const int64_t row = vertex(item);
        const Neighbor *u = push.neighbors + push.offset[row], *last = push.neighbors + push.offset[row + 1];
        const double value = values[item];
        double* const copy = sums + (item - row);
        if (first > 0) u = std::lower_bound(u, last, first);
        for (Neighbor before = -1; u < last && *u < end; before = *u++)
            if (*u != before) copy[*u] += value;
    }

    void write(Range part) const {
        for (int64_t i = part.begin; i < part.end; ++i) values[order[i]] = bias[order[i]] + sums[order[i]];
    }
};

// Runs a sweep. Small levels are done by one thread, since the others would take longer to wake than to help; big ones
// by a team, which adds first and then writes, with a barrier after each.
template <class Neighbor, class Item>
class Sweeper {
public:
    explicit Sweeper(const Sweep<Neighbor, Item>& sweep)
        : sweep_(sweep), pull_arcs_(count_arcs(sweep.pull)), push_arcs_(count_arcs(sweep.push)) {}

    void run() {
        int64_t number = 0;
        const int threads = thread_count();
        for (; number < sweep_.num_levels && (threads == 1 || !is_big(number, threads)); ++number) do_alone(number);
        if (number < sweep_.num_levels)
            run_team(threads, [this, number](const Team& team) { do_together(team, number); });
    }

private:
    static constexpr int64_t big = 1 << 14, rows_per_chunk = 1 << 8, positions_per_chunk = 1 << 14;

    // The arcs in the rows of each level.
    std::vector<int64_t> count_arcs(const Adjacency<Neighbor>& arcs) const {
        std::vector<int64_t> count(sweep_.num_levels);
        const int64_t *begin = sweep_.level_offset, *end = begin + sweep_.num_levels;
        const int64_t positions = *end - *begin, chunks = (positions + positions_per_chunk - 1) / positions_per_chunk;
        for_each_chunk(chunks, part_count(positions), [&](int64_t chunk) {
            int64_t i = *begin + chunk * positions_per_chunk;
            const int64_t last = std::min(i + positions_per_chunk, *end);
            int64_t at = std::upper_bound(begin, end, i) - begin - 1;
            for (; i < last; ++at) {
                int64_t found = 0;
                for (const int64_t stop = std::min(last, begin[at + 1]); i < stop; ++i)
                    found += arcs.degree(sweep_.vertex(sweep_.order[i]));
                std::atomic_ref<int64_t>(count[at]).fetch_add(found, std::memory_order_relaxed);
            }
        });
        if (sweep_.descending) std::reverse(count.begin(), count.end());
        return count;
    }

    int64_t rows(int64_t number) const { return sweep_.level(number).end - sweep_.level(number).begin; }

    // A push reads and writes at random where a pull reads, and each member of a team looks at every row of the level
    // before for its share of the arcs.
    int64_t push_work(int64_t number, int members) const {
        return 2 * push_arcs_[number - 1] + (members == 1 ? 1 : 8 * members) * rows(number - 1);
    }
    int64_t pull_work(int64_t number) const { return pull_arcs_[number] + rows(number); }
    bool pushes(int64_t number, int members) const { return push_work(number, members) < pull_work(number); }

    bool is_big(int64_t number, int members) const {
        return number > 0 && std::min(push_work(number, members), pull_work(number)) >= big;
    }

    void do_alone(int64_t number) {
        const Range level = sweep_.level(number);
        if (number > 0 && pushes(number, 1))
            push(number, 0, sweep_.num_vertices);
        else if (number > 0)
            for (int64_t i = level.begin; i < level.end; ++i) sweep_.pull_item(sweep_.order[i]);
        sweep_.write(level);
    }

    void push(int64_t number, int64_t first, int64_t end) {
        const Range before = sweep_.level(number - 1);
        for (int64_t i = before.begin; i < before.end; ++i) sweep_.push_item(sweep_.order[i], first, end);
    }

    // All levels from the given one on. Every member sees for itself which of them are big.
    void do_together(const Team& team, int64_t first) {
        bool apart = false;  // the first member has done levels that the others have not seen
        int parity = 0;
        for (int64_t number = first; number < sweep_.num_levels; ++number) {
            if (!is_big(number, team.size)) {
                if (team.rank == 0) do_alone(number);
                apart = true;
                continue;
            }
            if (apart) team.barrier();
            do_big(team, number, parity);
            apart = false;
            parity ^= 1;
        }
    }

    // `parity` alternates from one big level to the next: a counter is set back while the other one is in use.
    void do_big(const Team& team, int64_t number, int parity) {
        if (pushes(number, team.size))
            push(number, border(team.rank, team.size), border(team.rank + 1, team.size));
        else
            pull(sweep_.level(number), taken_[parity]);
        team.barrier();
        if (team.rank == 0) taken_[1 - parity].store(0, std::memory_order_relaxed);
        const Range level = sweep_.level(number), part = part_of(level.end - level.begin, team.rank, team.size);
        sweep_.write(Range{level.begin + part.begin, level.begin + part.end});
        team.barrier();
    }

    // The first vertex that a member of the team pushes to: each gets a range with as many arcs as the others'.
    int64_t border(int rank, int size) const {
        const int64_t *offset = sweep_.pull.offset, *end = offset + sweep_.num_vertices;
        if (rank == size) return sweep_.num_vertices;
        return std::lower_bound(offset, end, part_of(*end, rank, size).begin) - offset;
    }

    // Takes rows, chunk after chunk, as long as there are any.
    void pull(Range level, std::atomic<int64_t>& taken) {
        const int64_t size = level.end - level.begin;
        for (int64_t begin; (begin = taken.fetch_add(rows_per_chunk, std::memory_order_relaxed)) < size;) {
            const int64_t end = level.begin + std::min(begin + rows_per_chunk, size);
            for (int64_t i = level.begin + begin; i < end; ++i) sweep_.pull_item(sweep_.order[i]);
        }
    }

    Sweep<Neighbor, Item> sweep_;
    std::vector<int64_t> pull_arcs_, push_arcs_;
    std::atomic<int64_t> taken_[2]{};
};

}  // namespace tgraph
