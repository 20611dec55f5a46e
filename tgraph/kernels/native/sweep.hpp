// Sums over the rows of a graph, level by level: a level reads what the levels before it wrote.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "memory.hpp"
#include "parallel.hpp"

namespace tgraph {

// Sums over the neighbours in rows. A row is added in pieces of a fixed length, in order: its sum is the same
// whichever threads add the pieces.
template <class Neighbor>
struct RowSums {
    const int64_t* offset;
    const Neighbor* neighbors;

    static constexpr int64_t piece = 1 << 13;

    int64_t degree(int64_t row) const { return offset[row + 1] - offset[row]; }
    int64_t pieces(int64_t row) const { return (degree(row) + piece - 1) / piece; }

    // The sum over one piece of a row. Parallel arcs lie side by side, and all but the first of them add nothing.
    double of_piece(int64_t row, int64_t number, const double* values) const {
        const int64_t first = offset[row] + number * piece, end = std::min(first + piece, offset[row + 1]);
        int64_t i = first;
        Neighbor before = number ? neighbors[i - 1] : Neighbor{-1};
        double sum[4] = {};  // four chains of additions, which do not wait for each other
        const auto add = [&](double& to) {
            const Neighbor u = neighbors[i++];
            const double value = values[u];
            to += u == before ? 0.0 : value;
            before = u;
        };
        while (i + 4 <= end)
            for (double& part : sum) add(part);
        while (i < end) add(sum[0]);
        return (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }

    double of_row(int64_t row, const double* values) const {
        double sum = 0;
        for (int64_t number = 0, count = pieces(row); number < count; ++number) sum += of_piece(row, number, values);
        return sum;
    }
};

// The levels of a sweep and what it writes. Item c * n + v is vertex v in copy number c of the graph.
template <class Neighbor, class Item>
struct Sweep {
    RowSums<Neighbor> rows;
    int64_t num_vertices;
    const Item* order;
    const int64_t* level_offset;
    int64_t num_levels;
    bool descending;
    double* values;
    const double* bias;  // null where there is none

    Range level(int64_t number) const {
        const int64_t at = descending ? num_levels - 1 - number : number;
        return {level_offset[at], level_offset[at + 1]};
    }

    // The vertex of an item, and the values of its copy.
    int64_t vertex(Item item) const { return item < num_vertices ? item : item % num_vertices; }
    const double* copy_of(Item item) const { return values + (item - vertex(item)); }

    double sum(Item item) const { return rows.of_row(vertex(item), copy_of(item)); }
    void write(Item item, double sum) const { values[item] = bias ? bias[item] + sum : sum; }
};

// Runs a sweep. Small levels are done by one thread, since the others would take longer to wake than to help; big ones
// by a team, which adds first and then writes, with a barrier after each.
template <class Neighbor, class Item>
class Sweeper {
public:
    // `copies` is how many copies of the graph there are values for.
    Sweeper(const Sweep<Neighbor, Item>& sweep, int64_t copies) : sweep_(sweep) {
        int64_t widest = 0;
        for (int64_t number = 0; number < sweep.num_levels; ++number) {
            const Range level = sweep.level(number);
            widest = std::max(widest, level.end - level.begin);
        }
        const int64_t num_arcs = sweep.rows.offset[sweep.num_vertices];
        fresh_ = Scratch<double>(widest);
        hubs_.resize(copies * (num_arcs / hub_arcs));
        partial_.resize(num_arcs / sweep.rows.piece + 1);
    }

    void run() {
        int64_t number = 0;
        const int threads = thread_count();
        for (; number < sweep_.num_levels && (threads == 1 || !is_big(sweep_.level(number))); ++number)
            do_alone(sweep_.level(number));
        if (number < sweep_.num_levels)
            run_team(threads, [this, number](const Team& team) { do_together(team, number); });
    }

private:
    static constexpr int64_t big_rows = 1 << 12, big_arcs = 1 << 14, rows_per_chunk = 1 << 8, hub_arcs = 1 << 17;

    bool is_big(Range level) const {
        if (level.end - level.begin >= big_rows) return true;
        int64_t arcs = 0;
        for (int64_t i = level.begin; i < level.end && arcs < big_arcs; ++i)
            arcs += sweep_.rows.degree(sweep_.vertex(sweep_.order[i]));
        return arcs >= big_arcs;
    }

    void do_alone(Range level) {
        for (int64_t i = level.begin; i < level.end; ++i) fresh(level, i) = sweep_.sum(sweep_.order[i]);
        write(level, level);
    }

    // All levels from the given one on. Every member sees for itself which of them are big.
    void do_together(const Team& team, int64_t first) {
        bool apart = false;  // the first member has done levels that the others have not seen
        int parity = 0;
        for (int64_t number = first; number < sweep_.num_levels; ++number) {
            const Range level = sweep_.level(number);
            if (!is_big(level)) {
                if (team.rank == 0) do_alone(level);
                apart = true;
                continue;
            }
            if (apart) team.barrier();
            do_big(team, level, parity);
            team.barrier();
            apart = false;
            parity ^= 1;
        }
    }

    // `parity` alternates from one big level to the next: a counter is set back while the other one is in use.
    void do_big(const Team& team, Range level, int parity) {
        add_chunks(level, taken_[parity], num_hubs_[parity]);
        team.barrier();
        const auto listed = static_cast<int64_t>(hubs_.size());
        const int64_t num_hubs = std::min(num_hubs_[parity].load(std::memory_order_relaxed), listed);
        for (int64_t hub = 0; hub < num_hubs; ++hub) add_hub(team, level, hubs_[hub]);
        const Range part = part_of(level.end - level.begin, team.rank, team.size);
        write(level, Range{level.begin + part.begin, level.begin + part.end});
        if (team.rank == 0) {
            taken_[1 - parity].store(0, std::memory_order_relaxed);
            num_hubs_[1 - parity].store(0, std::memory_order_relaxed);
        }
    }

    // Adds up rows, chunk after chunk as long as there are any, and leaves the longest rows to the whole team.
    void add_chunks(Range level, std::atomic<int64_t>& taken, std::atomic<int64_t>& num_hubs) {
        const int64_t size = level.end - level.begin;
        for (int64_t begin; (begin = taken.fetch_add(rows_per_chunk, std::memory_order_relaxed)) < size;) {
            const int64_t end = level.begin + std::min(begin + rows_per_chunk, size);
            for (int64_t i = level.begin + begin; i < end; ++i)
                if (!leave_to_team(i, num_hubs)) fresh(level, i) = sweep_.sum(sweep_.order[i]);
        }
    }

    bool leave_to_team(int64_t position, std::atomic<int64_t>& num_hubs) {
        if (sweep_.rows.degree(sweep_.vertex(sweep_.order[position])) < hub_arcs) return false;
        const int64_t place = num_hubs.fetch_add(1, std::memory_order_relaxed);
        if (place >= static_cast<int64_t>(hubs_.size())) return false;
        hubs_[place] = position;
        return true;
    }

    void add_hub(const Team& team, Range level, int64_t position) {
        const Item item = sweep_.order[position];
        const int64_t vertex = sweep_.vertex(item), pieces = sweep_.rows.pieces(vertex);
        for (int64_t number = team.rank; number < pieces; number += team.size)
            partial_[number] = sweep_.rows.of_piece(vertex, number, sweep_.copy_of(item));
        team.barrier();
        if (team.rank == 0) {
            double sum = 0;
            for (int64_t number = 0; number < pieces; ++number) sum += partial_[number];
            fresh(level, position) = sum;
        }
        team.barrier();
    }

    void write(Range level, Range part) {
        for (int64_t i = part.begin; i < part.end; ++i) sweep_.write(sweep_.order[i], fresh(level, i));
    }

    double& fresh(Range level, int64_t i) { return fresh_.data()[i - level.begin]; }

    Sweep<Neighbor, Item> sweep_;
    Scratch<double> fresh_;      // the sums of a level until all of them are there
    std::vector<int64_t> hubs_;  // positions in the order
    std::vector<double> partial_;
    std::atomic<int64_t> taken_[2]{}, num_hubs_[2]{};
};

}  // namespace tgraph
