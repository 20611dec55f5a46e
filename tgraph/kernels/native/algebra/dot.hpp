// Products of pairs of sparse rows over a semiring: for (i, j) the reduction over the columns k that row i of A and row
// j of B have in common, in ascending order of k. Pairs come in groups of equal i; the row of a larger group is marked
// in a bitmap. The method is chosen pair by pair: a lookup for each entry of the row of B, a lookup for each entry of
// the row of A in a bitmap of a long row of B, a search for each entry of the shorter row, or a merge.
#pragma once

#include <bit>

#include "algebra/sparse.hpp"

namespace tgraph {

// Pairs (row of group g, columns[p]) for p in offset[g] .. offset[g + 1]; without `rows` group g is row g.
struct PairGroups {
    const int64_t *rows, *offset;
    const int32_t* columns;
    int64_t size;

    int64_t row(int64_t group) const { return rows ? rows[group] : group; }
    int64_t num_pairs() const { return offset[size] - offset[0]; }
};

TGRAPH_MULTIVERSION_NARROW inline int64_t common_bits(const uint64_t* a, const uint64_t* b, int64_t words) {
    int64_t count = 0;
    for (int64_t i = 0; i < words; ++i) count += __builtin_popcountll(a[i] & b[i]);
    return count;
}

// The reduction of `count` equal terms, at least one.
template <class T>
T repeated(const NamedSemiring<T>& semiring, T constant, int64_t count) {
    if (semiring.reduction == Operation::sum) return times(constant, static_cast<T>(count));
    T found = constant;
    if (semiring.reduction == Operation::prod)
        for (int64_t i = 1; i < count && constant != T{1}; ++i) found = times(found, constant);
    return found;
}

// Of a thread.
template <class T>
class RowDots {
public:
    // long_rows : bitmaps of rows of B, or null.
    RowDots(const SparseMatrix<T>& a, const SparseMatrix<T>& b, const LongRows* long_rows, int64_t num_columns,
            const NamedSemiring<T>& semiring)
        : a_(a), b_(b), long_rows_(long_rows), words_(words_for(num_columns)), marks_(words_),
          holds_(a.values && !a.by_column), held_(holds_ ? num_columns : 0), semiring_(semiring) {
        std::fill_n(marks_.data(), words_, uint64_t{0});
    }

    // Calls write(p, number of common columns, reduction) for the pairs of a group.
    template <class Write>
    void visit(const PairGroups& pairs, int64_t group, const Write& write) {
        const int64_t row = pairs.row(group), begin = pairs.offset[group], end = pairs.offset[group + 1];
        const bool marks = end - begin >= least_marked;
        if (marks) mark(row);
        for (int64_t p = begin; p < end; ++p) {
            const int64_t other = pairs.columns[p];
            if (a_.values || b_.values) {
                int64_t count = 0;
                T sum = semiring_.identity;
                each_common(row, other, marks, [&](T a, int64_t entry) {
                    sum = semiring_.reduce(sum, semiring_.term(b_.value(entry), a));
                    ++count;
                });
                write(p, count, sum);
            } else {
                const int64_t count = count_common(row, other, marks);
                const T one = semiring_.term(T{1}, T{1});
                write(p, count, count ? repeated(semiring_, one, count) : semiring_.identity);
            }
        }
        if (marks)
            for (int64_t i = a_.offset[row]; i < a_.offset[row + 1]; ++i) marks_.data()[a_.columns[i] >> 6] = 0;
    }

private:
    static constexpr int64_t least_marked = 4, search_cost = 8;

    const SparseMatrix<T>&a_, &b_;
    const LongRows* long_rows_;
    int64_t words_;
    Scratch<uint64_t> marks_;
    bool holds_;
    Scratch<T> held_;  // the values of the marked row, by column
    const NamedSemiring<T> semiring_;

    void mark(int64_t row) {
        for (int64_t i = a_.offset[row]; i < a_.offset[row + 1]; ++i) {
            set_bit(marks_.data(), a_.columns[i]);
            if (holds_) held_.data()[a_.columns[i]] = a_.values[i];
        }
    }

    T marked_value(int32_t column) const {
        if (!a_.values) return T{1};
        return a_.by_column ? a_.values[column] : held_.data()[column];
    }

    const uint64_t* bitmap(int64_t row) const { return long_rows_ ? (*long_rows_)[row] : nullptr; }

    int64_t count_common(int64_t row, int64_t other, bool marks) const {
        const uint64_t* bits = bitmap(other);
        const int64_t length = a_.length(row);
        if (bits && marks && length > words_) return common_bits(bits, marks_.data(), words_);
        int64_t count = 0;
        const int32_t* columns = a_.columns + a_.offset[row];
        if (bits && length < b_.length(other)) {
            for (int64_t i = 0; i < length; ++i) count += has_bit(bits, columns[i]);
            return count;
        }
        const int64_t other_length = b_.length(other);
        if (marks && other_length <= search_cost * length) {
            const int32_t* others = b_.columns + b_.offset[other];
            for (int64_t i = 0; i < other_length; ++i) count += has_bit(marks_.data(), others[i]);
            return count;
        }
        each_listed(row, other, [&](int64_t, int64_t) { ++count; });
        return count;
    }

    // Calls hit(value of A, entry of B) for the common columns.
    template <class Hit>
    TGRAPH_INLINE void each_common(int64_t row, int64_t other, bool marks, const Hit& hit) const {
        const int64_t begin = b_.offset[other], end = b_.offset[other + 1];
        const int64_t cost = b_.values ? search_cost : 1;  // a value is searched for
        if (const uint64_t* bits = bitmap(other); bits && a_.length(row) * cost < end - begin) {
            int64_t at = begin;
            for (int64_t i = a_.offset[row]; i < a_.offset[row + 1]; ++i) {
                if (!has_bit(bits, a_.columns[i])) continue;
                if (b_.values) at = std::lower_bound(b_.columns + at, b_.columns + end, a_.columns[i]) - b_.columns;
                hit(a_.value(i), at);
            }
        } else if (marks && end - begin <= search_cost * a_.length(row)) {
            for (int64_t i = begin; i < end; ++i)
                if (has_bit(marks_.data(), b_.columns[i])) hit(marked_value(b_.columns[i]), i);
        } else {
            each_listed(row, other, [&](int64_t i, int64_t j) { hit(a_.value(i), j); });
        }
    }

    // Calls hit(entry of A, entry of B) for the common columns, by a merge or by searches in the longer row.
    template <class Hit>
    TGRAPH_INLINE void each_listed(int64_t row, int64_t other, const Hit& hit) const {
        int64_t i = a_.offset[row], j = b_.offset[other];
        const int64_t last = a_.offset[row + 1], other_last = b_.offset[other + 1];
        const int32_t *mine = a_.columns, *others = b_.columns;
        const int64_t length = last - i, other_length = other_last - j;
        if (length * search_cost < other_length) {
            for (; i < last && j < other_last; ++i) {
                j = first_from(others, j, other_last, mine[i]);
                if (j < other_last && others[j] == mine[i]) hit(i, j);
            }
        } else if (other_length * search_cost < length) {
            for (; j < other_last && i < last; ++j) {
                i = first_from(mine, i, last, others[j]);
                if (i < last && mine[i] == others[j]) hit(i, j);
            }
        } else {
            while (i < last && j < other_last) {
                const int32_t a = mine[i], b = others[j];
                if (a == b) hit(i, j);
                i += a <= b;
                j += b <= a;
            }
        }
    }
};

}  // namespace tgraph
