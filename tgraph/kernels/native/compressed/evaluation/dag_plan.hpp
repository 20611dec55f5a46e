// A linear DAG of compressed rows, and the partition of its evaluation into chunks for threads.
//
// Nodes: n inputs, R virtual vertices, n outputs, numbered in this order. Row r lists the children of node n + r; ~node
// is a child that is subtracted. Phases are evaluated one after the other, with their chunks in parallel; a phase may
// have tasks, whose rows are evaluated in order on one thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include "threads/parallel.hpp"
#include "base/simd.hpp"

namespace tgraph {

template <class Child>
TGRAPH_INLINE Child node_of(Child child) {
    return child ^ (child >> (8 * sizeof(Child) - 1));
}

// Children, and the order of evaluation, are given in 32 or 64 bits; the other pointer is null. Both orders are null if
// rows are evaluated in their own order.
struct DagRows {
    int64_t num_vertices, num_rows;
    const int64_t* offset;
    const int32_t* narrow_children;
    const int64_t* wide_children;
    const int32_t* narrow_order;
    const int64_t* wide_order;

    int64_t num_virtual() const { return num_rows - num_vertices; }
    int64_t num_children() const { return offset[num_rows]; }
    int64_t degree(int64_t row) const { return offset[row + 1] - offset[row]; }
    int64_t child(int64_t i) const { return narrow_children ? narrow_children[i] : wide_children[i]; }
    bool in_order() const { return !narrow_order && !wide_order; }
    int64_t row(int64_t position) const {
        return narrow_order ? narrow_order[position] : wide_order ? wide_order[position] : position;
    }
};

// Some children of a long row. `ready` : none of them belongs to the same phase, so that the piece can be reduced in
// parallel before the rows of the phase.
struct DagPiece {
    int64_t position, begin, end;
    bool ready;
};

// The partition depends on the DAG alone, not on the number of threads.
class DagPlan {
public:
    struct Phase {
        Range chunks, pieces;
        int64_t work;
        bool has_tasks;  // rows may depend on earlier rows of their task
    };

    static constexpr int64_t grain = 512;     // work of a chunk: one unit per row and per child
    static constexpr int64_t longest = 4096;  // children of a piece

    std::vector<Phase> phases;
    std::vector<Range> chunks;  // positions in the order; whole tasks
    std::vector<DagPiece> pieces;
    std::vector<int64_t> position;   // of each row; empty if rows are in order, or no row needs an output
    int64_t most_pieces = 0;         // of a phase
    int64_t reach = 0;               // maximum distance of a row to an output of its chunk that it needs
    bool needs_outputs = false;      // some row has an output as a child
    bool needs_far_outputs = false;  // some row has an output of another chunk as a child

    DagPlan(const DagRows& rows, const int64_t* bounds, int64_t num_phases, const int64_t* tasks,
            int64_t num_tasks) {
        int64_t task = 0;
        for (int64_t p = 0; p < num_phases; ++p) {
            phases.push_back({{size(chunks), 0}, {size(pieces), 0}, 0, false});
            cut_rows(rows, {bounds[p], bounds[p + 1]}, tasks, num_tasks, task);
            phases.back().chunks.end = size(chunks);
            phases.back().pieces.end = size(pieces);
            most_pieces = std::max(most_pieces, phases.back().pieces.end - phases.back().pieces.begin);
        }
        find_outputs_needed(rows);
        find_ready(rows, bounds, num_phases);
    }

    int64_t place(int64_t row) const { return position.empty() ? row : position[row]; }

    // The pieces of the long row at a position, in a phase.
    Range pieces_of(const Phase& phase, int64_t at) const {
        const auto before = [](const DagPiece& piece, int64_t place) { return piece.position < place; };
        const auto first = std::lower_bound(pieces.begin() + phase.pieces.begin, pieces.begin() + phase.pieces.end, at,
                                            before) - pieces.begin();
        int64_t last = first;
        while (last < phase.pieces.end && pieces[last].position == at) ++last;
        return {first, last};
    }

    // Whether totals of outputs are stored, for other rows or until all rows are evaluated.
    bool keeps_outputs(const DagRows& rows) const { return needs_outputs || !rows.in_order(); }

private:
    template <class Item>
    static int64_t size(const std::vector<Item>& items) {
        return static_cast<int64_t>(items.size());
    }

    void cut_rows(const DagRows& rows, Range phase, const int64_t* tasks, int64_t num_tasks,
                  int64_t& task) {
        int64_t begin = phase.begin, work = 0, at = phase.begin;
        while (at < phase.end) {
            int64_t end = at + 1;
            while (task < num_tasks && tasks[task] <= at) ++task;
            if (task < num_tasks) {
                end = std::min(tasks[task], phase.end);
                phases.back().has_tasks = true;
            }
            for (; at < end; ++at) {
                const int64_t degree = rows.degree(rows.row(at));
                work += degree + 1;
                if (degree > longest) cut_row(rows, at);
            }
            if (work < grain && at < phase.end) continue;
            chunks.push_back({begin, at});
            phases.back().work += work;
            begin = at;
            work = 0;
        }
    }

    void cut_row(const DagRows& rows, int64_t at) {
        const int64_t row = rows.row(at), end = rows.offset[row + 1];
        for (int64_t i = rows.offset[row]; i < end; i += longest)
            pieces.push_back({at, i, std::min(i + longest, end), true});
    }

    void find_outputs_needed(const DagRows& rows) {
        const int64_t first = rows.num_vertices + rows.num_virtual(), count = rows.num_children();
        for (int64_t i = 0; i < count && !needs_outputs; ++i) needs_outputs = node_of(rows.child(i)) >= first;
        if (!needs_outputs) return;
        if (!rows.in_order()) {
            position.resize(rows.num_rows);
            for (int64_t at = 0; at < rows.num_rows; ++at) position[rows.row(at)] = at;
        }
        for (const Range& chunk : chunks)
            for (int64_t at = chunk.begin; at < chunk.end; ++at) {
                const int64_t row = rows.row(at);
                for (int64_t i = rows.offset[row]; i < rows.offset[row + 1]; ++i) {
                    const int64_t node = node_of(rows.child(i));
                    if (node < first) continue;
                    const int64_t needed = place(node - rows.num_vertices);
                    if (needed < chunk.begin)
                        needs_far_outputs = true;
                    else
                        reach = std::max(reach, at - needed);
                }
            }
    }

    void find_ready(const DagRows& rows, const int64_t* bounds, int64_t num_phases) {
        if (pieces.empty()) return;
        std::vector<int64_t> places(rows.num_rows);
        for (int64_t at = 0; at < rows.num_rows; ++at) places[rows.row(at)] = at;
        for (DagPiece& piece : pieces) {
            const int64_t phase = *(std::upper_bound(bounds, bounds + num_phases + 1, piece.position) - 1);
            for (int64_t i = piece.begin; i < piece.end && piece.ready; ++i) {
                const int64_t node = node_of(rows.child(i));
                piece.ready = node < rows.num_vertices || places[node - rows.num_vertices] < phase;
            }
        }
    }
};

// Runs the phases one after the other, phases of little work on the calling thread alone. `evaluator.worker()` creates
// the state of a thread, which reduces pieces and chunks; `columns` scales the work.
template <class Evaluator>
void run_phases(const DagPlan& plan, int64_t columns, Evaluator& evaluator) {
    int64_t most = 0;
    for (const auto& phase : plan.phases) most = std::max(most, phase.work);
    using Worker = decltype(evaluator.worker());
    std::vector<std::optional<Worker>> workers(part_count(most * columns));
    const auto worker = [&](int rank) -> Worker& {
        if (!workers[rank]) workers[rank].emplace(evaluator.worker());
        return *workers[rank];
    };
    for (const DagPlan::Phase& phase : plan.phases) {
        const int threads = std::min(part_count(phase.work * columns), static_cast<int>(workers.size()));
        for_each_chunk(phase.pieces.end - phase.pieces.begin, threads, [&](int64_t i, int rank) {
            if (plan.pieces[phase.pieces.begin + i].ready) worker(rank).piece(phase, phase.pieces.begin + i);
        });
        Chunks chunks(phase.chunks.end - phase.chunks.begin);
        run_team(threads, [&](int rank) {
            chunks.each([&](int64_t i) { worker(rank).chunk(phase, phase.chunks.begin + i); });
            if (workers[rank]) workers[rank]->finish_phase();
        });
    }
}

}  // namespace tgraph
