// Decompression of rows whose entries are vertices and virtual rows to lists of neighbors: lengths in a first pass,
// which also validates the entries, then the rows in parallel.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "base/bindings.hpp"
#include "base/memory.hpp"
#include "base/rows.hpp"

namespace tgraph {
namespace {

// Rows 0..R-1 are virtual and refer to earlier rows only; entry n + i stands for virtual row i.
template <class Entry>
class Unfolding {
public:
    Unfolding(const int64_t* offset, int64_t num_stored, const Entry* entries, int64_t num_entries,
              int64_t num_vertices, int64_t num_virtual, int64_t num_arcs)
        : offset_(offset), entries_(entries), num_rows_(num_stored - num_virtual), num_entries_(num_entries),
          num_vertices_(num_vertices), num_virtual_(num_virtual), num_arcs_(num_arcs), length_(num_virtual),
          depth_(num_virtual) {}

    // Computes the offsets of the rows, [rows + 1]. Returns false if an entry is invalid, or if the number of arcs is
    // not num_arcs; `write` may only be called if it is true.
    bool measure(int64_t* begin) {
        for (int64_t row = 0; row < num_virtual_; ++row)
            if (!measure_row(row, row, length_[row], depth_[row])) return false;
        const int parts = part_count(num_entries_ + num_rows_);
        std::atomic<bool> fits{true};
        begin[0] = 0;
        for_each_part(parts, [&](int part) {
            const Range rows = part_of(num_rows_, part, parts);
            uint8_t depth;
            for (int64_t row = rows.begin; row < rows.end; ++row)
                if (!measure_row(num_virtual_ + row, num_virtual_, begin[row + 1], depth)) fits = false;
        });
        if (!fits) return false;
        for (int64_t row = 0; row < num_rows_; ++row) begin[row + 1] = capped(begin[row] + begin[row + 1]);
        return begin[num_rows_] == num_arcs_;
    }

    void write(const int64_t* begin, Entry* neighbors) const {
        advise_huge_pages(neighbors, num_arcs_ * sizeof(Entry));
        const int parts = part_count(num_arcs_ + num_rows_);
        for_each_part(parts, [&](int part) {
            Writer writer{*this, neighbors, std::vector<int64_t>(num_virtual_, -1)};
            each_row(begin, num_rows_, part_of(num_arcs_, part, parts), [&](int64_t row, Range arcs) {
                if (arcs.begin == begin[row]) writer.row(num_virtual_ + row, neighbors + arcs.begin);
            });
        });
    }

private:
    static constexpr int deepest = std::numeric_limits<uint8_t>::max();

    // Limits lengths to avoid overflow; anything above num_arcs is invalid.
    int64_t capped(int64_t length) const { return std::min(length, num_arcs_ + 1); }

    bool measure_row(int64_t row, int64_t before, int64_t& length, uint8_t& depth) const {
        const int64_t end = offset_[row + 1];
        int64_t total = 0;
        int deep = 0;
        if (offset_[row] < 0 || offset_[row] > end || end > num_entries_) return false;
        for (int64_t i = offset_[row]; i < end; ++i) {
            const int64_t entry = entries_[i];
            if (entry < 0 || entry >= num_vertices_ + before) return false;
            if (entry < num_vertices_) {
                ++total;
            } else {
                total = capped(total + length_[entry - num_vertices_]);
                deep = std::max<int>(deep, depth_[entry - num_vertices_] + 1);
            }
        }
        length = capped(total);
        depth = static_cast<uint8_t>(std::min(deep, deepest));
        return deep < deepest;
    }

    // Decodes a virtual row once, and copies it from there when it recurs.
    struct Writer {
        const Unfolding& of;
        const Entry* neighbors;
        std::vector<int64_t> written;  // position of each decoded virtual row, -1 for none

        Entry* row(int64_t row, Entry* to) {
            for (int64_t i = of.offset_[row]; i < of.offset_[row + 1]; ++i) {
                const Entry entry = of.entries_[i];
                if (entry < of.num_vertices_) {
                    *to++ = entry;
                    continue;
                }
                int64_t& place = written[entry - of.num_vertices_];
                if (place >= 0) {
                    to = std::copy_n(neighbors + place, of.length_[entry - of.num_vertices_], to);
                } else {
                    const int64_t here = to - neighbors;
                    to = this->row(entry - of.num_vertices_, to);
                    place = here;
                }
            }
            return to;
        }
    };

    const int64_t* offset_;
    const Entry* entries_;
    int64_t num_rows_, num_entries_, num_vertices_, num_virtual_, num_arcs_;
    std::vector<int64_t> length_;
    std::vector<uint8_t> depth_;
};

template <class Entry>
bool unfold(In<int64_t> offset, In<Entry> entries, int64_t num_vertices, int64_t num_virtual, Out<int64_t> begin,
            Out<Entry> neighbors) {
    const auto num_stored = static_cast<int64_t>(offset.shape(0)) - 1;
    if (num_virtual < 0 || num_stored < num_virtual || num_vertices < 0)
        throw std::invalid_argument("offset: expected [virtual rows + rows + 1]");
    if (static_cast<int64_t>(begin.shape(0)) != num_stored - num_virtual + 1)
        throw std::invalid_argument("begin: expected [rows + 1]");
    Unfolding<Entry> rows(offset.data(), num_stored, entries.data(), static_cast<int64_t>(entries.shape(0)),
                          num_vertices, num_virtual, static_cast<int64_t>(neighbors.shape(0)));
    if (!rows.measure(begin.data())) return false;
    rows.write(begin.data(), neighbors.data());
    return true;
}

template <class Entry>
void define_unfold(Module& module) {
    module.def("unfold", &unfold<Entry>, "offset, entries, num_vertices, num_virtual, begin, neighbors");
}

}  // namespace

void bind_unfold(Module& module) {
    define_unfold<int32_t>(module);
    define_unfold<int64_t>(module);
}

}  // namespace tgraph
