// Sums of rows by their number: the transpose of a gather, and so its gradient. On the calling thread, which adds in
// the order of the rows as fast as memory is read: two threads, each with some rows of the result or some columns, both
// read all of it and took longer.
#include <algorithm>
#include <stdexcept>
#include <string>

#include "base/bindings.hpp"
#include "base/memory.hpp"
#include "base/simd.hpp"

namespace tgraph {
namespace {

inline constexpr int64_t lookahead = 16;
inline constexpr int64_t line = 64;  // bytes of a cache line

// out[index[i]] += values[i]
template <class A, class Index>
TGRAPH_MULTIVERSION_NARROW void add_each(const A* values, const Index* index, int64_t count, int64_t columns, A* out) {
    for (int64_t i = 0; i < count; ++i) {
        const A* const coming = out + index[std::min(i + lookahead, count - 1)] * columns;
        for (int64_t f = 0; f < columns; f += line / sizeof(A)) fetch(coming + f);
        A* const sums = out + index[i] * columns;
        const A* const from = values + i * columns;
#pragma GCC ivdep
        for (int64_t f = 0; f < columns; ++f) sums[f] += from[f];
    }
}

template <class Index>
void check_index(const Index* index, int64_t count, int64_t rows) {
    const auto is_wrong = [=](Index row) { return static_cast<uint64_t>(row) >= static_cast<uint64_t>(rows); };
    const Index* const wrong = std::find_if(index, index + count, is_wrong);
    if (wrong != index + count)
        throw std::out_of_range("index: " + std::to_string(*wrong) + " at position " + std::to_string(wrong - index) +
                                ", of a result of " + std::to_string(rows) + " rows");
}

// out[r] = sum of values[i] over all i with index[i] == r: [rows, columns] from [count, columns].
template <class A, class Index>
void add_rows(In<A> values, In<Index> index, int64_t columns, Out<A> out) {
    const auto count = static_cast<int64_t>(index.shape(0));
    if (columns < 1 || static_cast<int64_t>(values.shape(0)) != count * columns || out.shape(0) % columns)
        throw std::invalid_argument("values, out: expected [e, columns] and [rows, columns], of an index [e]");
    check_index(index.data(), count, static_cast<int64_t>(out.shape(0)) / columns);
    std::fill(out.data(), out.data() + out.shape(0), A{0});
    add_each(values.data(), index.data(), count, columns, out.data());
}

template <class A, class Index>
void bind(Module& module) {
    module.def("add_rows", &add_rows<A, Index>, "values, index, columns, out");
}

}  // namespace

void bind_add_rows(Module& module) {
    bind<float, int32_t>(module);
    bind<float, int64_t>(module);
    bind<double, int32_t>(module);
    bind<double, int64_t>(module);
}

}  // namespace tgraph
