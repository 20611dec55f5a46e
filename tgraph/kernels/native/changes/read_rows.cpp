// Some rows of a CSR with the changes of several runs, which costs what they are long, and a search of each row in each
// run.
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/classes.hpp"
#include "base/buffer.hpp"
#include "base/memory.hpp"
#include "changes/change.hpp"
#include "threads/parallel.hpp"

namespace tgraph {
namespace {

constexpr int together = 32;  // searches at a time, so that they wait for memory at the same time

// The first of some sorted changes whose row is not below `row`, searched for step by step.
struct Search {
    const Change* found;
    int64_t left;
    Change wanted;

    Search(const Change* changes, int64_t size, int64_t row) : found(changes), left(size), wanted(row << 32) {}

    void step() {
        const int64_t half = left / 2;
        if (half) found += (found[half - 1] < wanted) * half;
        left -= half;
        fetch(found + left / 2);
    }

    const Change* end() { return found + (left > 0 && *found < wanted); }
};

// Sorted changes and their columns of arc data.
struct ReadableRun {
    In<Change> changes;
    std::vector<In<void>> columns;

    int64_t size() const { return static_cast<int64_t>(changes.shape(0)); }
};

using Runs = std::vector<const ReadableRun*>;

// Where in each run the changes of each row lie: [first, last), a row of these tables for each run. Returns how many
// there are.
int64_t find_rows(const Runs& runs, const int64_t* rows, int64_t count, int64_t* first, int64_t* last) {
    const int64_t searches = static_cast<int64_t>(runs.size()) * count;
    std::vector<Search> some;
    int64_t total = 0;
    for (int64_t begin = 0; begin < searches; begin += together) {
        int64_t longest = 0;
        some.clear();
        for (int64_t i = begin; i < std::min(begin + together, searches); ++i) {
            const ReadableRun& run = *runs[i / count];
            some.emplace_back(run.changes.data(), run.size(), rows[i % count]);
            longest = std::max(longest, run.size());
        }
        for (; longest > 1; longest -= longest / 2)
            for (Search& search : some) search.step();
        for (std::size_t j = 0; j < some.size(); ++j) {
            const ReadableRun& run = *runs[(begin + j) / count];
            const Change *const changes = run.changes.data(), *const end = changes + run.size();
            const Change *const place = some[j].end(), *until = place;
            while (until < end && row_of(*until) == rows[(begin + j) % count]) ++until;
            first[begin + j] = place - changes, last[begin + j] = until - changes;
            total += until - place;
        }
    }
    return total;
}

// An arc of the result: where its data are, in the CSR (run 0) or in run - 1.
struct Source {
    int32_t run;
    int64_t at;
};

struct Item {
    Change change;
    Source source;
};

// Calls emit(column, source) for the arcs of a row with its changes, which are in the order of columns, then of time.
template <class Emit>
void merge_row(const int32_t* neighbors, Range arcs, const std::vector<Item>& changes, Parallel parallel,
               const Emit& emit) {
    int64_t at = arcs.begin;
    for (std::size_t i = 0; i < changes.size();) {
        const int64_t column = column_of(changes[i].change);
        for (; at < arcs.end && neighbors[at] < column; ++at) emit(neighbors[at], Source{0, at});
        std::size_t until = i, stays = i;  // the changes of this pair, and the first that still says something
        bool deleted = parallel == Parallel::last;
        for (; until < changes.size() && column_of(changes[until].change) == column; ++until) {
            const bool there = inserts(changes[until].change);
            deleted |= !there;
            if (!there || parallel == Parallel::last) stays = until + !there;
        }
        for (; at < arcs.end && neighbors[at] == column; ++at)
            if (!deleted) emit(column, Source{0, at});
        for (; stays < until; ++stays) emit(column, changes[stays].source);
        i = until;
    }
    for (; at < arcs.end; ++at) emit(neighbors[at], Source{0, at});
}

// Copies a column of arc data, which `base` and the runs have.
template <class Number>
void take(In<void> base, const Runs& runs, std::size_t column, const std::vector<Source>& sources, void* out) {
    auto* to = static_cast<Number*>(out);
    for (const auto& [run, at] : sources) {
        const In<void>& from = run ? runs[run - 1]->columns[column] : base;
        *to++ = static_cast<const Number*>(from.data())[at];
    }
}

void take_column(In<void> base, const Runs& runs, std::size_t column, const std::vector<Source>& sources, void* out) {
    switch (bytes_of(base.dtype())) {
        case 1: return take<uint8_t>(base, runs, column, sources, out);
        case 2: return take<uint16_t>(base, runs, column, sources, out);
        case 4: return take<uint32_t>(base, runs, column, sources, out);
        default: return take<uint64_t>(base, runs, column, sources, out);
    }
}

// The rows that were read.
struct Found {
    Buffer<int64_t> offset;
    Buffer<int32_t> neighbors;
    std::vector<Buffer<uint8_t>> columns;
};

// Some rows of a CSR with its runs. Each is looked up by `find`, and then read by `merge`.
class Reading {
public:
    Reading(In<int64_t> offset, In<int32_t> neighbors, const Runs& runs, In<int64_t> rows)
        : offset_(offset), neighbors_(neighbors), runs_(runs), rows_(rows.data()),
          count_(static_cast<int64_t>(rows.shape(0))) {}

    // Returns how many arcs and changes the rows have.
    int64_t find() {
        first_.resize(runs_.size() * count_), last_.resize(runs_.size() * count_);
        total_ = find_rows(runs_, rows_, count_, first_.data(), last_.data());
        for (int64_t i = 0; i < count_; ++i) {
            const Range arcs = row_of_base(rows_[i]);
            total_ += arcs.end - arcs.begin;
        }
        return total_;
    }

    // base : the columns of arc data of the CSR.
    void merge(Parallel parallel, const std::vector<In<void>>& base, Found& found) const {
        const bool has_data = !base.empty();
        std::vector<Item> changes;
        std::vector<Source> sources;
        found.offset.reserve_more(count_ + 1), found.neighbors.reserve_more(total_);
        if (has_data) sources.reserve(total_);
        found.offset.push(0);
        for (int64_t i = 0; i < count_; ++i) {
            changes_of(i, changes);
            merge_row(neighbors_.data(), row_of_base(rows_[i]), changes, parallel, [&](int64_t column, Source source) {
                found.neighbors.push(static_cast<int32_t>(column));
                if (has_data) sources.push_back(source);
            });
            found.offset.push(found.neighbors.size());
        }
        for (std::size_t column = 0; column < base.size(); ++column) {
            Buffer<uint8_t>& out = found.columns.emplace_back();
            const auto bytes = static_cast<int64_t>(sources.size()) * bytes_of(base[column].dtype());
            out.reserve_more(bytes), out.resize(bytes);
            take_column(base[column], runs_, column, sources, out.data());
        }
    }

private:
    In<int64_t> offset_;
    In<int32_t> neighbors_;
    const Runs& runs_;
    const int64_t* rows_;
    int64_t count_, total_ = 0;
    std::vector<int64_t> first_, last_;  // where in each run the changes of each row lie

    // Those that the CSR lacks are empty.
    Range row_of_base(int64_t row) const {
        if (row + 1 >= static_cast<int64_t>(offset_.shape(0))) return {0, 0};
        return {offset_.data()[row], offset_.data()[row + 1]};
    }

    // The changes of the i-th row, in the order of columns, then of time.
    void changes_of(int64_t i, std::vector<Item>& changes) const {
        changes.clear();
        for (std::size_t run = 0; run < runs_.size(); ++run)
            for (int64_t at = first_[run * count_ + i]; at < last_[run * count_ + i]; ++at)
                changes.push_back({runs_[run]->changes.data()[at], {static_cast<int32_t>(run) + 1, at}});
        std::stable_sort(changes.begin(), changes.end(), [](const Item& one, const Item& other) {
            return pair_of(one.change) < pair_of(other.change);
        });
    }
};

// Reading less than this takes microseconds, and keeps the lock of the interpreter: to let it go and to get it back
// beside a thread that computes would take up to the interpreter's switch interval, milliseconds.
constexpr int64_t few_rows = 1 << 8, few_arcs = 1 << 14;

// Returns (offset, neighbors, columns of arc data ...), in memory of their own. base : the columns of the CSR.
nb::tuple read_rows(In<int64_t> offset, In<int32_t> neighbors, const std::vector<In<void>>& base, const Runs& runs,
                    In<int64_t> rows, int rule) {
    Found found;
    {
        std::optional<nb::gil_scoped_release> released;
        if (rows.shape(0) > few_rows) released.emplace();
        Reading reading(offset, neighbors, runs, rows);
        if (reading.find() > few_arcs && !released) released.emplace();
        reading.merge(static_cast<Parallel>(rule), base, found);
    }
    nb::list made;
    made.append(found.offset.to_numpy());
    made.append(found.neighbors.to_numpy());
    for (std::size_t column = 0; column < base.size(); ++column)
        made.append(found.columns[column].to_numpy(base[column].dtype()));
    return nb::tuple(made);
}

bool are_vertices(In<int64_t> vertices, int64_t num_vertices) {
    const auto limit = static_cast<uint64_t>(num_vertices);  // unsigned, so that one comparison rejects negatives
    const auto below = [=](int64_t vertex) { return static_cast<uint64_t>(vertex) < limit; };
    return std::all_of(vertices.data(), vertices.data() + vertices.shape(0), below);
}

}  // namespace

void bind_read_rows(Module& module) {
    bind_class<ReadableRun>(module, "ReadableRun", "The tensors of a run, kept alive by the caller.")
        .def(
            "__init__",
            [](ReadableRun* run, In<Change> changes, std::vector<In<void>> columns) {
                new (run) ReadableRun{changes, std::move(columns)};
            },
            nb::arg("changes"), nb::arg("columns"));
    python_module(module).def("read_rows", &read_rows, nb::arg("offset"), nb::arg("neighbors"), nb::arg("base"),
               nb::arg("runs"), nb::arg("rows"), nb::arg("rule"));
    module.def("are_vertices", &are_vertices, "vertices, num_vertices", Gil::held);
}

}  // namespace tgraph
