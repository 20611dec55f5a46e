// Sorted changes applied to a CSR: each is located among the arcs once, and then each tensor of the arcs is copied with
// what the changes put in and leave out, in one pass.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/bindings.hpp"
#include "base/memory.hpp"
#include "changes/change.hpp"
#include "threads/parallel.hpp"

namespace tgraph {
namespace {

struct Located {
    int64_t* place;   // the arc before which a change applies
    int32_t* skip;    // how many arcs from there it takes the place of
    int64_t* target;  // where what it inserts comes to lie
};

// The first place in [begin, end) whose neighbor is not below `column`, without branches that depend on the neighbors.
// The changes of a row follow each other closely: in a long one it is looked for close by first.
inline int64_t search(const int32_t* neighbors, int64_t begin, int64_t end, int64_t column) {
    for (int64_t step = 16; begin + step < end && neighbors[begin + step] < column; step *= 4) begin += step;
    if (begin == end) return end;
    const int32_t* found = neighbors + begin;
    for (int64_t left = end - begin; left > 1; left -= left / 2) found += (found[left / 2 - 1] < column) * (left / 2);
    return found - neighbors + (*found < column);
}

// Locates the changes [i, end) of one row, whose arcs lie in `arcs`. Returns by how many arcs the row grows.
int64_t locate_row(const Change* changes, int64_t i, int64_t end, const int32_t* neighbors, Range arcs,
                   Parallel parallel, const Located& located) {
    int64_t at = arcs.begin, growth = 0;
    while (i < end) {
        const int64_t until = end_of_pair(changes, i, end), column = column_of(changes[i]);
        at = search(neighbors, at, arcs.end, column);
        int64_t after = at;
        while (after < arcs.end && neighbors[after] == column) ++after;
        const bool replaces = parallel != Parallel::keep || !inserts(changes[i]);
        for (; i < until; ++i) {
            located.place[i] = replaces ? at : after;
            located.skip[i] = static_cast<int32_t>(replaces ? after - at : 0);
            growth += inserts(changes[i]) - located.skip[i];
            at = after;
        }
    }
    return growth;
}

constexpr int64_t ahead = 12;  // changes: as many rows wait for memory at a time

// Writes the offsets of the changed graph, [rows + 1], and `located`. Returns its number of arcs.
int64_t locate_changes(In<int64_t> offset, In<int32_t> neighbors, In<Change> changes, int rule, Out<int64_t> changed,
                       Out<int64_t> place, Out<int32_t> skip, Out<int64_t> target) {
    const Change* all = changes.data();
    const auto size = static_cast<int64_t>(changes.shape(0)), m = static_cast<int64_t>(neighbors.shape(0));
    const auto old_rows = static_cast<int64_t>(offset.shape(0)) - 1, rows = static_cast<int64_t>(changed.shape(0)) - 1;
    const Located located{place.data(), skip.data(), target.data()};
    const auto old_offset = [&](int64_t row) { return row <= old_rows ? offset.data()[row] : m; };
    const auto end_of_row = [&](int64_t i, int64_t end) {
        const int64_t row = row_of(all[i]);
        while (i < end && row_of(all[i]) == row) ++i;
        return i;
    };
    const int parts = part_count(size + rows);
    std::vector<int64_t> cut(parts + 1), growth(parts + 1);
    for (int part = 1; part <= parts; ++part) {
        const int64_t i = part_of(size, part, parts).begin;
        cut[part] = part == parts || size == 0 ? size : i == 0 ? 0 : end_of_row(i - 1, size);
    }
    for_each_part(parts, [&](int part) {
        for (int64_t i = cut[part]; i < cut[part + 1];) {
            fetch(offset.data() + std::min(row_of(all[std::min(i + 2 * ahead, size - 1)]), old_rows));
            fetch(neighbors.data() + old_offset(row_of(all[std::min(i + ahead, size - 1)])));
            const int64_t row = row_of(all[i]), end = end_of_row(i, cut[part + 1]);
            const Range arcs{old_offset(row), old_offset(row + 1)};
            growth[part + 1] += locate_row(all, i, end, neighbors.data(), arcs, static_cast<Parallel>(rule), located);
            i = end;
        }
    });
    for (int part = 0; part < parts; ++part) growth[part + 1] += growth[part];
    // A part goes from the first row of its changes to that of the next part's.
    for_each_part(parts, [&](int part) {
        const auto row_at = [&](int64_t i, int64_t end) { return i < size ? row_of(all[i]) : end; };
        int64_t moved = growth[part], i = cut[part];
        const int64_t last = part + 1 == parts ? rows : row_at(cut[part + 1], rows);
        for (int64_t row = part == 0 ? 0 : row_at(cut[part], rows); row < last; ++row) {
            changed.data()[row] = old_offset(row) + moved;
            for (; i < cut[part + 1] && row_of(all[i]) == row; ++i) {
                target.data()[i] = place.data()[i] + moved;
                moved += inserts(all[i]) - skip.data()[i];
            }
        }
    });
    return changed.data()[rows] = m + growth[parts];
}

// So many a thread copies at a time.
constexpr int64_t arcs_per_chunk = 1 << 16;

template <class Item, class Inserted>
void splice_items(const Item* from, int64_t m, int64_t count, const Change* changes, const Located& located,
                  int64_t size, const Inserted& inserted, Item* out) {
    const int64_t chunks = (size + arcs_per_chunk - 1) / arcs_per_chunk;
    for_each_chunk(chunks, part_count(size), [&](int64_t chunk) {
        int64_t to = chunk * arcs_per_chunk;
        const int64_t end = std::min(to + arcs_per_chunk, size);
        int64_t i = std::lower_bound(located.target, located.target + count, to) - located.target;
        while (to < end) {
            const int64_t next = i < count ? located.target[i] : size, source = i < count ? located.place[i] : m;
            const int64_t stop = std::min(next, end);
            std::copy(from + source - (next - to), from + source - (next - stop), out + to);
            to = stop;
            if (to == end) break;
            if (inserts(changes[i])) out[to++] = inserted(i);
            ++i;
        }
    });
}

template <class Item>
void splice_of(In<void> base, In<void> items, In<Change> changes, const Located& located, Out<void> out) {
    const auto* put = static_cast<const Item*>(items.data());
    splice_items(static_cast<const Item*>(base.data()), static_cast<int64_t>(base.shape(0)),
                 static_cast<int64_t>(changes.shape(0)), changes.data(), located, static_cast<int64_t>(out.shape(0)),
                 [=](int64_t i) { return put[i]; }, static_cast<Item*>(out.data()));
}

// Copies `base`, a number for each arc, to `out` with the changes applied: `items` are put in, or without them the
// columns of the changes.
void splice(In<void> base, In<void> items, In<Change> changes, In<int64_t> place, In<int32_t> skip,
            In<int64_t> target, Out<void> out) {
    const Located located{const_cast<int64_t*>(place.data()), const_cast<int32_t*>(skip.data()),
                          const_cast<int64_t*>(target.data())};
    if (!items.is_valid()) {
        const Change* all = changes.data();
        splice_items(static_cast<const int32_t*>(base.data()), static_cast<int64_t>(base.shape(0)),
                     static_cast<int64_t>(changes.shape(0)), all, located, static_cast<int64_t>(out.shape(0)),
                     [=](int64_t i) { return static_cast<int32_t>(column_of(all[i])); },
                     static_cast<int32_t*>(out.data()));
        return;
    }
    switch (out.dtype().bits) {
        case 8: return splice_of<uint8_t>(base, items, changes, located, out);
        case 16: return splice_of<uint16_t>(base, items, changes, located, out);
        case 32: return splice_of<uint32_t>(base, items, changes, located, out);
        default: return splice_of<uint64_t>(base, items, changes, located, out);
    }
}

}  // namespace

void bind_splice(nb::module_& module) {
    using nb::arg;
    module.def("locate_changes", &locate_changes, arg("offset").noconvert(), arg("neighbors").noconvert(),
               arg("changes").noconvert(), arg("rule"), arg("changed").noconvert(), arg("place").noconvert(),
               arg("skip").noconvert(), arg("target").noconvert(), nb::call_guard<nb::gil_scoped_release>());
    module.def("splice", &splice, arg("base").noconvert(), arg("items").noconvert().none(),
               arg("changes").noconvert(), arg("place").noconvert(), arg("skip").noconvert(),
               arg("target").noconvert(), arg("out").noconvert(), nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace tgraph
