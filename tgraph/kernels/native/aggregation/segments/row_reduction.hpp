// The reduction of what a row receives in several columns, for code that lists its arcs in batches.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "aggregation/segments/kernels.hpp"

namespace tgraph {

// Operands of a reduction over arcs: data [n, columns] and weights [arcs, heads], each of which applies to
// columns / heads adjacent columns. Results are stored like the data, but float32 that is added in float64.
struct Operands {
    Number stored, number, stored_weights, result;  // `number` : of the accumulators
    Reduction reduction;
    Edge edge;
    const char *data, *weights;
    int64_t columns, heads;
    std::array<char, 8> identity;  // an accumulator
    char* out;

    const char* row(int64_t vertex) const { return data + vertex * row_bytes(); }
    int64_t row_bytes() const { return columns * size_of(stored); }
    char* result_of(int64_t row) const { return out + row * columns * size_of(result); }
    void start(void* sums) const {
        if (size_of(number) == 1)
            std::memset(sums, identity[0], columns);
        else if (size_of(number) == 4)
            std::fill_n(static_cast<uint32_t*>(sums), columns, std::bit_cast<std::array<uint32_t, 2>>(identity)[0]);
        else
            std::fill_n(static_cast<uint64_t*>(sums), columns, std::bit_cast<uint64_t>(identity));
    }
};

inline void check_columns(int64_t columns, int64_t heads) {
    if (columns < 1 || heads < 1 || columns % heads)
        throw std::invalid_argument("columns: expected a multiple of heads");
}

// Operands for data of T; float64 reads data and weights of float32 as well.
template <class T>
Operands operands_of(const In<void>& data, int64_t columns, const In<void>& weights, int64_t heads,
                     std::string_view reduce, std::string_view edge, Accumulator<T> identity, const Out<void>& out) {
    constexpr Number stored = number_of<T>;
    const auto is_float32 = [](const In<void>& array) {
        return stored == Number::float64 && array.is_valid() && array.dtype() == dtype_of<float>;
    };
    check_columns(columns, heads);
    Operands with{is_float32(data) ? Number::float32 : stored, number_of<Accumulator<T>>,
                  is_float32(weights) ? Number::float32 : stored, stored, reduction_of(reduce), edge_of(edge),
                  static_cast<const char*>(data.data()), static_cast<const char*>(weights.data()), columns, heads, {},
                  static_cast<char*>(out.data())};
    std::memcpy(with.identity.data(), &identity, sizeof(identity));
    if (stored == Number::uint8 && columns > 1) {  // as they are: they are only compared
        with.number = stored;
        with.identity[0] = static_cast<char>(identity);
    }
    if (with.stored == stored) check_dtype<T>(data, "data");
    check_dtype<T>(out, "out");
    if (with.edge == Edge::copy) return with;
    if (stored == Number::uint8) throw std::invalid_argument("edge: bytes have no weights");
    if (with.stored_weights == stored) check_dtype<T>(weights, "weights");
    return with;
}

// With buffers, so that each thread has its own.
class RowReduction {
public:
    static constexpr int64_t most_arcs = 128;

    explicit RowReduction(const Operands& with);

    // Reduces into `sums` the rows data + at[i] of at most `most_arcs` arcs, whose weights are at weights + by[i].
    void add(void* sums, const int64_t* at, const int64_t* by, int64_t count) {
        if (is_plain_)
            reduce_(sums, with_.data, with_.columns, at, nullptr, count);
        else
            add_weighted(sums, at, by, count);
    }

private:
    void add_weighted(void* sums, const int64_t* at, const int64_t* by, int64_t count);
    void add_products(char* sums, const char* data, const int64_t* at, const int64_t* by, int64_t count);
    void add_some(char* sums, const int64_t* at, const int64_t* by, int64_t count);

    const Operands& with_;
    ReduceRows reduce_, add_products_ = nullptr;  // null unless products of floating numbers are added
    ReadRows read_ = nullptr, read_weights_ = nullptr;  // null where they are stored as accumulators
    CombineRows combine_ = nullptr;
    bool is_plain_ = false;  // rows are reduced as they are stored
    int64_t at_once_;        // rows that the buffer holds
    std::vector<int64_t> places_;
    std::vector<char> rows_, weights_;
};

}  // namespace tgraph
