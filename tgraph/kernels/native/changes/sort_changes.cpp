// A batch of changes, sorted: a stable radix sort (csr/radix.hpp) of one number for each.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/bindings.hpp"
#include "changes/change.hpp"
#include "csr/radix.hpp"

namespace tgraph {
namespace {

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
            Record record;
            record.key = change_of(row, column, there);
            if constexpr (Record::numbered) record.id = static_cast<typename Record::Id>(i);
            visit(record);
        }
        return valid;
    }
};

// Bits 1 to 31 for the columns and 32 to 62 for the rows, as far as the largest of each needs them. Tables of a small
// batch are small: to clear and to sum up a larger one takes longer than a pass more.
template <class Id>
std::vector<Digit> digits_of(const Batch<Id>& batch) {
    const auto bits = [&](const Id* ids) {
        const auto greater = [](int64_t a, int64_t b) { return std::max(a, b); };
        const int64_t most = reduce(batch.size, int64_t{0}, [=](int64_t i) { return int64_t{ids[i]}; }, greater);
        return std::min(bits_below(most + 1), 31);
    };
    const int widest = batch.size < 1 << 13 ? 8 : 11;
    std::vector<Digit> digits = split_into_digits(1, 1 + bits(batch.columns), widest);
    for (const Digit& digit : split_into_digits(32, 32 + bits(batch.rows), widest)) digits.push_back(digit);
    return digits;
}

// Copies the sorted records, of each pair only the last where `last` says so. Returns how many.
template <class Record>
int64_t unpack(const Record* sorted, int64_t size, bool last, Change* changes, int32_t* items) {
    const int parts = part_count(size);
    const auto stays = [=](int64_t i) {
        return !last || i + 1 == size || pair_of(sorted[i].key) != pair_of(sorted[i + 1].key);
    };
    std::vector<int64_t> start(parts + 1);
    for_each_part(parts, [&](int part) {
        const Range range = part_of(size, part, parts);
        int64_t count = 0;
        for (int64_t i = range.begin; i < range.end; ++i) count += stays(i);
        start[part + 1] = count;
    });
    for (int part = 0; part < parts; ++part) start[part + 1] += start[part];
    for_each_part(parts, [&](int part) {
        const Range range = part_of(size, part, parts);
        int64_t to = start[part];
        for (int64_t i = range.begin; i < range.end; ++i) {
            if (!stays(i)) continue;
            changes[to] = sorted[i].key;
            if constexpr (Record::numbered) items[to] = sorted[i].id;
            ++to;
        }
    });
    return start[parts];
}

template <class Record, class Id>
int64_t sort_records(const Batch<Id>& batch, bool last, Change* changes, int32_t* items) {
    Scratch<Record> sorted(batch.size);
    if (!radix_sort<Record>(batch, batch.size, RecordSink<Record>{sorted.data()}, digits_of(batch))) return -1;
    return unpack(sorted.data(), batch.size, last, changes, items);
}

// Returns how many changes there are, -1 where an id is none. items : the place of each in the batch, or None.
template <class Id>
int64_t sort_changes(In<Id> rows, In<Id> columns, bool there, bool last, Out<Change> changes, Out<int32_t> items) {
    const Batch<Id> batch{rows.data(), columns.data(), static_cast<int64_t>(rows.shape(0)), there};
    if (batch.size == 0) return 0;
    if (items.is_valid())
        return sort_records<Record<int64_t, int32_t>>(batch, last, changes.data(), items.data());
    return sort_records<Record<int64_t, NoId>>(batch, last, changes.data(), nullptr);
}

template <class Id>
void bind(nb::module_& module) {
    using nb::arg;
    module.def("sort_changes", &sort_changes<Id>, arg("rows").noconvert(), arg("columns").noconvert(), arg("there"),
               arg("last"), arg("changes").noconvert(), arg("items").noconvert().none(),
               nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace

void bind_sort_changes(nb::module_& module) {
    bind<int32_t>(module);
    bind<int64_t>(module);
}

}  // namespace tgraph
