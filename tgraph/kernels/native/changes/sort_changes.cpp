// Changes, sorted: a batch of arcs, or runs one behind the other, by a stable radix sort (csr/radix.hpp). Of each pair
// the changes then lie in the order of time, and what others have undone is left out.
#include <algorithm>
#include <cstdint>
#include <vector>

#include <nanobind/stl/pair.h>

#include "base/bindings.hpp"
#include "changes/change.hpp"
#include "csr/radix.hpp"

namespace tgraph {
namespace {

template <class Record>
Record record_of(Change change, int64_t item) {
    Record record;
    record.key = change;
    if constexpr (Record::numbered) record.id = static_cast<typename Record::Id>(item);
    return record;
}

// Arcs that are all inserted, or all deleted.
template <class Id>
struct Batch {
    const Id *rows, *columns;
    int64_t size;
    bool there;

    template <class Record, class Visit>
    bool each(Range range, Visit visit) const {
        bool valid = true;
        constexpr uint64_t limit = 0x7fffffff;  // unsigned, so that one comparison rejects negatives
        for (int64_t i = range.begin; i < range.end; ++i) {
            const int64_t row = rows[i], column = columns[i];
            valid &= (static_cast<uint64_t>(row) < limit) & (static_cast<uint64_t>(column) < limit);
            visit(record_of<Record>(change_of(row, column, there), i));
        }
        return valid;
    }

    Change bits(int64_t i) const { return change_of(rows[i], columns[i], there); }

    int64_t largest_vertex() const {
        return reduce(size, int64_t{-1}, [this](int64_t i) { return int64_t{std::max(rows[i], columns[i])}; }, larger);
    }
};

// Runs, oldest first.
struct Runs {
    const Change* changes;
    int64_t size;

    template <class Record, class Visit>
    bool each(Range range, Visit visit) const {
        for (int64_t i = range.begin; i < range.end; ++i) visit(record_of<Record>(changes[i], i));
        return true;
    }

    Change bits(int64_t i) const { return changes[i]; }
};

// Bits 1 to 31 for the columns and 32 to 62 for the rows, as far as any of them is set. Tables of few changes are
// small: to clear and to sum up a larger one takes longer than a pass more.
template <class Source>
std::vector<Digit> digits_of(const Source& source) {
    const Change set = reduce(source.size, Change{0}, [&](int64_t i) { return source.bits(i); }, std::bit_or<>());
    const int widest = source.size < 1 << 13 ? 8 : 11;
    const auto bits = [](int64_t ids) { return std::min<int>(std::bit_width(static_cast<uint64_t>(ids)), 31); };
    std::vector<Digit> digits = split_into_digits(1, 1 + bits(column_of(set)), widest);
    for (const Digit& digit : split_into_digits(32, 32 + bits(set >> 32), widest)) digits.push_back(digit);
    return digits;
}

// Calls emit(place) for the changes of one pair [first, end), in the order of time, that still say something: the last
// deletion, and the arcs inserted after it, of which the rule `last` leaves the last one, and that says it all.
template <class Record, class Emit>
void resolve(const Record* sorted, int64_t first, int64_t end, Parallel parallel, const Emit& emit) {
    if (parallel == Parallel::last) return emit(end - 1);
    int64_t begin = end - 1;
    while (begin > first && inserts(sorted[begin].key)) --begin;
    while (begin < end) emit(begin++);
}

template <class Record>
int64_t unpack(const Record* sorted, int64_t size, Parallel parallel, Change* changes, int32_t* items) {
    const int parts = part_count(size);
    const auto new_pair = [=](int64_t i) { return i == 0 || pair_of(sorted[i].key) != pair_of(sorted[i - 1].key); };
    const auto begin_of = [&](int part) {
        int64_t begin = part_of(size, part, parts).begin;
        while (begin < size && !new_pair(begin)) ++begin;
        return begin;
    };
    const auto each = [&](int part, const auto& emit) {
        const int64_t end = part + 1 == parts ? size : begin_of(part + 1);
        for (int64_t i = begin_of(part); i < end;) {
            int64_t until = i + 1;
            while (until < end && !new_pair(until)) ++until;
            resolve(sorted, i, until, parallel, emit);
            i = until;
        }
    };
    std::vector<int64_t> start(parts + 1);
    if (parts > 1)
        for_each_part(parts, [&](int part) {
            int64_t count = 0;
            each(part, [&](int64_t) { ++count; });
            start[part + 1] = count;
        });
    for (int part = 0; part < parts; ++part) start[part + 1] += start[part];
    for_each_part(parts, [&](int part) {
        int64_t to = start[part];
        each(part, [&](int64_t place) {
            changes[to] = sorted[place].key;
            if constexpr (Record::numbered) items[to] = sorted[place].id;
            ++to;
        });
        if (parts == 1) start[parts] = to;
    });
    return start[parts];
}

template <class Record, class Source>
int64_t sort_records(const Source& source, Parallel parallel, Change* changes, int32_t* items) {
    Scratch<Record> sorted(source.size);
    if (!radix_sort<Record>(source, source.size, RecordSink<Record>{sorted.data()}, digits_of(source))) return -1;
    return unpack(sorted.data(), source.size, parallel, changes, items);
}

// Returns how many changes are left, -1 where an id is no vertex. items : the place of each in the source, or None.
template <class Source>
int64_t sort_source(const Source& source, int parallel, Out<Change> changes, Out<int32_t> items) {
    if (source.size == 0) return 0;
    const auto rule = static_cast<Parallel>(parallel);
    if (items.is_valid())
        return sort_records<Record<int64_t, int32_t>>(source, rule, changes.data(), items.data());
    return sort_records<Record<int64_t, NoId>>(source, rule, changes.data(), nullptr);
}

// Returns the number of changes, -1 where an id is no vertex, and the largest vertex.
template <class Id>
std::pair<int64_t, int64_t> sort_changes(In<Id> rows, In<Id> columns, bool there, int parallel, Out<Change> changes,
                                         Out<int32_t> items) {
    const Batch<Id> batch{rows.data(), columns.data(), static_cast<int64_t>(rows.shape(0)), there};
    return {sort_source(batch, parallel, changes, items), batch.largest_vertex()};
}

int64_t merge_changes(In<Change> runs, int parallel, Out<Change> changes, Out<int32_t> items) {
    return sort_source(Runs{runs.data(), static_cast<int64_t>(runs.shape(0))}, parallel, changes, items);
}

template <class Id>
void bind(nb::module_& module) {
    using nb::arg;
    module.def("sort_changes", &sort_changes<Id>, arg("rows").noconvert(), arg("columns").noconvert(), arg("there"),
               arg("parallel"), arg("changes").noconvert(), arg("items").noconvert().none(),
               nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace

void bind_sort_changes(nb::module_& module) {
    using nb::arg;
    bind<int32_t>(module);
    bind<int64_t>(module);
    module.def("merge_changes", &merge_changes, arg("runs").noconvert(), arg("parallel"), arg("changes").noconvert(),
               arg("items").noconvert().none(), nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace tgraph
