// Changes, sorted: a batch of arcs by a stable radix sort (csr/radix.hpp), and runs that are merged by many small ones.
// Of each pair the changes then lie in the order of time, and what others have undone is left out.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "base/classes.hpp"
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
struct Batch {
    const int64_t *rows, *columns;
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
        return reduce(size, int64_t{-1}, [this](int64_t i) { return std::max(rows[i], columns[i]); }, larger);
    }
};

// Bits 1 to 31 for the columns and 32 to 62 for the rows, as far as any of them is set. Tables of few changes are
// small: to clear and to sum up a larger one takes longer than a pass more.
std::vector<Digit> digits_of(const Batch& source) {
    const Change set = tgraph::reduce(source.size, Change{0}, [&](int64_t i) { return source.bits(i); },
                                      std::bit_or<>());
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

template <class Record>
int64_t sort_records(const Batch& batch, Parallel parallel, Change* changes, int32_t* items) {
    Scratch<Record> sorted(batch.size);
    if (!radix_sort<Record>(batch, batch.size, RecordSink<Record>{sorted.data()}, digits_of(batch))) return -1;
    return unpack(sorted.data(), batch.size, parallel, changes, items);
}

// ---- Runs, each sorted, are cut at the same pairs into pieces that the second-level cache holds, sorted one by one.

using Runs = std::vector<In<Change>>;

constexpr int64_t changes_per_piece = 1 << 13, changes_per_sample = 1 << 9;

// The first pair of each piece but the first, by samples of all runs.
std::vector<Change> borders_of(const Runs& runs, int64_t total) {
    std::vector<Change> samples, borders;
    for (const auto& run : runs)
        for (std::size_t i = 0; i < run.shape(0); i += changes_per_sample)
            samples.push_back(run.data()[i] & ~Change{1});
    std::sort(samples.begin(), samples.end());
    const int64_t pieces = total / changes_per_piece;
    for (int64_t piece = 1; piece < pieces; ++piece) borders.push_back(samples[piece * samples.size() / pieces]);
    return borders;
}

// The changes of a piece in fewer bits: the row from the first one on, the column in as many bits as any takes.
struct Packing {
    int64_t first_row;
    int width;

    Change pack(Change change) const {
        return (row_of(change) - first_row) << width | (change & ((Change{1} << width) - 1));
    }
    Change unpack(Change packed) const {
        return (first_row + (packed >> width)) << 32 | (packed & ((Change{1} << width) - 1));
    }
};

// Merges the ranges of the runs into `changes` and `items`. Returns how many changes are left.
template <class Record>
int64_t merge_piece(const Runs& runs, const std::vector<Range>& ranges, Parallel parallel, Change* changes,
                    int32_t* items) {
    int64_t size = 0, first_row = std::numeric_limits<int64_t>::max(), last_row = 0, before = 0;
    Change set = 1;
    for (std::size_t run = 0; run < runs.size(); ++run) {
        const auto [begin, end] = ranges[run];
        if (begin == end) continue;
        size += end - begin;
        first_row = std::min(first_row, row_of(runs[run].data()[begin]));
        last_row = std::max(last_row, row_of(runs[run].data()[end - 1]));
        for (int64_t i = begin; i < end; ++i) set |= runs[run].data()[i];
    }
    if (size == 0) return 0;
    const Packing packing{first_row, std::bit_width(static_cast<uint64_t>(set & 0xffffffff))};
    Scratch<Record> gathered(size), sorted(size);
    Record* to = gathered.data();
    for (std::size_t run = 0; run < runs.size(); before += runs[run++].shape(0))
        for (int64_t i = ranges[run].begin; i < ranges[run].end; ++i)
            *to++ = record_of<Record>(packing.pack(runs[run].data()[i]), before + i);
    const int bits = packing.width + std::bit_width(static_cast<uint64_t>(last_row - first_row));
    sort_in_one_part<Record>(Records<Record>{gathered.data(), size}, size, RecordSink<Record>{sorted.data()},
                             split_into_digits(1, std::max(bits, 2)));
    int64_t kept = 0;
    const Record* const all = sorted.data();
    for (int64_t first = 0, end; first < size; first = end) {
        for (end = first + 1; end < size && pair_of(all[end].key) == pair_of(all[first].key);) ++end;
        resolve(all, first, end, parallel, [&](int64_t place) {
            changes[kept] = packing.unpack(all[place].key);
            if constexpr (Record::numbered) items[kept] = all[place].id;
            ++kept;
        });
    }
    return kept;
}

template <class Record>
int64_t merge_runs(const Runs& runs, Parallel parallel, Change* changes, int32_t* items) {
    int64_t total = 0;
    for (const auto& run : runs) total += static_cast<int64_t>(run.shape(0));
    const std::vector<Change> borders = borders_of(runs, total);
    const auto pieces = static_cast<int64_t>(borders.size()) + 1;
    const auto places = [&](int64_t piece) {  // where in each run a piece begins
        std::vector<int64_t> found;
        for (const auto& run : runs) {
            const Change *begin = run.data(), *end = begin + run.shape(0);
            found.push_back(piece == 0        ? 0
                            : piece == pieces ? end - begin
                                              : std::lower_bound(begin, end, borders[piece - 1]) - begin);
        }
        return found;
    };
    std::vector<int64_t> first(pieces + 1), kept(pieces);
    for_each_chunk(pieces, part_count(total), [&](int64_t piece) {
        const std::vector<int64_t> begin = places(piece), end = places(piece + 1);
        std::vector<Range> ranges;
        for (std::size_t run = 0; run < runs.size(); ++run) {
            ranges.push_back({begin[run], end[run]});
            first[piece] += begin[run];
        }
        kept[piece] = merge_piece<Record>(runs, ranges, parallel, changes + first[piece],
                                          Record::numbered ? items + first[piece] : nullptr);
    });
    int64_t size = 0;
    for (int64_t piece = 0; piece < pieces; size += kept[piece++]) {  // closes the gaps
        if (size == first[piece]) continue;
        std::copy_n(changes + first[piece], kept[piece], changes + size);
        if constexpr (Record::numbered) std::copy_n(items + first[piece], kept[piece], items + size);
    }
    return size;
}

// Writes the rows of the arcs that runs insert, [offset], of each row one run after the other. Returns false where one
// deletes. Each block of rows is counted and then filled, with the offset behind a row as its cursor.
bool inserted_rows(const Runs& runs, Out<int64_t> offset, Out<int32_t> neighbors) {
    constexpr int64_t rows_per_block = 1 << 12;
    const auto rows = static_cast<int64_t>(offset.shape(0)) - 1, size = static_cast<int64_t>(neighbors.shape(0));
    int64_t* const end_of = offset.data() + 1;
    offset.data()[0] = 0;
    std::atomic<bool> deletes{false};
    for_each_chunk((rows + rows_per_block - 1) / rows_per_block, part_count(rows + size), [&](int64_t block) {
        const int64_t first = block * rows_per_block, end = std::min(first + rows_per_block, rows);
        const auto each = [&](const auto& visit) {
            for (const auto& run : runs) {
                const Change *begin = run.data(), *last = begin + run.shape(0);
                const Change* at = std::lower_bound(begin, last, change_of(first, 0, false));
                visit(at - begin, at, std::lower_bound(at, last, change_of(end, 0, false)));
            }
        };
        std::fill(end_of + first, end_of + end, int64_t{0});
        int64_t before = 0;
        each([&](int64_t skipped, const Change* at, const Change* last) {
            before += skipped;
            Change all = 1;
            for (; at < last; ++at) ++end_of[row_of(*at)], all &= *at;
            if (!inserts(all)) deletes.store(true, std::memory_order_relaxed);
        });
        for (int64_t row = first; row < end; ++row) before += std::exchange(end_of[row], before);
        each([&](int64_t, const Change* at, const Change* last) {
            for (; at < last; ++at) neighbors.data()[end_of[row_of(*at)]++] = static_cast<int32_t>(column_of(*at));
        });
    });
    return !deletes.load(std::memory_order_relaxed);
}

// Sorting fewer takes some 0.1 ms, and keeps the lock of the interpreter: to get it back beside another thread may take
// its switch interval, milliseconds.
constexpr int64_t few_changes = 1 << 11;

// Returns the number of changes, -1 where an id is no vertex, and the largest vertex.
std::pair<int64_t, int64_t> sort_changes(In<int64_t> rows, In<int64_t> columns, bool there, int parallel,
                                         Out<Change> changes, Out<int32_t> items) {
    const Batch batch{rows.data(), columns.data(), static_cast<int64_t>(rows.shape(0)), there};
    const auto rule = static_cast<Parallel>(parallel);
    if (batch.size == 0) return {0, -1};
    std::optional<nb::gil_scoped_release> released;
    if (batch.size > few_changes) released.emplace();
    const int64_t count =
        items.is_valid() ? sort_records<Record<int64_t, int32_t>>(batch, rule, changes.data(), items.data())
                         : sort_records<Record<int64_t, NoId>>(batch, rule, changes.data(), nullptr);
    return {count, batch.largest_vertex()};
}

// Returns how many changes are left. items : the place of each in the runs, one behind the other, or None.
int64_t merge_changes(const Runs& runs, int parallel, Out<Change> changes, Out<int32_t> items) {
    const auto rule = static_cast<Parallel>(parallel);
    return items.is_valid() ? merge_runs<Record<int64_t, int32_t>>(runs, rule, changes.data(), items.data())
                            : merge_runs<Record<int64_t, NoId>>(runs, rule, changes.data(), nullptr);
}

}  // namespace

void bind_sort_changes(Module& module) {
    module.def("sort_changes", &sort_changes, "rows, columns, there, parallel, changes, items?", Gil::held);
    python_module(module).def("merge_changes", &merge_changes, nb::arg("runs"), nb::arg("parallel"), nb::arg("changes"),
                              nb::arg("items").none(), nb::call_guard<nb::gil_scoped_release>());
    python_module(module).def("inserted_rows", &inserted_rows, nb::arg("runs"), nb::arg("offset"), nb::arg("neighbors"),
                              nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace tgraph
