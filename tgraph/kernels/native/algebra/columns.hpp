// Sets of columns of sparse matrices as words of 64 bits: of all rows of a matrix, and of a row that is being made.
#pragma once

#include <bit>
#include <utility>

#include "algebra/sparse.hpp"

namespace tgraph {

TGRAPH_MULTIVERSION inline void join_words(uint64_t* into, const uint64_t* from, int64_t words) {
    for (int64_t i = 0; i < words; ++i) into[i] |= from[i];
}

// The rows of a matrix that are read often: long ones as bitmaps; the others, where neighbouring columns are common, as
// the words that are not zero, else as columns.
class RowSets {
public:
    RowSets() = default;  // of no rows

    // reads : how many entries will be read in all.
    RowSets(const Pattern& rows, int64_t num_columns, int64_t reads) : rows_(rows), long_rows_(rows, num_columns) {
        if (reads >= 4 * rows.num_entries()) cut_into_words();
    }

    // The bitmap of a long row, null for another.
    const uint64_t* bitmap(int64_t row) const { return long_rows_[row]; }

    // Calls visit(word number, its bits) for a row, a word perhaps several times.
    template <class Visit>
    TGRAPH_INLINE void each(int64_t row, const Visit& visit) const {
        if (offset_) {
            const int64_t last = offset_.data()[row + 1];
            for (int64_t i = offset_.data()[row]; i < last; ++i) visit(words_.data()[i], bits_.data()[i]);
        } else {
            const int32_t *next = rows_.columns + rows_.offset[row], *last = rows_.columns + rows_.offset[row + 1];
            for (; next < last; ++next) visit(*next >> 6, uint64_t{1} << (*next & 63));
        }
    }

private:
    Pattern rows_{};
    LongRows long_rows_;
    Scratch<int64_t> offset_;
    Scratch<int32_t> words_;
    Scratch<uint64_t> bits_;

    template <class Visit>
    void each_word(int64_t row, const Visit& visit) const {
        const int64_t last = rows_.offset[row + 1];
        for (int64_t i = rows_.offset[row]; i < last;) {
            const int32_t word = rows_.columns[i] >> 6;
            uint64_t bits = 0;
            for (; i < last && rows_.columns[i] >> 6 == word; ++i) bits |= uint64_t{1} << (rows_.columns[i] & 63);
            visit(word, bits);
        }
    }

    void cut_into_words() {
        Scratch<int64_t> offset(rows_.num_rows + 1);
        offset.data()[0] = 0;
        for_each_entry(rows_.num_rows, [&](int64_t row) {
            int64_t count = 0;
            each_word(row, [&](int32_t, uint64_t) { ++count; });
            offset.data()[row + 1] = count;
        });
        scan(rows_.num_rows, offset.data() + 1, int64_t{0}, [&](int64_t row) { return offset.data()[row + 1]; });
        const int64_t size = offset.data()[rows_.num_rows];
        if (2 * size > rows_.num_entries()) return;
        words_ = Scratch<int32_t>(size);
        bits_ = Scratch<uint64_t>(size);
        for_each_entry(rows_.num_rows, [&](int64_t row) {
            int64_t next = offset.data()[row];
            each_word(row, [&](int32_t word, uint64_t bits) {
                words_.data()[next] = word;
                bits_.data()[next++] = bits;
            });
        });
        offset_ = std::move(offset);
    }
};

// The columns of a row of a product, as a bitmap. Of its words that are not zero there is a bitmap, and of the words of
// that another, so that few columns of many come out sorted without a search. The memory of a thread, zeros between
// rows.
class Columns {
public:
    explicit Columns(int64_t num_columns)
        : words_(words_for(num_columns)), blocks_(words_for(words_)), groups_(words_for(blocks_)),
          bits_(words_ + blocks_ + groups_) {
        std::fill_n(bits_.data(), words_ + blocks_ + groups_, uint64_t{0});
    }

    void mark_row(const RowSets& rows, int64_t row) {
        if (const uint64_t* bits = rows.bitmap(row)) {
            is_dense_ = true;
            return join_words(bits_.data(), bits, words_);
        }
        uint64_t *bits = bits_.data(), *blocks = bits + words_, *groups = blocks + blocks_;
        rows.each(row, [=](int64_t word, uint64_t marks) {
            const uint64_t before = bits[word];
            bits[word] = before | marks;
            if (before) return;
            blocks[word >> 6] |= uint64_t{1} << (word & 63);
            groups[word >> 12] |= uint64_t{1} << (word >> 6 & 63);
        });
    }

    // Calls visit(word number, its bits) for the words with marks, ascending, and clears them.
    template <class Visit>
    TGRAPH_INLINE void drain(const Visit& visit) {
        uint64_t *bits = bits_.data(), *blocks = bits + words_, *groups = blocks + blocks_;
        if (is_dense_) {
            for (int64_t word = 0; word < words_; ++word)
                if (bits[word]) visit(word, std::exchange(bits[word], 0));
            std::fill_n(blocks, blocks_ + groups_, uint64_t{0});
            is_dense_ = false;
            return;
        }
        for (int64_t i = 0; i < groups_; ++i)
            for (uint64_t group = std::exchange(groups[i], 0); group; group &= group - 1) {
                const int64_t j = 64 * i + std::countr_zero(group);
                for (uint64_t block = std::exchange(blocks[j], 0); block; block &= block - 1) {
                    const int64_t word = 64 * j + std::countr_zero(block);
                    visit(word, std::exchange(bits[word], 0));
                }
            }
    }

private:
    int64_t words_, blocks_, groups_;
    bool is_dense_ = false;
    Scratch<uint64_t> bits_;
};

}  // namespace tgraph
