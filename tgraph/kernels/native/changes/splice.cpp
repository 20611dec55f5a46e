// Sorted changes applied to a CSR: each is located among the arcs once, and then each tensor of the arcs is copied with
// what the changes put in and leave out, in one pass.
#include <algorithm>
#include <cstdint>
#include <cstring>
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

// A CSR, of which rows that it lacks are empty.
struct Rows {
    const int64_t* offset;
    const int32_t* neighbors;
    int64_t count, num_arcs;

    int64_t begin(int64_t row) const { return row <= count ? offset[row] : num_arcs; }
};

// The first place in [begin, end) whose neighbor is not below `column`, by walking there: the arcs are copied anyway,
// and no access waits for the one before. A line of memory takes one comparison, the last one a comparison of all.
inline int64_t search(const Rows& rows, int64_t begin, int64_t end, int32_t column) {
    constexpr int64_t line = 16;
    const int32_t* const neighbors = rows.neighbors;
    while (begin + line <= end && neighbors[begin + line - 1] < column) begin += line;
    const int64_t left = end - begin;
    int32_t below = 0;
    if (begin + line <= rows.num_arcs) {
        for (int32_t i = 0; i < line; ++i) below += (neighbors[begin + i] < column) & (i < left);
    } else {
        for (int64_t i = 0; i < left; ++i) below += neighbors[begin + i] < column;
    }
    return begin + below;
}

// Returns by how many arcs the rows of these changes grow.
int64_t locate(const Change* changes, Range range, const Rows& rows, Parallel parallel, const Located& located) {
    constexpr int64_t ahead = 16;  // changes: as many rows wait for memory at a time
    int64_t row = -1, at = 0, end = 0, growth = 0;
    for (int64_t i = range.begin; i < range.end; ++i) {
        fetch(rows.offset + std::min(row_of(changes[std::min(i + 2 * ahead, range.end - 1)]), rows.count));
        fetch(rows.neighbors + rows.begin(row_of(changes[std::min(i + ahead, range.end - 1)])));
        const Change change = changes[i];
        located.skip[i] = 0;
        if (i == range.begin || pair_of(changes[i - 1]) != pair_of(change)) {
            if (row_of(change) != row) row = row_of(change), at = rows.begin(row), end = rows.begin(row + 1);
            const auto column = static_cast<int32_t>(column_of(change));
            const int64_t first = at = search(rows, at, end, column);
            while (at < end && rows.neighbors[at] == column) ++at;
            if (parallel != Parallel::keep || !inserts(change)) located.skip[i] = static_cast<int32_t>(at - first);
        }
        located.place[i] = at - located.skip[i];
        growth += inserts(change) - located.skip[i];
    }
    return growth;
}

// Writes the offsets of the changed graph, [rows + 1], and `located`. Returns its number of arcs.
int64_t locate_changes(In<int64_t> offset, In<int32_t> neighbors, In<Change> changes, int rule, Out<int64_t> changed,
                       Out<int64_t> place, Out<int32_t> skip, Out<int64_t> target) {
    const Change* all = changes.data();
    const auto size = static_cast<int64_t>(changes.shape(0)), rows = static_cast<int64_t>(changed.shape(0)) - 1;
    const Located located{place.data(), skip.data(), target.data()};
    const Rows old{offset.data(), neighbors.data(), static_cast<int64_t>(offset.shape(0)) - 1,
                   static_cast<int64_t>(neighbors.shape(0))};
    const int parts = part_count(size + rows);
    std::vector<int64_t> cut(parts + 1), growth(parts + 1);
    for (int part = 1; part <= parts; ++part) {
        int64_t& i = cut[part] = part == parts ? size : part_of(size, part, parts).begin;
        while (i > 0 && i < size && row_of(all[i]) == row_of(all[i - 1])) ++i;
    }
    for_each_part(parts, [&](int part) {
        const Range range{cut[part], cut[part + 1]};
        growth[part + 1] = locate(all, range, old, static_cast<Parallel>(rule), located);
    });
    for (int part = 0; part < parts; ++part) growth[part + 1] += growth[part];
    // A part goes from behind the first row of its changes to that of the next part's. The rows first hold by how many
    // arcs each grows.
    int64_t* const out = changed.data();
    out[0] = 0;
    const auto first_row = [&](int part) {
        return part == 0 ? 0 : part == parts || cut[part] == size ? rows : row_of(all[cut[part]]);
    };
    for_each_part(parts, [&](int part) {
        const int64_t first = first_row(part), last = first_row(part + 1);
        std::fill(out + first + 1, out + last + 1, int64_t{0});
        int64_t moved = growth[part];
        for (int64_t i = cut[part]; i < cut[part + 1]; ++i) {
            const int64_t grown = inserts(all[i]) - located.skip[i];
            located.target[i] = located.place[i] + moved;
            moved += grown;
            out[row_of(all[i]) + 1] += grown;
        }
        moved = growth[part];
        for (int64_t row = first; row < last; ++row) out[row + 1] = old.begin(row + 1) + (moved += out[row + 1]);
    });
    return out[rows];
}

// So many a thread copies at a time.
constexpr int64_t arcs_per_chunk = 1 << 16;

// Copies `count` items, and where there is room for them some more: most stretches between two changes are shorter than
// a call of memcpy takes.
template <class Item>
inline void copy_stretch(const Item* from, int64_t count, int64_t room, Item* out) {
    constexpr int64_t step = 64 / sizeof(Item);
    if (count > 8 * step || count + step > room) {
        std::copy_n(from, count, out);
        return;
    }
    for (int64_t i = 0; i < count; i += step) std::memcpy(out + i, from + i, step * sizeof(Item));
}

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
            const int64_t first = source - (next - to), stop = std::min(next, end);
            copy_stretch(from + first, stop - to, std::min(end - to, m - first), out + to);
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
    switch (bytes_of(out.dtype())) {
        case 1: return splice_of<uint8_t>(base, items, changes, located, out);
        case 2: return splice_of<uint16_t>(base, items, changes, located, out);
        case 4: return splice_of<uint32_t>(base, items, changes, located, out);
        default: return splice_of<uint64_t>(base, items, changes, located, out);
    }
}

}  // namespace

void bind_splice(Module& module) {
    module.def("locate_changes", &locate_changes, "offset, neighbors, changes, rule, changed, place, skip, target");
    module.def("splice", &splice, "base, items?, changes, place, skip, target, out");
}

}  // namespace tgraph
