// Sorting arcs into CSR: a parallel least-significant-digit radix sort (Knuth, TAOCP 3, section 5.2.5; per-thread
// histograms after Zagha and Blelloch, "Radix sort for vector multiprocessors", 1991).
//
// An arc is packed into one integer key: source in the high bits, target in the low bits. Stable counting passes over
// the digits of the key, lowest first, sort by (source, target, input order). The first pass reads the caller's arrays
// and the last one writes the CSR arrays, so that a digit costs one read and one write of the packed records.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/memory.hpp"
#include "threads/parallel.hpp"
#include "base/rows.hpp"
#include "base/scan.hpp"

namespace tgraph {

__extension__ typedef unsigned __int128 uint128_t;

struct NoId {};

#pragma pack(push, 1)  // 12 bytes instead of 16: the passes are bound by memory bandwidth
template <class KeyType, class IdType>
struct Record {
    using Key = KeyType;
    using Id = IdType;
    static constexpr bool numbered = !std::is_empty_v<Id>;

    Key key;
    [[no_unique_address]] Id id;  // position in the input, if the permutation is requested

    static Record pack(int64_t src, int64_t dst, int64_t position, int bits) {
        Record record;
        record.key = static_cast<Key>(src) << bits | static_cast<Key>(dst);
        if constexpr (numbered) record.id = static_cast<Id>(position);
        return record;
    }
};
#pragma pack(pop)

// A group of bits of the key.
struct Digit {
    int shift, width;

    std::size_t values() const { return std::size_t{1} << width; }
    template <class Key>
    std::size_t of(Key key) const {
        return static_cast<std::size_t>(key >> shift) & (values() - 1);
    }
};

// Bits of the ids 0 .. count - 1.
inline int bits_below(int64_t count) { return count > 1 ? std::bit_width(static_cast<uint64_t>(count - 1)) : 0; }

// Cuts bits [first, last) of the key into as few digits of at most `widest` bits as possible, of nearly equal width:
// the second-level cache and the TLB hold about 2048 write positions.
inline std::vector<Digit> split_into_digits(int first, int last, int widest = 11) {
    const int count = std::max(1, (last - first + widest - 1) / widest);
    std::vector<Digit> digits;
    for (int i = 0; i < count; ++i) {
        const int begin = first + (last - first) * i / count, end = first + (last - first) * (i + 1) / count;
        digits.push_back({begin, end - begin});
    }
    return digits;
}

// ---- Sources of a pass. `each` visits the records of a range of items, and returns whether all ids are vertices.

// Integers of 32 or 64 bits, known at run time only: those of graphs that wide records are for.
struct AnyIntegers {
    const int32_t* narrow;
    const int64_t* wide;  // where `narrow` is null

    int64_t operator[](int64_t i) const { return narrow ? narrow[i] : wide[i]; }
};

// An edge list: one arc per edge or, with both_ways, also the reverse arc, except of self-loops.
template <class Ids>
struct EdgeList {
    Ids src, dst;
    int64_t size, num_vertices;
    int bits;
    bool both_ways;

    template <class Record, class Visit>
    bool each(Range range, Visit visit) const {
        return both_ways ? each_arc<Record, true>(range, visit) : each_arc<Record, false>(range, visit);
    }

    bool is_sorted() const {
        return !both_ways && holds_for_all(size - 1, [this](int64_t i) {
            return src[i] < src[i + 1] || (src[i] == src[i + 1] && dst[i] <= dst[i + 1]);
        });
    }

private:
    template <class Record, bool reverses, class Visit>
    bool each_arc(Range range, Visit visit) const {
        bool valid = true;
        const auto limit = static_cast<uint64_t>(num_vertices);  // unsigned, so that one comparison rejects negatives
        for (int64_t i = range.begin; i < range.end; ++i) {
            const int64_t u = src[i], v = dst[i];
            valid &= (static_cast<uint64_t>(u) < limit) & (static_cast<uint64_t>(v) < limit);
            visit(Record::pack(u, v, i, bits));
            if constexpr (reverses)
                if (u != v) visit(Record::pack(v, u, i, bits));
        }
        return valid;
    }
};

// The reversed arcs of a CSR structure: `num_rows` rows, neighbors in [0, num_vertices).
template <class Neighbors>
struct Reversed {
    const int64_t* offset;
    Neighbors neighbors;
    int64_t size, num_rows, num_vertices;
    int bits;

    template <class Record, class Visit>
    bool each(Range range, Visit visit) const {
        bool valid = true;
        const auto limit = static_cast<uint64_t>(num_vertices);
        each_row(offset, num_rows, range, [&](int64_t row, Range arcs) {
            for (int64_t i = arcs.begin; i < arcs.end; ++i) {
                const int64_t u = neighbors[i];
                valid &= static_cast<uint64_t>(u) < limit;
                visit(Record::pack(u, row, i, bits));
            }
        });
        return valid;
    }
};

template <class Item>
struct Records {
    const Item* data;
    int64_t size;

    template <class Record, class Visit>
    bool each(Range range, Visit visit) const {
        for (int64_t i = range.begin; i < range.end; ++i) visit(data[i]);
        return true;
    }
};

// ---- Sinks of a pass.

// Per part and value of the digit: the next position to write, and the row of the arc written last.
struct Cursor {
    int64_t next = 0, row = -1;
};

template <class Record>
struct RecordSink {
    Record* out;

    void write(Cursor& cursor, const Record& record) const { out[cursor.next++] = record; }
    void finish(const std::vector<Cursor>&) const {}
};

// Unpacks the records of the last pass. The arcs that a part writes for one value of the last digit arrive in order of
// their source, so a row ends where the source changes; the last row of a part may continue in the next part, so
// `finish` sets the offsets of these.
template <class Record, class Neighbor>
struct CsrSink {
    int64_t* offset;  // zeros on entry
    Neighbor* neighbors;
    int64_t* perm;
    int64_t num_vertices;
    int bits;

    void write(Cursor& cursor, const Record& record) const {
        enter(cursor, record);
        neighbors[cursor.next] = static_cast<Neighbor>(target(record));
        if constexpr (Record::numbered) perm[cursor.next] = static_cast<int64_t>(record.id);
        ++cursor.next;
    }

    void enter(Cursor& cursor, const Record& record) const {
        const auto row = static_cast<int64_t>(record.key >> bits);
        if (row == cursor.row) return;
        if (cursor.row >= 0) offset[cursor.row + 1] = cursor.next;
        cursor.row = row;
    }
    auto target(const Record& record) const { return record.key & ((typename Record::Key{1} << bits) - 1); }

    void finish(const std::vector<Cursor>& cursors) const {
        for (const Cursor& cursor : cursors)
            if (cursor.row >= 0) offset[cursor.row + 1] = std::max(offset[cursor.row + 1], cursor.next);
        int64_t* const ends = offset + 1;  // empty rows end where the row before them does
        scan(num_vertices, ends, offset[0], [ends](int64_t v) { return ends[v]; }, larger);
    }
};

// ---- The sort.

// Exclusive scan of the counts, by digit value and then part.
inline void start_positions(std::vector<Cursor>& cursors, std::size_t values, int parts) {
    int64_t position = 0;
    for (std::size_t value = 0; value < values; ++value)
        for (int part = 0; part < parts; ++part)
            position += std::exchange(cursors[part * values + value].next, position);
}

// One stable counting pass. Returns false, without writing, if the source has an invalid id.
template <class Record, class Source, class Sink>
bool counting_pass(const Source& source, const Sink& sink, Digit digit) {
    const int parts = part_count(source.size);
    const std::size_t values = digit.values();
    std::vector<Cursor> cursors(parts * values);
    std::vector<char> valid(parts);
    for_each_part(parts, [&](int part) {
        Cursor* mine = cursors.data() + part * values;
        valid[part] = source.template each<Record>(part_of(source.size, part, parts),
                                                   [=](const Record& record) { ++mine[digit.of(record.key)].next; });
    });
    if (std::find(valid.begin(), valid.end(), 0) != valid.end()) return false;
    start_positions(cursors, values, parts);
    for_each_part(parts, [&](int part) {
        Cursor* mine = cursors.data() + part * values;
        source.template each<Record>(part_of(source.size, part, parts), [=](const Record& record) {
            sink.write(mine[digit.of(record.key)], record);
        });
    });
    sink.finish(cursors);
    return true;
}

// The sort in one part: the values of all digits are counted in one pass over the source, and those that follow only
// write.
template <class Record, class Source, class Sink>
bool sort_in_one_part(const Source& source, int64_t count, const Sink& sink, const std::vector<Digit>& digits) {
    std::vector<std::size_t> table{0};  // where the counts of each digit begin
    for (const Digit& digit : digits) table.push_back(table.back() + digit.values());
    std::vector<uint32_t> next(table.back());
    const bool valid = source.template each<Record>({0, source.size}, [&](const Record& record) {
        for (std::size_t i = 0; i < digits.size(); ++i) ++next[table[i] + digits[i].of(record.key)];
    });
    if (!valid) return false;
    for (std::size_t i = 0; i < digits.size(); ++i)
        for (uint32_t place = 0; uint32_t& count : std::span(next).subspan(table[i], digits[i].values()))
            place += std::exchange(count, place);
    std::vector<Cursor> cursors(digits.back().values());
    for (std::size_t value = 0; value < cursors.size(); ++value)
        cursors[value].next = next[table[digits.size() - 1] + value];
    const auto finish = [&](const Record& record) { sink.write(cursors[digits.back().of(record.key)], record); };
    Scratch<Record> from, to;
    for (std::size_t i = 0; i + 1 < digits.size(); ++i) {
        if (!to) to = Scratch<Record>(count);
        const auto write = [out = to.data(), place = next.data() + table[i], digit = digits[i]](const Record& record) {
            out[place[digit.of(record.key)]++] = record;
        };
        i == 0 ? source.template each<Record>({0, source.size}, write)
               : Records<Record>{from.data(), count}.template each<Record>({0, count}, write);
        std::swap(from, to);
    }
    digits.size() == 1 ? source.template each<Record>({0, source.size}, finish)
                       : Records<Record>{from.data(), count}.template each<Record>({0, count}, finish);
    sink.finish(cursors);
    return true;
}

// Sorts the `count` records of the source by the given digits, lowest first. At most two scratch buffers, one of which
// is freed before the last pass touches the outputs.
template <class Record, class Source, class Sink>
bool radix_sort(const Source& source, int64_t count, const Sink& sink, const std::vector<Digit>& digits) {
    if (part_count(count) == 1 && count < int64_t{1} << 32)
        return sort_in_one_part<Record>(source, count, sink, digits);
    if (digits.size() == 1) return counting_pass<Record>(source, sink, digits[0]);
    Scratch<Record> from(count);
    if (!counting_pass<Record>(source, RecordSink<Record>{from.data()}, digits[0])) return false;
    {
        Scratch<Record> to;
        for (std::size_t i = 1; i + 1 < digits.size(); ++i) {
            if (!to) to = Scratch<Record>(count);
            counting_pass<Record>(Records<Record>{from.data(), count}, RecordSink<Record>{to.data()}, digits[i]);
            std::swap(from, to);
        }
    }
    return counting_pass<Record>(Records<Record>{from.data(), count}, sink, digits.back());
}

}  // namespace tgraph
