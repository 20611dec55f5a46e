// The changes of some rows in several runs, which costs what they are many, and a search of each row in each run.
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/bindings.hpp"
#include "base/memory.hpp"
#include "changes/change.hpp"

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

// Where in each run the changes of each of the ascending rows lie: [first, last), a row of these tables for each run.
// Returns how many there are.
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

template <class Visit>
void each_found(std::size_t runs, In<int64_t> first, In<int64_t> last, const Visit& visit) {
    const std::size_t count = first.shape(0) / runs;
    for (std::size_t run = 0, place = 0; run < runs; ++run)
        for (std::size_t i = 0; i < count; ++i, ++place)
            for (int64_t at = first.data()[place]; at < last.data()[place]; ++at) visit(run, i, at);
}

// Writes the changes found, run by run, their rows numbered by their place among those that were searched.
void take_changes(const std::vector<In<Change>>& runs, In<int64_t> first, In<int64_t> last, Out<Change> out) {
    Change* to = out.data();
    each_found(runs.size(), first, last, [&](std::size_t run, std::size_t row, int64_t at) {
        const Change change = runs[run].data()[at];
        *to++ = change_of(static_cast<int64_t>(row), column_of(change), inserts(change));
    });
}

template <class Item>
void take(const std::vector<In<void>>& columns, In<int64_t> first, In<int64_t> last, Out<void> out) {
    auto* to = static_cast<Item*>(out.data());
    each_found(columns.size(), first, last, [&](std::size_t run, std::size_t, int64_t at) {
        *to++ = static_cast<const Item*>(columns[run].data())[at];
    });
}

// Writes the arc data of the changes found: a column of each run.
void take_items(const std::vector<In<void>>& columns, In<int64_t> first, In<int64_t> last, Out<void> out) {
    switch (out.dtype().bits) {
        case 8: return take<uint8_t>(columns, first, last, out);
        case 16: return take<uint16_t>(columns, first, last, out);
        case 32: return take<uint32_t>(columns, first, last, out);
        default: return take<uint64_t>(columns, first, last, out);
    }
}

}  // namespace

void bind_select_rows(nb::module_& module) {
    using nb::arg;
    module.def("find_rows", &find_rows, arg("runs"), arg("rows").noconvert(), arg("first").noconvert(),
               arg("last").noconvert(), nb::call_guard<nb::gil_scoped_release>());
    module.def("take_changes", &take_changes, arg("runs"), arg("first").noconvert(), arg("last").noconvert(),
               arg("out").noconvert(), nb::call_guard<nb::gil_scoped_release>());
    module.def("take_items", &take_items, arg("columns"), arg("first").noconvert(), arg("last").noconvert(),
               arg("out").noconvert(), nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace tgraph
