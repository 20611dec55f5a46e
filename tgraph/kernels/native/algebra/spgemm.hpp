// Products of sparse matrices over a semiring by rows (Gustavson, "Two fast algorithms for sparse matrices", 1978):
// row i of the product reduces the rows of B that row i of A names. Columns that occur are marked in a bitmap, from
// which they come out sorted, some 64 at a time. Short rows are sorted by insertion; under a mask only what it lists is
// reduced. Rows are made in one pass and laid in order; where there are far more terms than entries to expect, the
// entries are counted before, so that memory is asked for no more than these.
#pragma once

#include <cstring>

#include "algebra/columns.hpp"
#include "algebra/sparse.hpp"

namespace tgraph {

// Which entries of a product are wanted: those of the mask or, with `complement`, the others; all without a mask.
struct Mask : Pattern {
    bool complement;

    bool keeps_listed() const { return exists() && !complement; }
};

// Bitmap of a row of the mask, of a thread.
class MaskRow {
public:
    MaskRow(const Mask& mask, int64_t num_columns)
        : mask_(mask), bits_(mask.exists() ? words_for(num_columns) : 0),
          found_(mask.keeps_listed() ? words_for(num_columns) : 0) {
        if (mask.exists()) std::fill_n(bits_.data(), words_for(num_columns), uint64_t{0});
        if (mask.keeps_listed()) std::fill_n(found_.data(), words_for(num_columns), uint64_t{0});
    }

    void mark(int64_t row) {
        if (mask_.exists())
            for (int64_t i = mask_.offset[row]; i < mask_.offset[row + 1]; ++i) set_bit(bits_.data(), mask_.columns[i]);
    }
    void clear(int64_t row) {
        if (mask_.exists())
            for (int64_t i = mask_.offset[row]; i < mask_.offset[row + 1]; ++i) bits_.data()[mask_.columns[i] >> 6] = 0;
    }
    bool lists(int64_t column) const { return has_bit(bits_.data(), column); }
    void find(int64_t column) { set_bit(found_.data(), column); }
    // Whether the column was found, and has not been taken before.
    bool take_found(int64_t column) {
        const bool found = has_bit(found_.data(), column);
        if (found) found_.data()[column >> 6] ^= uint64_t{1} << (column & 63);
        return found;
    }
    bool keeps(int64_t column) const { return !mask_.exists() || lists(column) != mask_.complement; }
    uint64_t kept(int64_t word, uint64_t bits) const {
        return !mask_.exists() ? bits : bits & (mask_.complement ? ~bits_.data()[word] : bits_.data()[word]);
    }

private:
    const Mask& mask_;
    Scratch<uint64_t> bits_, found_;
};

// The number of terms of each row of the product, as a running sum [rows + 1].
class Terms {
public:
    Terms(const Pattern& a, const Pattern& b) : before_(a.num_rows + 1), num_rows_(a.num_rows) {
        int64_t* before = before_.data();
        before[0] = 0;
        const RowChunks chunks{a.offset, a.num_rows};
        for_each_chunk(chunks.size(), part_count(a.num_entries()), [&](int64_t chunk) {
            const Range rows = chunks[chunk];
            for (int64_t row = rows.begin; row < rows.end; ++row) {
                int64_t count = 0;
                for (int64_t i = a.offset[row]; i < a.offset[row + 1]; ++i) count += b.length(a.columns[i]);
                before[row + 1] = count;
            }
        });
        scan(num_rows_, before + 1, int64_t{0}, [&](int64_t row) { return before[row + 1]; });
    }

    int64_t of(int64_t row) const { return before_.data()[row + 1] - before_.data()[row]; }
    int64_t total() const { return before_.data()[num_rows_]; }
    int threads() const { return part_count(total()); }
    RowChunks chunks() const { return {before_.data(), num_rows_, 1 << 14}; }

private:
    Scratch<int64_t> before_;
    int64_t num_rows_;
};

inline constexpr int64_t few_terms = 16;

// A row of few terms. They are sorted by counting for each how many have smaller columns, eight at a time.
template <class T>
class ShortRow {
public:
    TGRAPH_INLINE void add(int32_t column, T value) {
        columns_[size_] = column;
        values_[size_++] = value;
    }

    // Writes the columns, ascending, and the reduction of the terms of each; returns how many.
    TGRAPH_INLINE int64_t write(const auto& semiring, int32_t* columns, T* values) const {
        int32_t smaller[few_terms];
        for (int64_t i = 0; i < size_; i += 8) {
            Lanes mine, counts{};
            std::memcpy(&mine, columns_ + i, sizeof mine);
            for (int64_t j = 0; j < size_; ++j) counts -= mine > columns_[j];
            std::memcpy(smaller + i, &counts, sizeof counts);
        }
        uint32_t places = 0;
        int64_t at[few_terms];
        T sums[few_terms];
        for (int64_t i = 0; i < size_; ++i) {
            const int32_t place = smaller[i];
            const bool is_taken = places >> place & 1;
            sums[place] = is_taken ? semiring.reduce(sums[place], values_[i]) : values_[i];
            at[place] = i;
            places |= uint32_t{1} << place;
        }
        int64_t next = 0;
        for (; places; places &= places - 1) {
            const int place = std::countr_zero(places);
            columns[next] = columns_[at[place]];
            values[next++] = sums[place];
        }
        return next;
    }

private:
    using Lanes = int32_t __attribute__((vector_size(32)));

    int32_t columns_[few_terms]{};
    int64_t size_ = 0;
    T values_[few_terms];
};

// The largest number of entries that a row of the product may have.
inline int64_t most_entries(const Terms& terms, const Mask& mask, int64_t num_columns, int64_t row) {
    const int64_t most = std::min(terms.of(row), num_columns);
    return mask.keeps_listed() ? std::min(most, mask.length(row)) : most;
}

// The rows of a product, by a thread.
template <class T, class Semiring>
class RowProduct {
public:
    // valued : whether values are wanted, not the columns alone.
    RowProduct(const SparseMatrix<T>& a, const SparseMatrix<T>& b, const RowSets& sets, const Mask& mask,
               int64_t num_columns, Semiring semiring, bool valued)
        : a_(a), b_(b), sets_(sets), mask_(mask), wanted_(mask, num_columns), found_(num_columns), sums_(num_columns),
          semiring_(semiring), valued_(valued) {
        std::fill_n(sums_.data(), num_columns, semiring.identity);
    }

    // Writes the entries of the row, ascending; returns how many.
    TGRAPH_INLINE int64_t multiply(int64_t row, int64_t terms, int32_t* columns, T* values) {
        if (terms == 0) return 0;
        if (mask_.keeps_listed()) return multiply_listed(row, columns, values);
        if (terms <= few_terms && !mask_.exists()) return multiply_short(row, columns, values);
        return multiply_long(row, columns, values);
    }

    // How many entries the row has.
    int64_t count(int64_t row) {
        int64_t count = 0;
        wanted_.mark(row);
        mark_columns(row);
        found_.drain([&](int64_t word, uint64_t bits) { count += std::popcount(wanted_.kept(word, bits)); });
        wanted_.clear(row);
        return count;
    }

private:
    static constexpr int64_t ahead = 4, search_cost = 8;

    const SparseMatrix<T>&a_, &b_;
    const RowSets& sets_;
    const Mask& mask_;
    MaskRow wanted_;
    Columns found_;
    Scratch<T> sums_;
    const Semiring semiring_;
    const bool valued_;

    // Calls put(column, term) for the entries begin .. end of B, times an entry of A.
    template <class Put>
    TGRAPH_INLINE void each_term(int64_t entry, int64_t begin, int64_t end, const Put& put) const {
        const T a = a_.value(entry);
        const int32_t* columns = b_.columns;
        if (const T* values = b_.values) {
            columns += begin;
            semiring_.each_term(values + begin, a, end - begin, [&](int64_t i, T term) { put(columns[i], term); });
        } else {
            const T constant = semiring_.term(T{1}, a);
            for (int64_t i = begin; i < end; ++i) put(columns[i], constant);
        }
    }

    // Calls visit(entry of A, begin, end) for the rows of B that a row of A names; those to come are fetched.
    template <class Visit>
    TGRAPH_INLINE void each_entry(int64_t row, const Visit& visit) const {
        const int64_t last = a_.offset[row + 1], all = a_.offset[a_.num_rows];
        for (int64_t entry = a_.offset[row]; entry < last; ++entry) {
            if (entry + 3 * ahead < all) {
                fetch(b_.offset + a_.columns[entry + 3 * ahead]);
                const int64_t next = b_.offset[a_.columns[entry + ahead]];
                fetch(b_.columns + next);
                if (b_.values) fetch(b_.values + next);
            }
            const int64_t other = a_.columns[entry];
            visit(entry, b_.offset[other], b_.offset[other + 1]);
        }
    }

    void mark_columns(int64_t row) {
        for (int64_t entry = a_.offset[row]; entry < a_.offset[row + 1]; ++entry)
            found_.mark_row(sets_, a_.columns[entry]);
    }

    TGRAPH_INLINE int64_t multiply_short(int64_t row, int32_t* columns, T* values) {
        ShortRow<T> found;
        each_entry(row, [&](int64_t entry, int64_t begin, int64_t end) {
            each_term(entry, begin, end, [&](int32_t column, T value) { found.add(column, value); });
        });
        return found.write(semiring_, columns, values);
    }

    int64_t multiply_long(int64_t row, int32_t* columns, T* values) {
        T* sums = sums_.data();
        wanted_.mark(row);
        mark_columns(row);
        if (valued_)
            each_entry(row, [&](int64_t entry, int64_t begin, int64_t end) {
                each_term(entry, begin, end,
                                     [&, sums](int32_t column, T value) { reduce_into(sums[column], value); });
            });
        int64_t next = 0;
        found_.drain([&](int64_t word, uint64_t bits) {
            const uint64_t kept = wanted_.kept(word, bits);
            for (uint64_t left = kept; left; left &= left - 1) {
                const int64_t column = 64 * word + std::countr_zero(left);
                columns[next] = static_cast<int32_t>(column);
                values[next++] = std::exchange(sums[column], semiring_.identity);
            }
            for (uint64_t left = bits & ~kept; left; left &= left - 1)
                sums[64 * word + std::countr_zero(left)] = semiring_.identity;
        });
        wanted_.clear(row);
        return next;
    }

    // Only what the mask lists: a lookup for each term or, where the row of B is far longer than that of the mask, a
    // search for each entry of the mask.
    int64_t multiply_listed(int64_t row, int32_t* columns, T* values) {
        const int64_t size = mask_.length(row);
        if (size == 0) return 0;
        const int32_t* listed = mask_.columns + mask_.offset[row];
        T* sums = sums_.data();
        wanted_.mark(row);
        const auto add = [&](int32_t column, T value) {
            wanted_.find(column);
            reduce_into(sums[column], value);
        };
        each_entry(row, [&](int64_t entry, int64_t begin, int64_t end) {
            if (end - begin <= search_cost * size) {
                each_term(entry, begin, end, [&](int32_t column, T value) {
                    if (wanted_.lists(column)) add(column, value);
                });
                return;
            }
            int64_t at = begin;
            for (int64_t i = 0; i < size && at < end; ++i) {
                if (i && listed[i] == listed[i - 1]) continue;
                at = first_from(b_.columns, at, end, listed[i]);
                int64_t past = at;
                while (past < end && b_.columns[past] == listed[i]) ++past;
                each_term(entry, at, past, add);
                at = past;
            }
        });
        int64_t next = 0;
        for (int64_t i = 0; i < size; ++i) {
            if (!wanted_.take_found(listed[i])) continue;
            columns[next] = listed[i];
            values[next++] = std::exchange(sums[listed[i]], semiring_.identity);
        }
        wanted_.clear(row);
        return next;
    }

    TGRAPH_INLINE void reduce_into(T& sum, T value) const { sum = semiring_.reduce(sum, value); }
};

}  // namespace tgraph
