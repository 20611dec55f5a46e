// Kernels on batches of rows: names, conversion, edge operation, scatter and division.
#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "aggregation/segments/kernels.hpp"
#include "base/semiring.hpp"

namespace tgraph {
namespace {

template <class T, class A>
TGRAPH_MULTIVERSION_NARROW void read_rows(const void* data, const int64_t* at, int64_t columns, int64_t count,
                                          void* out) {
    constexpr int lanes = 8;
    A* to = static_cast<A*>(out);
    if (columns == 1) {
        for (int64_t i = 0; i < count; ++i) to[i] = static_cast<A>(widen(static_cast<const T*>(data)[at[i]]));
        return;
    }
    for (int64_t i = 0; i < count; ++i, to += columns) {
        const T* const from = static_cast<const T*>(data) + at[i];
        int64_t f = 0;
        for (; f + lanes <= columns; f += lanes)
            *reinterpret_cast<Vector<A, lanes>*>(to + f) = load<A, lanes>(from + f);
        for (; f < columns; ++f) to[f] = static_cast<A>(widen(from[f]));
    }
}

template <class Edge, class A>
TGRAPH_MULTIVERSION_NARROW void combine_rows(const void* data, const int64_t* at, const void* weights,
                                             const int64_t* by, int64_t heads, int64_t span, int64_t count,
                                             void* out) {
    const int64_t columns = heads * span;
    A* to = static_cast<A*>(out);
    if (columns == 1) {
        const A *const from = static_cast<const A*>(data), *const weight = static_cast<const A*>(weights);
        for (int64_t i = 0; i < count; ++i) to[i] = Edge::apply(from[at[i]], weight[by[i]]);
        return;
    }
    for (int64_t i = 0; i < count; ++i, to += columns) {
        const A *const from = static_cast<const A*>(data) + at[i],
            *const weight = static_cast<const A*>(weights) + by[i];
        if (span == 1) {
#pragma GCC ivdep
            for (int64_t f = 0; f < columns; ++f) to[f] = Edge::apply(from[f], weight[f]);
            continue;
        }
        for (int64_t head = 0; head < heads; ++head)
#pragma GCC ivdep
            for (int64_t f = head * span; f < (head + 1) * span; ++f) to[f] = Edge::apply(from[f], weight[head]);
    }
}

// A minimum or maximum is rarely written: what is read next need not wait for it.
template <class Reduce, class A>
TGRAPH_INLINE void reduce_into(A& held, A sent) {
    const A reduced = Reduce::apply(held, sent);
    if constexpr (std::is_same_v<Reduce, Lesser> || std::is_same_v<Reduce, Greater>) {
        if (reduced != held) held = reduced;
    } else {
        held = reduced;
    }
}

template <class Reduce, class A>
void scatter_rows(void* out, const int64_t* place, const void* data, int64_t columns, const int64_t* at,
                  int64_t count) {
    if (columns == 1) {
        A* const sums = static_cast<A*>(out);
        const A* const sent = static_cast<const A*>(data);
        for (int64_t i = 0; i < count; ++i) reduce_into<Reduce>(sums[place[i]], sent[at[i]]);
        return;
    }
    for (int64_t i = 0; i < count; ++i) {
        A* const sums = static_cast<A*>(out) + place[i] * columns;
        const A* const sent = static_cast<const A*>(data) + at[i];
        for (int64_t f = 0; f < columns; ++f) sums[f] = Reduce::apply(sums[f], sent[f]);
    }
}

template <class Reduce, class A>
void send_row(void* out, const int32_t* neighbors, int64_t count, const void* row, int64_t columns) {
    A* const all = static_cast<A*>(out);
    const A* const sent = static_cast<const A*>(row);
    if (columns == 1) {
        for (int64_t i = 0; i < count; ++i) reduce_into<Reduce>(all[neighbors[i]], *sent);
        return;
    }
    for (int64_t i = 0; i < count; ++i) {
        A* const sums = all + neighbors[i] * columns;
        for (int64_t f = 0; f < columns; ++f) sums[f] = Reduce::apply(sums[f], sent[f]);
    }
}

template <class A>
PushKernels push_of(Reduction reduction) {
    if (reduction == Reduction::min) return {&scatter_rows<Lesser, A>, &send_row<Lesser, A>};
    if (reduction == Reduction::max) return {&scatter_rows<Greater, A>, &send_row<Greater, A>};
    if constexpr (std::is_floating_point_v<A> || sizeof(A) == sizeof(int64_t)) {
        if (reduction == Reduction::sum) return {&scatter_rows<Plus, A>, &send_row<Plus, A>};
        return {&scatter_rows<Times, A>, &send_row<Times, A>};
    }
    throw std::invalid_argument("reduce: integers of less than 64 bits are compared only");
}

template <class A>
CombineRows combine_of(Edge edge) {
    return edge == Edge::add ? &combine_rows<Plus, A> : &combine_rows<Times, A>;
}

template <class A>
void divide(A* sums, int64_t columns, const int64_t* offset, int64_t rows) {
    for (int64_t r = 0; r < rows; ++r, sums += columns) {
        const A divisor = static_cast<A>(std::max<int64_t>(offset[r + 1] - offset[r], 1));
        for (int64_t f = 0; f < columns; ++f) sums[f] /= divisor;
    }
}

template <class T, class A>
void store_as(const void* numbers, int64_t count, void* out) {
    for (int64_t i = 0; i < count; ++i) {  // in place, where `out` is the numbers
        A number;
        std::memcpy(&number, static_cast<const char*>(numbers) + i * sizeof(A), sizeof(A));
        const T stored = stored_as<T>(number);
        std::memcpy(static_cast<char*>(out) + i * sizeof(T), &stored, sizeof(T));
    }
}

}  // namespace

Reduction reduction_of(std::string_view name) {
    if (name == "sum") return Reduction::sum;
    if (name == "prod") return Reduction::prod;
    if (name == "min") return Reduction::min;
    if (name == "max") return Reduction::max;
    throw std::invalid_argument("reduce: no such reduction is compiled");
}

Edge edge_of(std::string_view name) {
    if (name == "copy") return Edge::copy;
    if (name == "mul") return Edge::mul;
    if (name == "add") return Edge::add;
    throw std::invalid_argument("edge: no such operation is compiled");
}

ReadRows read_rows_kernel(Number stored, Number number) {
    switch (stored) {
        case Number::float16: return &read_rows<Float16, float>;
        case Number::bfloat16: return &read_rows<BFloat16, float>;
        case Number::uint8: return &read_rows<uint8_t, int32_t>;
        case Number::float64: return &read_rows<double, double>;
        case Number::float32: return number == stored ? &read_rows<float, float> : &read_rows<float, double>;
        default: throw std::invalid_argument("data: nothing is read as such numbers");
    }
}

CombineRows combine_rows_kernel(Number number, Edge edge) {
    switch (number) {
        case Number::float32: return combine_of<float>(edge);
        case Number::float64: return combine_of<double>(edge);
        case Number::int64: return combine_of<int64_t>(edge);
        default: return combine_of<int32_t>(edge);
    }
}

PushKernels push_kernels(Number number, Reduction reduction) {
    switch (number) {
        case Number::float32: return push_of<float>(reduction);
        case Number::float64: return push_of<double>(reduction);
        case Number::int64: return push_of<int64_t>(reduction);
        case Number::int32: return push_of<int32_t>(reduction);
        default: return push_of<uint8_t>(reduction);
    }
}

void divide_rows(Number number, void* sums, int64_t columns, const int64_t* offset, int64_t rows) {
    if (number == Number::float32) divide(static_cast<float*>(sums), columns, offset, rows);
    if (number == Number::float64) divide(static_cast<double*>(sums), columns, offset, rows);
}

void store_numbers(Number number, const void* numbers, int64_t count, Number stored, void* out) {
    if (stored == number)
        std::memmove(out, numbers, count * size_of(number));
    else if (stored == Number::float16)
        store_as<Float16, float>(numbers, count, out);
    else if (stored == Number::bfloat16)
        store_as<BFloat16, float>(numbers, count, out);
    else
        store_as<uint8_t, int32_t>(numbers, count, out);
}

void fill_numbers(Number number, void* out, int64_t count, const void* value) {
    const auto fill_as = [&]<class T>(const T* one) { std::fill_n(static_cast<T*>(out), count, *one); };
    switch (size_of(number)) {
        case 8: return fill_as(static_cast<const uint64_t*>(value));
        case 4: return fill_as(static_cast<const uint32_t*>(value));
        default: return fill_as(static_cast<const uint8_t*>(value));
    }
}

}  // namespace tgraph
