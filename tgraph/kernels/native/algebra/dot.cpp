// Bindings of products of pairs of rows (dot.hpp), for int64, float and double.
#include "algebra/dot.hpp"

#include <string>

#include "base/bindings.hpp"

namespace tgraph {
namespace {

template <class T>
void dot_pairs(In<int64_t> a_offset, In<int32_t> a_columns, In<T> a_values, bool by_column, In<int64_t> b_offset,
               In<int32_t> b_columns, In<T> b_values, In<int64_t> rows, In<int64_t> groups, In<int32_t> others,
               int64_t num_columns, const std::string& reduce, const std::string& edge, Out<T> found, Out<bool> meets) {
    const auto num_rows = static_cast<int64_t>(a_offset.shape(0)) - 1;
    const SparseMatrix<T> a{{a_offset.data(), a_columns.data(), num_rows}, a_values.data(), by_column};
    const SparseMatrix<T> b{{b_offset.data(), b_columns.data(), static_cast<int64_t>(b_offset.shape(0)) - 1},
                            b_values.data(), false};
    const PairGroups pairs{rows.data(), groups.data(), others.data(), static_cast<int64_t>(groups.shape(0)) - 1};
    const RowChunks chunks{pairs.offset, pairs.size, 1 << 8};  // small, as the work of a pair varies
    const bool many = pairs.num_pairs() >= b.num_rows;
    const LongRows long_rows = many ? LongRows(b, num_columns) : LongRows();
    const NamedSemiring<T> semiring(reduction_named(reduce), edge_named(edge));
    Chunks left(chunks.size());
    run_team(part_count(32 * pairs.num_pairs()), [&](int) {
        RowDots<T> dots(a, b, many ? &long_rows : nullptr, num_columns, semiring);
        left.each([&](int64_t chunk) {
            const Range range = chunks[chunk];
            for (int64_t group = range.begin; group < range.end; ++group)
                dots.visit(pairs, group, [&](int64_t p, int64_t count, T sum) {
                    found.data()[p] = sum;
                    if (meets.is_valid()) meets.data()[p] = count > 0;
                });
        });
    });
}

template <class T>
void bind(Module& module) {
    module.def("dot_pairs", &dot_pairs<T>,
               "a_offset, a_columns, a_values?, by_column, b_offset, b_columns, b_values?, rows?, groups, others, "
               "num_columns, reduce, edge, found, meets?");
}

}  // namespace

void bind_dot(Module& module) {
    bind<int64_t>(module);
    bind<float>(module);
    bind<double>(module);
}

}  // namespace tgraph
