// Two sorted runs of changes as one. The longer one is cut into parts between pairs, which are merged at once.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/bindings.hpp"
#include "changes/change.hpp"
#include "threads/parallel.hpp"

namespace tgraph {
namespace {

struct Run {
    const Change* changes;
    int64_t size;

    // The first change at or after place i that begins a pair.
    int64_t begin_of_pair(int64_t i) const {
        while (i > 0 && i < size && pair_of(changes[i]) == pair_of(changes[i - 1])) ++i;
        return i;
    }
    int64_t first_of(int64_t pair) const {
        return std::lower_bound(changes, changes + size, pair << 1) - changes;
    }
};

// Calls emit(change, first, second) for every change that is left of older[i, older_end) and newer[j, newer_end):
// `first` is its place, that of a newer one behind all older ones; `second` of a newer arc to add to it, or -1.
template <class Emit>
void merge(const Run& older, const Run& newer, Range olds, Range news, Parallel parallel, const Emit& emit) {
    int64_t i = olds.begin, j = news.begin;
    const auto old = [&] { emit(older.changes[i], i, int64_t{-1}), ++i; };
    const auto fresh = [&] { emit(newer.changes[j], older.size + j, int64_t{-1}), ++j; };
    while (i < olds.end && j < news.end) {
        const int64_t pair = pair_of(older.changes[i]), other = pair_of(newer.changes[j]);
        if (pair < other) {
            old();
        } else if (pair > other) {
            fresh();
        } else {
            const int64_t end = end_of_pair(older.changes, i, olds.end), until = end_of_pair(newer.changes, j, news.end);
            if (parallel == Parallel::last || !inserts(newer.changes[j])) {
                i = end;
            } else if (parallel == Parallel::sum) {
                if (!inserts(older.changes[i])) old();
                if (i < end) {
                    emit(older.changes[i], i, older.size + j);
                    i = end, j = until;
                }
            }
            while (i < end) old();
            while (j < until) fresh();
        }
    }
    while (i < olds.end) old();
    while (j < news.end) fresh();
}

// Returns how many changes there are. seconds : written for the rule `sum` only.
int64_t merge_changes(In<Change> older, In<Change> newer, int rule, Out<Change> changes, Out<int64_t> firsts,
                      Out<int64_t> seconds) {
    const Run old{older.data(), static_cast<int64_t>(older.shape(0))};
    const Run fresh{newer.data(), static_cast<int64_t>(newer.shape(0))};
    const auto parallel = static_cast<Parallel>(rule);
    const bool by_older = old.size >= fresh.size;
    const Run &longer = by_older ? old : fresh, &shorter = by_older ? fresh : old;
    const int parts = part_count(old.size + fresh.size);
    std::vector<int64_t> cut(parts + 1), other(parts + 1), start(parts + 1);
    for (int part = 1; part <= parts; ++part) {
        cut[part] = part == parts ? longer.size : longer.begin_of_pair(part_of(longer.size, part, parts).begin);
        other[part] = cut[part] == longer.size ? shorter.size : shorter.first_of(pair_of(longer.changes[cut[part]]));
    }
    const auto each = [&](int part, const auto& emit) {
        const Range mine{cut[part], cut[part + 1]}, theirs{other[part], other[part + 1]};
        merge(old, fresh, by_older ? mine : theirs, by_older ? theirs : mine, parallel, emit);
    };
    for_each_part(parts, [&](int part) {
        int64_t count = 0;
        each(part, [&](Change, int64_t, int64_t) { ++count; });
        start[part + 1] = count;
    });
    for (int part = 0; part < parts; ++part) start[part + 1] += start[part];
    for_each_part(parts, [&](int part) {
        int64_t to = start[part];
        each(part, [&](Change change, int64_t first, int64_t second) {
            changes.data()[to] = change;
            if (firsts.is_valid()) firsts.data()[to] = first;
            if (seconds.is_valid()) seconds.data()[to] = second;
            ++to;
        });
    });
    return start[parts];
}

}  // namespace

void bind_merge_changes(nb::module_& module) {
    using nb::arg;
    module.def("merge_changes", &merge_changes, arg("older").noconvert(), arg("newer").noconvert(), arg("rule"),
               arg("changes").noconvert(), arg("firsts").noconvert().none(), arg("seconds").noconvert().none(),
               nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace tgraph
