// Products of sparse matrices over a semiring by rows (Gustavson, "Two fast algorithms for sparse matrices", 1978):
// row i of the product reduces the rows of B that row i of A names. A symbolic pass counts the entries of each row, a
// numeric pass writes them. Columns that occur are marked in a bitmap, from which they come out sorted; long rows of B
// are bitmaps too, so that most marks of a skewed matrix are set 64 at a time. Short rows are sorted by insertion.
#pragma once

#include <bit>

#include "algebra/sparse.hpp"

namespace tgraph {

TGRAPH_MULTIVERSION inline void join_words(uint64_t* into, const uint64_t* from, int64_t words) {
    for (int64_t i = 0; i < words; ++i) into[i] |= from[i];
}

// The columns of a row of the product. The memory of a thread: bitmaps [columns] of zeros.
class Columns {
public:
    explicit Columns(int64_t num_columns) : words_(words_for(num_columns)), bits_(words_), touched_(words_ + 1) {
        std::fill_n(bits_.data(), words_, uint64_t{0});
    }

    void mark_row(const Pattern& rows, const LongRows& long_rows, int64_t row) {
        if (const uint64_t* bits = long_rows[row]) {
            is_dense_ = true;
            return join_words(bits_.data(), bits, words_);
        }
        uint64_t* bits = bits_.data();
        int64_t count = num_touched_;
        for (int64_t i = rows.offset[row]; i < rows.offset[row + 1]; ++i) {
            const int32_t column = rows.columns[i], word = column >> 6;
            touched_.data()[count] = word;
            count += bits[word] == 0;
            bits[word] |= uint64_t{1} << (column & 63);
        }
        num_touched_ = std::min(count, words_);
    }

    bool has(int64_t column) const { return has_bit(bits_.data(), column); }

    // Calls visit(word number, its bits) for the words with marks, ascending, and clears them.
    template <class Visit>
    void drain(const Visit& visit) {
        uint64_t* bits = bits_.data();
        if (is_dense_ || num_touched_ * 16 > words_) {
            for (int64_t word = 0; word < words_; ++word)
                if (bits[word]) visit(word, std::exchange(bits[word], 0));
        } else {
            std::sort(touched_.data(), touched_.data() + num_touched_);
            for (int64_t i = 0; i < num_touched_; ++i)
                visit(touched_.data()[i], std::exchange(bits[touched_.data()[i]], 0));
        }
        is_dense_ = false;
        num_touched_ = 0;
    }

private:
    int64_t words_, num_touched_ = 0;
    bool is_dense_ = false;
    Scratch<uint64_t> bits_;
    Scratch<int32_t> touched_;
};

// Which entries of a product are wanted: those of the mask or, with `complement`, the others; all without a mask.
struct Mask : Pattern {
    bool complement;

    bool keeps_listed() const { return exists() && !complement; }
};

// Bitmap of a row of the mask, of a thread.
class MaskRow {
public:
    MaskRow(const Mask& mask, int64_t num_columns) : mask_(mask), bits_(mask.exists() ? words_for(num_columns) : 0) {
        if (mask.exists()) std::fill_n(bits_.data(), words_for(num_columns), uint64_t{0});
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
    bool keeps(int64_t column) const { return !mask_.exists() || lists(column) != mask_.complement; }
    uint64_t kept(int64_t word, uint64_t bits) const {
        return !mask_.exists() ? bits : bits & (mask_.complement ? ~bits_.data()[word] : bits_.data()[word]);
    }

private:
    const Mask& mask_;
    Scratch<uint64_t> bits_;
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
    RowChunks chunks() const { return {before_.data(), num_rows_, 1 << 15}; }

private:
    Scratch<int64_t> before_;
    int64_t num_rows_;
};

inline constexpr int64_t few_terms = 48;

// A row of few terms: its columns, sorted by insertion, and their reduced values.
template <class T>
struct ShortRow {
    int32_t columns[few_terms];
    T values[few_terms];
    int64_t size = 0;

    template <class Reduce>
    void add(int32_t column, T value) {
        int64_t at = size;
        while (at && columns[at - 1] > column) --at;
        if (at && columns[at - 1] == column) {
            values[at - 1] = Reduce::apply(values[at - 1], value);
            return;
        }
        for (int64_t i = size++; i > at; --i) columns[i] = columns[i - 1], values[i] = values[i - 1];
        columns[at] = column;
        values[at] = value;
    }
};

// Symbolic pass: offset[row + 1] is the number of entries of each row.
void count_entries(const Pattern& a, const Pattern& b, const Mask& mask, int64_t num_columns, int64_t* offset);

// Numeric pass of a thread.
template <class T, class Reduce>
class RowProduct {
public:
    RowProduct(const SparseMatrix<T>& a, const SparseMatrix<T>& b, const LongRows& long_rows, const Mask& mask,
               int64_t num_columns, Edge edge)
        : a_(a), b_(b), long_rows_(long_rows), mask_(mask), wanted_(mask, num_columns), found_(num_columns),
          sums_(num_columns), edge_(edge) {
        std::fill_n(sums_.data(), num_columns, identity);
    }

    // Calls write(column, value) for the entries of the row, ascending.
    template <class Write>
    void multiply(int64_t row, int64_t terms, const Write& write) {
        wanted_.mark(row);
        if (terms <= few_terms)
            multiply_short(row, write);
        else if (mask_.keeps_listed())
            multiply_listed(row, write);
        else
            multiply_long(row, write);
        wanted_.clear(row);
    }

private:
    static constexpr T identity = identity_of<T, Reduce>();
    static constexpr int64_t block = 256;

    const SparseMatrix<T>&a_, &b_;
    const LongRows& long_rows_;
    const Mask& mask_;
    MaskRow wanted_;
    Columns found_;
    Scratch<T> sums_;
    const Edge edge_;
    T sent_[block];

    // Calls take(columns, values or null, constant, count) for the terms of an entry of A, some at a time.
    template <class Take>
    TGRAPH_INLINE void each_term(int64_t entry, const Take& take) {
        const int64_t row = a_.columns[entry], begin = b_.offset[row], end = b_.offset[row + 1];
        const T a = a_.value(entry);
        if (!b_.values) return take(b_.columns + begin, nullptr, term(edge_, T{1}, a), end - begin);
        if (edge_ == Edge::copy) return take(b_.columns + begin, b_.values + begin, T{}, end - begin);
        for (int64_t i = begin; i < end; i += block) {
            const int64_t count = std::min(block, end - i);
            with_edge(edge_, [&](auto operation) {
                for (int64_t j = 0; j < count; ++j) sent_[j] = decltype(operation)::apply(b_.values[i + j], a);
            });
            take(b_.columns + i, sent_, T{}, count);
        }
    }

    template <class Write>
    void multiply_short(int64_t row, const Write& write) {
        ShortRow<T> found;
        for (int64_t entry = a_.offset[row]; entry < a_.offset[row + 1]; ++entry)
            each_term(entry, [&](const int32_t* columns, const T* values, T constant, int64_t count) {
                for (int64_t j = 0; j < count; ++j)
                    found.template add<Reduce>(columns[j], values ? values[j] : constant);
            });
        for (int64_t i = 0; i < found.size; ++i)
            if (wanted_.keeps(found.columns[i])) write(found.columns[i], found.values[i]);
    }

    template <class Write>
    void multiply_long(int64_t row, const Write& write) {
        T* sums = sums_.data();
        for (int64_t entry = a_.offset[row]; entry < a_.offset[row + 1]; ++entry) {
            found_.mark_row(b_, long_rows_, a_.columns[entry]);
            each_term(entry, [&](const int32_t* columns, const T* values, T constant, int64_t count) {
                if (values)
                    for (int64_t j = 0; j < count; ++j) reduce_into(sums[columns[j]], values[j]);
                else
                    for (int64_t j = 0; j < count; ++j) reduce_into(sums[columns[j]], constant);
            });
        }
        found_.drain([&](int64_t word, uint64_t bits) {
            const uint64_t kept = wanted_.kept(word, bits);
            for (; bits; bits &= bits - 1) {
                const int64_t column = 64 * word + std::countr_zero(bits);
                if (kept >> (column & 63) & 1) write(static_cast<int32_t>(column), sums[column]);
                sums[column] = identity;
            }
        });
    }

    template <class Write>
    void multiply_listed(int64_t row, const Write& write) {
        T* sums = sums_.data();
        if (mask_.length(row) == 0) return;
        for (int64_t entry = a_.offset[row]; entry < a_.offset[row + 1]; ++entry) {
            found_.mark_row(b_, long_rows_, a_.columns[entry]);
            each_term(entry, [&](const int32_t* columns, const T* values, T constant, int64_t count) {
                for (int64_t j = 0; j < count; ++j)
                    if (wanted_.lists(columns[j])) reduce_into(sums[columns[j]], values ? values[j] : constant);
            });
        }
        found_.drain([&](int64_t word, uint64_t bits) {
            for (uint64_t kept = wanted_.kept(word, bits); kept; kept &= kept - 1) {
                const int64_t column = 64 * word + std::countr_zero(kept);
                write(static_cast<int32_t>(column), sums[column]);
                sums[column] = identity;
            }
        });
    }

    TGRAPH_INLINE static void reduce_into(T& sum, T value) { sum = Reduce::apply(sum, value); }
};

}  // namespace tgraph
