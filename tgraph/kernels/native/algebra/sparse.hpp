// Sparse matrices in CSR, and the terms of a product over a semiring.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string_view>

#include "base/memory.hpp"
#include "base/rows.hpp"
#include "base/scan.hpp"
#include "base/semiring.hpp"
#include "threads/parallel.hpp"

namespace tgraph {

// Where the entries of a sparse matrix are; columns ascend within a row.
struct Pattern {
    const int64_t* offset;
    const int32_t* columns;
    int64_t num_rows;

    int64_t length(int64_t row) const { return offset[row + 1] - offset[row]; }
    int64_t num_entries() const { return offset[num_rows] - offset[0]; }
    bool exists() const { return offset != nullptr; }
};

// The value of an entry is stored with the entry or, if `by_column`, with its column; without values it is 1.
template <class T>
struct SparseMatrix : Pattern {
    const T* values;
    bool by_column;

    T value(int64_t entry) const { return values ? values[by_column ? columns[entry] : entry] : T{1}; }
};

template <class T, class Reduce>
constexpr T identity_of() {
    constexpr bool floats = std::is_floating_point_v<T>;
    using Limits = std::numeric_limits<T>;
    if constexpr (std::is_same_v<Reduce, Times>) return T{1};
    if constexpr (std::is_same_v<Reduce, Lesser>) return floats ? Limits::infinity() : Limits::max();
    if constexpr (std::is_same_v<Reduce, Greater>) return floats ? -Limits::infinity() : Limits::lowest();
    return T{0};
}

// A semiring known when it is compiled. Terms are an edge operation on (value of B, value of A).
template <class T, class Reduce, class Edge>
struct Semiring {
    static constexpr T identity = identity_of<T, Reduce>();

    TGRAPH_INLINE T reduce(T a, T b) const { return Reduce::apply(a, b); }
    TGRAPH_INLINE T term(T b, T a) const { return Edge::apply(b, a); }

    // Calls put(i, term of b[i] and a) for i < count.
    template <class Put>
    TGRAPH_INLINE void each_term(const T* b, T a, int64_t count, const Put& put) const {
        for (int64_t i = 0; i < count; ++i) put(i, Edge::apply(b[i], a));
    }
};

enum class Operation { sum, prod, min, max, copy };

inline Operation reduction_named(std::string_view name) {
    if (name == "sum") return Operation::sum;
    if (name == "prod") return Operation::prod;
    if (name == "min") return Operation::min;
    if (name == "max") return Operation::max;
    throw std::invalid_argument("reduce: no such reduction is compiled");
}

inline Operation edge_named(std::string_view name) {
    if (name == "copy") return Operation::copy;
    if (name == "add") return Operation::sum;
    if (name == "mul") return Operation::prod;
    if (name == "min") return Operation::min;
    if (name == "max") return Operation::max;
    throw std::invalid_argument("edge: no such operation is compiled");
}

// Calls visit(Operation{}).
template <class Visit>
TGRAPH_INLINE auto with_operation(Operation operation, const Visit& visit) {
    switch (operation) {
        case Operation::sum: return visit(Plus{});
        case Operation::prod: return visit(Times{});
        case Operation::min: return visit(Lesser{});
        case Operation::max: return visit(Greater{});
        default: return visit(Copy{});
    }
}

// A semiring known by the names of its operations, at run time.
template <class T>
struct NamedSemiring {
    Operation reduction, edge;
    T identity;

    NamedSemiring(Operation reduction, Operation edge)
        : reduction(reduction), edge(edge), identity(with_operation(reduction, [](auto reduce) {
              return identity_of<T, decltype(reduce)>();
          })) {}

    TGRAPH_INLINE T reduce(T a, T b) const {
        return with_operation(reduction, [&](auto reduce) { return decltype(reduce)::apply(a, b); });
    }
    TGRAPH_INLINE T term(T b, T a) const {
        return with_operation(edge, [&](auto operation) { return decltype(operation)::apply(b, a); });
    }

    template <class Put>
    TGRAPH_INLINE void each_term(const T* b, T a, int64_t count, const Put& put) const {
        for (int64_t i = 0; i < count; ++i) put(i, term(b[i], a));
    }
};

// Calls visit(semiring): those of most products are compiled, the others found at run time.
template <class T, class Visit>
void with_semiring(std::string_view reduce, std::string_view edge, const Visit& visit) {
    if (reduce == "sum" && edge == "mul") return visit(Semiring<T, Plus, Times>{});
    if constexpr (std::is_same_v<T, double>)
        if (reduce == "min" && edge == "add") return visit(Semiring<T, Lesser, Plus>{});
    visit(NamedSemiring<T>(reduction_named(reduce), edge_named(edge)));
}

inline int64_t words_for(int64_t bits) { return (bits + 63) / 64; }
TGRAPH_INLINE bool has_bit(const uint64_t* bits, int64_t i) { return bits[i >> 6] >> (i & 63) & 1; }
TGRAPH_INLINE void set_bit(uint64_t* bits, int64_t i) { bits[i >> 6] |= uint64_t{1} << (i & 63); }

// The first entry from `first` on whose column is not below `column`, by doubling steps.
inline int64_t first_from(const int32_t* columns, int64_t first, int64_t last, int32_t column) {
    int64_t step = 1;
    while (first + step < last && columns[first + step] < column) first += step, step *= 2;
    return std::lower_bound(columns + first, columns + std::min(first + step + 1, last), column) - columns;
}

// Bitmaps of the rows that are long enough for 64 columns at a time to be faster than one.
class LongRows {
public:
    LongRows() = default;  // none

    explicit LongRows(const Pattern& rows, int64_t num_columns) : words_(words_for(num_columns)), slot_(rows.num_rows) {
        int64_t least = std::max<int64_t>(words_ / 8, 64), count = 0;
        for (;; least *= 2) {
            count = reduce(rows.num_rows, int64_t{0}, [&](int64_t row) { return int64_t{rows.length(row) >= least}; },
                           [](int64_t a, int64_t b) { return a + b; });
            if (count * words_ <= rows.num_entries()) break;  // no more memory than twice that of the columns
        }
        if (!count) {
            slot_ = Scratch<int32_t>();
            return;
        }
        scan(rows.num_rows, slot_.data(), int32_t{0}, [&](int64_t row) { return int32_t{rows.length(row) >= least}; });
        bits_ = Scratch<uint64_t>(count * words_);
        for_each_entry(rows.num_rows, [&](int64_t row) {
            if (rows.length(row) < least) {
                slot_.data()[row] = 0;
                return;
            }
            uint64_t* bits = bits_.data() + (slot_.data()[row] - 1) * words_;
            std::fill_n(bits, words_, uint64_t{0});
            for (int64_t i = rows.offset[row]; i < rows.offset[row + 1]; ++i) set_bit(bits, rows.columns[i]);
        });
    }

    // Null for a short row.
    const uint64_t* operator[](int64_t row) const {
        if (!slot_ || slot_.data()[row] == 0) return nullptr;
        return bits_.data() + (slot_.data()[row] - 1) * words_;
    }

private:
    int64_t words_ = 0;
    Scratch<int32_t> slot_;
    Scratch<uint64_t> bits_;
};

}  // namespace tgraph
