// Some rows of a CSR with the changes of several runs, which costs what they are long, and a search of each row in each
// run.
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/bindings.hpp"
#include "base/memory.hpp"
#include "changes/change.hpp"
#include "threads/parallel.hpp"

namespace tgraph {
namespace {

constexpr int together = 8;  // rows that are searched at a time, so that they wait for memory at the same time

// Writes to first[i] the place of the first change of row rows[i] or a later one.
void search_rows(const Change* changes, int64_t size, const int64_t* rows, int count, int64_t* first) {
    const Change* found[together];
    std::fill_n(found, count, changes);
    for (int64_t left = size; left > 1; left -= left / 2)
        for (int i = 0; i < count; ++i) {
            found[i] += (found[i][left / 2 - 1] < rows[i] << 32) * (left / 2);
            fetch(found[i] + (left - left / 2) / 2);
        }
    for (int i = 0; i < count; ++i) first[i] = found[i] - changes + (size > 0 && *found[i] < rows[i] << 32);
}

// Where in each run the changes of each row lie: [first, last), a row of these tables for each run. Returns how many
// there are.
int64_t find_rows(const std::vector<In<Change>>& runs, In<int64_t> rows, Out<int64_t> first, Out<int64_t> last) {
    const auto count = static_cast<int64_t>(rows.shape(0));
    int64_t total = 0;
    for (std::size_t run = 0; run < runs.size(); ++run) {
        const Change* changes = runs[run].data();
        const auto size = static_cast<int64_t>(runs[run].shape(0));
        for (int64_t i = 0; i < count; i += together) {
            int64_t *begin = first.data() + run * count + i, *end = last.data() + run * count + i;
            const int some = static_cast<int>(std::min<int64_t>(together, count - i));
            search_rows(changes, size, rows.data() + i, some, begin);
            for (int j = 0; j < some; ++j) {
                for (end[j] = begin[j]; end[j] < size && row_of(changes[end[j]]) == rows.data()[i + j];) ++end[j];
                total += end[j] - begin[j];
            }
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

template <class Number>
void take(In<void> base, const std::vector<In<void>>& runs, const std::vector<Source>& sources, Out<void> out) {
    auto* to = static_cast<Number*>(out.data());
    for (const Source& source : sources)
        *to++ = static_cast<const Number*>(source.run ? runs[source.run - 1].data() : base.data())[source.at];
}

void take_column(In<void> base, const std::vector<In<void>>& runs, const std::vector<Source>& sources,
                 Out<void> out) {
    switch (out.dtype().bits) {
        case 8: return take<uint8_t>(base, runs, sources, out);
        case 16: return take<uint16_t>(base, runs, sources, out);
        case 32: return take<uint32_t>(base, runs, sources, out);
        default: return take<uint64_t>(base, runs, sources, out);
    }
}

// Writes the offsets [rows + 1], the neighbors and the columns of arc data, as far as the arcs go, and returns how many
// these are. first, last : of `find_rows`. base : the columns of the CSR; data : those of the runs, column by column.
int64_t read_rows(In<int64_t> offset, In<int32_t> neighbors, const std::vector<In<void>>& base,
                  const std::vector<In<Change>>& runs, const std::vector<std::vector<In<void>>>& data,
                  In<int64_t> rows, int rule, In<int64_t> first, In<int64_t> last, Out<int64_t> offset_out,
                  Out<int32_t> neighbors_out, const std::vector<Out<void>>& data_out) {
    const auto old_rows = static_cast<int64_t>(offset.shape(0)) - 1;
    const std::size_t count = rows.shape(0);
    std::vector<Item> changes;
    std::vector<Source> sources;
    int64_t size = 0;
    offset_out.data()[0] = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const int64_t row = rows.data()[i];
        const Range arcs = row < old_rows ? Range{offset.data()[row], offset.data()[row + 1]} : Range{0, 0};
        changes.clear();
        for (std::size_t run = 0; run < runs.size(); ++run)
            for (int64_t at = first.data()[run * count + i]; at < last.data()[run * count + i]; ++at)
                changes.push_back({runs[run].data()[at], {static_cast<int32_t>(run) + 1, at}});
        std::stable_sort(changes.begin(), changes.end(), [](const Item& one, const Item& other) {
            return pair_of(one.change) < pair_of(other.change);
        });
        merge_row(neighbors.data(), arcs, changes, static_cast<Parallel>(rule), [&](int64_t column, Source source) {
            neighbors_out.data()[size++] = static_cast<int32_t>(column);
            if (!data_out.empty()) sources.push_back(source);
        });
        offset_out.data()[i + 1] = size;
    }
    for (std::size_t column = 0; column < data_out.size(); ++column)
        take_column(base[column], data[column], sources, data_out[column]);
    return size;
}

// The arcs of the rows of a CSR, missing ones empty.
int64_t count_arcs(In<int64_t> offset, In<int64_t> rows) {
    const auto old_rows = static_cast<int64_t>(offset.shape(0)) - 1;
    int64_t total = 0;
    for (std::size_t i = 0; i < rows.shape(0); ++i)
        if (const int64_t row = rows.data()[i]; row < old_rows) total += offset.data()[row + 1] - offset.data()[row];
    return total;
}

}  // namespace

void bind_read_rows(nb::module_& module) {
    using nb::arg;
    module.def("find_rows", &find_rows, arg("runs"), arg("rows").noconvert(), arg("first").noconvert(),
               arg("last").noconvert(), nb::call_guard<nb::gil_scoped_release>());
    module.def("count_arcs", &count_arcs, arg("offset").noconvert(), arg("rows").noconvert());
    module.def("read_rows", &read_rows, arg("offset").noconvert(), arg("neighbors").noconvert(), arg("base"),
               arg("runs"), arg("data"), arg("rows").noconvert(), arg("rule"), arg("first").noconvert(),
               arg("last").noconvert(), arg("offset_out").noconvert(), arg("neighbors_out").noconvert(),
               arg("data_out"), nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace tgraph
